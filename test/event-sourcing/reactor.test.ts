import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus } from '@gantry/embedded'
import { type Log, startReactor } from '@gantry/event-sourcing'
import type { Json, MissedMessages } from '@gantry/messaging'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-reactor-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a reactor that was away longer than the retention reports missed messages and handles the rest', async () => {
  let time = Date.parse('2026-11-21T10:00:00.000Z')
  const bus = sqliteBus({
    path: join(folder, 'messages.db'),
    now: () => new Date(time),
    retentionMs: 1_000,
    leaseMs: 300,
  })
  const publish = (...numbers: number[]) =>
    bus.publish(numbers.map(number => ({ id: `${number}`, subject: 'events.a', data: number })))
  const handled: Json[] = []
  const missed: MissedMessages[] = []
  const errors: [object, string][] = []
  const log: Log = { info() {}, warn() {}, error: (details, message) => void errors.push([details, message]) }
  const start = () =>
    startReactor({
      consumer: 'shop',
      subjects: ['events.a'],
      bus,
      log,
      react: async ({ data }) => void handled.push(data),
      missed: range => void missed.push(range),
    })

  const before = start()
  await publish(1)
  await vi.waitFor(() => expect(handled).toEqual([1]))
  await before.stop()
  await publish(2, 3)
  time += 3_600_000
  await publish(4)
  await vi.waitFor(async () => expect(await bus.removedThrough(['>'])).toBe(3))
  const after = start()
  await vi.waitFor(() => expect(handled).toEqual([1, 4]))
  await after.stop()
  await bus.close()

  expect(missed).toEqual([{ after: 1, through: 3 }])
  expect(errors).toEqual([
    [
      { worker: 'shop.reactor', after: 1, through: 3 },
      'messages were removed before they were handled: follow "Missed messages" in docs/operations.md',
    ],
  ])
})
