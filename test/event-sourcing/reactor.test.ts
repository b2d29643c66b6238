import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import {
  type EventStore,
  HeldMessages,
  type Log,
  NO_STREAM,
  type Reaction,
  type ReactorOptions,
  type RecordedEvent,
  StreamQuarantined,
  startReactor,
  type Worker,
} from '@gantry/event-sourcing'
import type { Bus, Json, Message, MissedMessages } from '@gantry/messaging'
import type { ReadModels } from '@gantry/stores'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

let folder: string
let time: number
let bus: Bus
let eventStore: EventStore
let readModels: ReadModels
let workers: Worker[]
const log: Log = { info() {}, warn() {}, error() {} }
const path = () => join(folder, 'messages.db')
const open = (retentionMs?: number) => sqliteBus({ path: path(), now: () => new Date(time), retentionMs })
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-reactor-'))
  time = Date.parse('2026-11-21T10:00:00.000Z')
  bus = open()
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  workers = []
})
const stopAll = () => Promise.all(workers.splice(0).map(worker => worker.stop()))
afterEach(async () => {
  await stopAll()
  await Promise.all([bus.close(), eventStore.close(), readModels.close()])
  await rm(folder, { recursive: true })
})

const publish = (...data: Json[]) =>
  bus.publish(data.map(each => ({ id: `m-${each}`, subject: 'events.a', data: each })))
const start = (
  react: (data: Json) => Promise<unknown>,
  { keyOf, ...options }: Partial<ReactorOptions> & Pick<Reaction, 'keyOf'> = {},
) => {
  const reaction: Reaction = {
    consumer: 'shop',
    subjects: ['events.a'],
    react: async ({ data }) => void (await react(data)),
    ...(keyOf && { keyOf }),
  }
  workers.push(
    startReactor(reaction, { bus, eventStore, readModels, holder: `${Math.random()}`, log, ...options }),
  )
}
/** Messages with the same first letter have the same key. */
const byLetter = { keyOf: ({ data }: Message) => String(data)[0] ?? '' }

test('without keys messages are handled one after the other, and after a restart from the last one on', async () => {
  const begun: Json[] = []
  const gate = Promise.withResolvers<void>()
  start(async data => {
    begun.push(data)
    if (data === 2) await gate.promise
  })
  await publish(1, 2, 3)
  await vi.waitFor(() => expect(begun).toEqual([1, 2]))
  gate.resolve()
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3]))
  await stopAll()
  await publish(4)
  start(async data => void begun.push(data))
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3, 4]))
})

test('messages of different keys are handled concurrently, up to 32, and those of a key in their order', async () => {
  const begun: Json[] = []
  const gate = Promise.withResolvers<void>()
  start(async data => {
    begun.push(data)
    await gate.promise
  }, byLetter)
  const others = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(0x4e00 + index))
  await publish('a1', 'a2', ...others)
  await vi.waitFor(() => expect(begun).toHaveLength(31))
  expect(begun).toEqual(['a1', ...others.slice(0, 30)])
  gate.resolve()
  await vi.waitFor(() => expect(begun).toHaveLength(42))
  expect(begun.indexOf('a2')).toBeGreaterThan(30)
})

test('a process that takes over handles again what follows the first message that is not handled', async () => {
  const handled: Json[] = []
  const stopping = Promise.withResolvers<void>()
  start(async data => {
    if (data === 'b') await stopping.promise.then(() => Promise.reject(new Error('stopped')))
    handled.push(data)
  }, byLetter)
  await publish('a', 'b', 'c')
  await vi.waitFor(() => expect(handled).toEqual(['a', 'c']))
  const stopped = stopAll()
  stopping.resolve()
  await stopped
  start(async data => void handled.push(data))
  await vi.waitFor(() => expect(handled).toEqual(['a', 'c', 'b', 'c']))
})

test('after a failure no message is begun, also of the key, until the failed one is tried again', async () => {
  const begun: Json[] = []
  let isFailing = true
  start(async data => {
    begun.push(data)
    if (data !== 'a1' || !isFailing) return
    isFailing = false
    throw new Error('the store is unavailable')
  }, byLetter)
  await publish('a1', 'a2')
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'a1', 'a2']))
})

