import { randomUUID } from 'node:crypto'
import { subjects } from '@gantry/contracts'
import { LOG_POSITION } from '@gantry/event-sourcing'
import { expect, vi } from 'vitest'

import type { Service } from '../service.ts'
import type { Host } from './service-host.ts'

/**
 * Restarts the service on a log that was restored from a backup: the bus has a message of the service about an event after
 * the end of the log. Expects that the service does not become ready and that /health/ready names the procedure.
 */
export async function expectWaitOnRestoredLog(host: Host<Service>): Promise<void> {
  const { name } = host.service
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
  await host.dependencies.bus.publish([
    {
      id: randomUUID(),
      subject: subjects.events(name, 'ANYTHING'),
      data: null,
      headers: { [LOG_POSITION]: '~' },
    },
  ])
  await host.restart()
  const reason = new RegExp(`^an operator: the log ends before message .* .events\\.${name}\\.`)
  await vi.waitFor(() => expect(host.service.waitingFor()).toMatch(reason))
  const { statusCode, body } = await host.app.inject('/health/ready')
  expect(statusCode).toBe(503)
  expect(body).toContain('Restoring the log')
}
