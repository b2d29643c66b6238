import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore } from '@gantry/embedded'
import {
  HeldMessages,
  type Log,
  type ReactorOptions,
  type RecordedEvent,
  StreamQuarantined,
  startReactor,
} from '@gantry/event-sourcing'
import type { Json, Message, MissedMessages } from '@gantry/messaging'
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

test('a message about a quarantined stream is handled once after its release, also by another process, and blocks no other', async () => {
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  const bus = sqliteBus({ path: join(folder, 'messages.db'), leaseMs: 300 })
  const log: Log = { info() {}, warn() {}, error() {} }
  const handled: Json[] = []
  let isReleased = false
  const start = () => {
    const held = new HeldMessages({ consumer: 'shop', eventStore, now: () => new Date(), log, retryMs: 10 })
    const react = async ({ data }: Message) => {
      const damaged = { stream: 'api-1', revision: 0 } as RecordedEvent
      if (data !== 3 && !isReleased) throw new StreamQuarantined(damaged, 'it is damaged')
      handled.push(data)
    }
    const hold: ReactorOptions['hold'] = (message, error) => held.hold(message, error)
    const workers = [
      startReactor({ consumer: 'shop', subjects: ['events.a'], bus, log, react, hold }),
      held.start(react),
    ]
    return () => Promise.all(workers.map(worker => worker.stop()))
  }
  const stop = start()
  await bus.publish([1, 2, 3].map(number => ({ id: `${number}`, subject: 'events.a', data: number })))
  await vi.waitFor(() => expect(handled).toEqual([3]))
  await stop()
  isReleased = true
  const stopAgain = start()
  await vi.waitFor(async () => {
    expect(handled).toEqual([3, 1, 2])
    expect(await eventStore.readStream('heldmessages-shop')).toEqual([])
  })
  await stopAgain()
  await Promise.all([bus.close(), eventStore.close()])
})