test('messages wait until the reactor is ready', async () => {
  const handled: Json[] = []
  let checks = 0
  let ready = false
  const isReady = () => {
    checks++
    return ready
  }
  start(async data => void handled.push(data), { isReady })
  await publish(1, 2)
  await vi.waitFor(() => expect(checks).toBeGreaterThan(2))
  expect(handled).toEqual([])
  ready = true
  await vi.waitFor(() => expect(handled).toEqual([1, 2]))
})

test('a reactor whose read models were lost continues at a position that is kept with the log', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const handled: Json[] = []
  start(async data => void handled.push(data))
  await publish(1)
  await vi.waitFor(() => expect(handled).toEqual([1]))
  vi.advanceTimersByTime(600_000)
  await publish(2)
  await vi.waitFor(async () => expect(await eventStore.readLast('reactor-shop')).toBeDefined())
  await stopAll()
  await readModels.checkpoints.clear('shop.reactor')
  await publish(3)
  start(async data => void handled.push(data))
  await vi.waitFor(() => expect(handled).toEqual([1, 2, 3]))
})

test.each([
  ['elsewhere', [3, 1, 2, 4]],
  ['at the same sequence, after other messages', [4, 1, 3, 2]],
])('messages are handled again on a bus that was lost and has the last handled one %s', async (_, again) => {
  const handled: Json[] = []
  const react = async (data: Json) => void handled.push(data)
  start(react)
  await publish('long before')
  time += 3_600_000
  await publish(1, 2, 3)
  await vi.waitFor(() => expect(handled).toEqual(['long before', 1, 2, 3]))
  await stopAll()
  await bus.close()
  await rm(path())
  bus = open()
  time -= 3_600_000
  await publish('long before')
  time += 3_600_001
  await publish(...again)
  start(react)
  await vi.waitFor(() => expect(handled.slice(4)).toEqual(again))
})

test('a reactor that was away longer than the retention reports missed messages and handles the rest', async () => {
  await bus.close()
  bus = open(1_000)
  const handled: Json[] = []
  const missed: MissedMessages[] = []
  const errors: [object, string][] = []
  const options = {
    log: { ...log, error: (details: object, message: string) => void errors.push([details, message]) },
    missed: (range: MissedMessages) => void missed.push(range),
  }
  start(async data => handled.push(data), options)
  await publish(1)
  await vi.waitFor(() => expect(handled).toEqual([1]))
  await stopAll()
  await publish(2, 3)
  time += 3_600_000
  await publish(4)
  await vi.waitFor(async () => expect(await bus.removedThrough(['>'])).toBe(3))
  start(async data => handled.push(data), options)
  await vi.waitFor(() => expect(handled).toEqual([1, 4]))

  expect(missed).toEqual([{ after: 1, through: 3 }])
  expect(errors).toEqual([
    [
      { worker: 'shop.reactor', after: 1, through: 3 },
      'messages were removed before they were handled: follow "Missed messages" in docs/operations.md',
    ],
  ])
})

test('a message about a quarantined stream is handled once after its release, also by another process, and blocks no other', async () => {
  const handled: Json[] = []
  let isReleased = false
  const startHolding = () => {
    const held = new HeldMessages({ consumer: 'shop', eventStore, now: () => new Date(), log, retryMs: 10 })
    const react = async ({ data }: Message) => {
      const damaged = { stream: 'api-1', revision: 0 } as RecordedEvent
      if (data !== 3 && !isReleased) throw new StreamQuarantined(damaged, 'it is damaged')
      handled.push(data)
    }
    const reaction = { consumer: 'shop', subjects: ['events.a'], react: held.holding(react) }
    workers.push(startReactor(reaction, { bus, eventStore, readModels, holder: 'a', log }), held.start(react))
  }
  // As damage of the disk leaves an event.
  const actor = { id: null, name: 'shop' }
  const damaged = {
    id: randomUUID(),
    type: 'MessageHeld',
    data: [],
    metadata: { actor, requestId: '1', at: '' },
  }
  await eventStore.append('heldmessages-shop', [damaged], NO_STREAM)
  startHolding()
  await publish(1, 2, 3)
  await vi.waitFor(() => expect(handled).toEqual([3]))
  await stopAll()
  isReleased = true
  startHolding()
  await vi.waitFor(async () => {
    expect(handled).toEqual([3, 1, 2])
    expect(await eventStore.readStream('heldmessages-shop')).toEqual([])
  })
})
