import { withoutProjector } from '@gantry/event-sourcing/testing'
import type { Json } from '@gantry/messaging'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Deliveries } from '../delivery/deliveries.ts'
import { openNotifier } from '../testing/notifier-host.ts'
import type { Entry } from './due-index.ts'
import { Limiter } from './limiter.ts'
import { Scheduler } from './scheduler.ts'

const log = { info() {}, warn() {}, error() {} }
const dueAt = '2026-11-21T10:00:00.000Z'
const entry = { id: 'd', queue: { webhook: 'w', kind: 'retry' }, dueAt } satisfies Entry

const open = async () => {
  const { dependencies } = await openNotifier({}, { start: false })
  const { bus, readModels, now } = dependencies
  const rules = { schedule: [], retentionMs: 60_000 }
  const deliveries = new Deliveries({ ...dependencies, projector: withoutProjector(readModels) }, rules)
  const { leases } = readModels
  const started: Entry[] = []
  const scheduler = new Scheduler(
    { deliveries, limiter: new Limiter(), housekeeping: async () => {}, leases, holder: 'a', bus, now, log },
    {
      async startDue(due) {
        started.push(due)
        return 'started' as const
      },
      startUnblocked: async () => {},
      isBusy: () => false,
      isOpen: async () => true,
      refresh: async () => {},
    },
  )
  return { bus, scheduler, started }
}

test('a replica that does not schedule sends a hint, which the replica that schedules understands', async () => {
  const { bus, scheduler, started } = await open()
  const hints: Json[] = []
  onTestFinished(bus.listen('notifier.due', data => hints.push(data)))
  scheduler.add(entry)
  await vi.waitFor(() => expect(hints).toEqual([entry]))

  scheduler.start()
  onTestFinished(() => scheduler.stop())
  await vi.waitFor(async () => {
    await bus.broadcast('notifier.due', entry)
    expect(started[0]).toEqual(entry)
  })
})
