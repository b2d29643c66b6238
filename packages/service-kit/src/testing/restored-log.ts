import { randomUUID } from 'node:crypto'
import { subjects } from '@gantry/contracts'
import { LOG_POSITION } from '@gantry/event-sourcing'
import type { Service } from '../service.ts'
import type { Host } from './service-host.ts'

/** Opens the service again as on a restored log: the bus has a message of the service from after its end. */
export async function openOnRestoredLog({ dependencies, service, restart }: Host<Service>): Promise<void> {
  const subject = subjects.events(service.name, 'ANYTHING')
  await dependencies.bus.publish([
    { id: randomUUID(), subject, data: null, headers: { [LOG_POSITION]: '~' } },
  ])
  await restart()
}
