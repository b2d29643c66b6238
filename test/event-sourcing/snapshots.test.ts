import {
  aggregate,
  type Decider,
  type EventStore,
  NO_STREAM,
  type Projection,
  type SnapshotSchema,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
  inMemoryLog,
  storyMetadata,
  withoutProjector,
} from '@gantry/event-sourcing/testing'
import type { Json } from '@gantry/messaging'
import { beforeEach, expect, test, vi } from 'vitest'
import { count, unread } from './support.ts'

type Counters = Decider<CounterState, CounterCommand, CounterEvent>

let eventStore: EventStore
/** For each read of a stream, the revision that it started from. */
let reads: number[]
/** Revisions of the snapshots that were saved. */
let saves: number[]
beforeEach(() => {
  // Work that a test has left under way must not appear in the next test.
  const [ownReads, ownSaves]: [number[], number[]] = [[], []]
  reads = ownReads
  saves = ownSaves
  const log = inMemoryLog().connect()
  eventStore = {
    ...log,
    async readStream(stream, from = 0) {
      ownReads.push(from)
      return log.readStream(stream, from)
    },
    async saveSnapshot(stream, snapshot) {
      await log.saveSnapshot(stream, snapshot)
      ownSaves.push(snapshot.revision)
    },
  }
})

/** Encodes the state as JSON without changes. */
const schemaOf = (version: number): SnapshotSchema<CounterState> => ({
  version,
  encode: state => state as unknown as Json,
  decode: encoded => encoded as unknown as CounterState,
})
const schema = schemaOf(1)
/** An aggregate with its own cache, like another process. */
const counters = (
  given: {
    schema?: SnapshotSchema<CounterState>
    decider?: Counters
    store?: EventStore
    cacheSize?: number
  } = {},
) =>
  aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore: given.store ?? eventStore,
    category: 'counter',
    decider: given.decider ?? counterDecider,
    snapshots: { schema: given.schema ?? schema, every: 10 },
    ...(given.cacheSize && { cacheSize: given.cacheSize }),
  })
const saved = (revisions: number[]) => vi.waitFor(() => expect(saves).toEqual(revisions), { interval: 1 })
const position = async (revision: number) => (await eventStore.readStream('counter-a', revision))[0]?.position

/** Appends 12 events and saves a snapshot of the first ten. */
const countToTwelve = async () => {
  const writer = counters()
  for (let by = 1; by <= 10; by++) await writer.execute('a', count(1))
  await saved([9])
  for (let by = 1; by <= 2; by++) await writer.execute('a', count(1))
  return writer
}

test('a load reads the snapshot and the events after it, and a command continues the stream', async () => {
  await countToTwelve()
  reads.length = 0
  const other = counters()
  expect(await other.load('a')).toEqual({
    state: { status: 'Live', count: 12 },
    revision: 11,
    position: await position(11),
  })
  expect(reads[0]).toBe(9)
  const { revision, state } = await other.execute('a', count(100))
  expect({ revision, state }).toEqual({ revision: 12, state: { status: 'Live', count: 112 } })
})

test('a snapshot is saved after every ten events, also by a process that loaded the previous one', async () => {
  const writer = await countToTwelve()
  for (let by = 1; by <= 7; by++) await writer.execute('a', count(1))
  expect(saves).toEqual([9])
  await counters().execute('a', count(1))
  await saved([9, 19])
  await writer.execute('a', count(1))
  const [snapshot, events] = [
    await eventStore.readSnapshot('counter-a'),
    await eventStore.readStream('counter-a'),
  ]
  expect(snapshot).toMatchObject({ schemaVersion: 1, revision: 19, position: events[19]?.position })
})

test('a snapshot is saved when a stream that has none is loaded', async () => {
  const writer = aggregate({ eventStore, category: 'counter', decider: counterDecider })
  for (let by = 1; by <= 25; by++) await writer.execute('a', count(1))
  await counters().load('a')
  await saved([24])
})

test('a projection of the log, as in a rebuild, saves no snapshots of past states', async () => {
  const writer = await countToTwelve()
  for (let by = 1; by <= 8; by++) await writer.execute('a', count(1))
  await saved([9, 19])
  let rebuilding: Projection | undefined
  aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore,
    category: 'counter',
    decider: counterDecider,
    snapshots: { schema, every: 10 },
    view: {
      projector: {
        ...withoutProjector({ write: async () => {} }),
        register: projection => {
          rebuilding = projection
        },
      },
      project: () => [],
    },
  })
  for (const event of await eventStore.readStream('counter-a'))
    await rebuilding?.writes([event], true, unread)
  await new Promise(setImmediate)
  expect(saves).toEqual([9, 19])
})

const whole = { state: { status: 'Live', count: 12 }, revision: 11 }
test.for<[string, Parameters<typeof counters>[0]]>([
  ['another schema version', { schema: schemaOf(2) }],
  [
    'a state that cannot be decoded',
    {
      schema: {
        ...schema,
        decode() {
          throw new TypeError('not a state')
        },
      },
    },
  ],
])('a snapshot of %s is ignored, and replaced', async ([, given]) => {
  await countToTwelve()
  reads.length = 0
  expect(await counters(given).load('a')).toMatchObject(whole)
  expect(reads).toEqual([0])
  await saved([9, 11])
})

test.for([
  ['text that is not JSON', 'no JSON'],
  ['JSON of another shape', '{"state":{"count":5}}'],
  [
    'an event type that is unknown to this release',
    '{"events":["Counted@1","Doubled@1"],"state":{"count":5}}',
  ],
  ['an event in a later schema version', '{"events":["Counted@2"],"state":{"count":5}}'],
])('a snapshot with %s is ignored', async ([, state]) => {
  await countToTwelve()
  await eventStore.saveSnapshot('counter-a', {
    schemaVersion: 1,
    revision: 10,
    position: (await position(10)) ?? '',
    state: state ?? '',
  })
  expect(await counters().load('a')).toMatchObject(whole)
})

test('a snapshot that cannot be read is ignored', async () => {
  await countToTwelve()
  const store: EventStore = {
    ...eventStore,
    readSnapshot: () => Promise.reject(new Error('no right to read it')),
  }
  expect(await counters({ store }).load('a')).toMatchObject(whole)
})

test('a snapshot of a stream that was removed, or created again since, is ignored', async () => {
  const writer = await countToTwelve()
  const snapshot = await eventStore.readSnapshot('counter-a')
  if (!snapshot) throw new Error('there is a snapshot')
  await writer.remove('a', 11)
  expect(await eventStore.readSnapshot('counter-a')).toBeUndefined()
  // Saved late by a process that folded the stream before.
  await eventStore.saveSnapshot('counter-a', snapshot)
  expect(await counters().load('a')).toEqual({ state: counterDecider.initial, revision: NO_STREAM })

  const anew = counters()
  await anew.execute('a', count(1))
  for (let by = 1; by <= 11; by++) await anew.execute('a', count(1))
  await eventStore.saveSnapshot('counter-a', snapshot)
  expect((await counters().load('a')).state).toEqual({ status: 'Live', count: 12 })
  await eventStore.saveSnapshot('counter-a', { ...snapshot, revision: (await anew.load('a')).revision })
  expect((await counters().load('a')).state).toEqual({ status: 'Live', count: 12 })
})

test('the state of a stream with an unknown event is not saved', async () => {
  const { Closed: _, ...events } = counterDecider.events
  const older = { ...counterDecider, events } as unknown as Counters
  const writer = counters()
  for (let by = 1; by <= 9; by++) await writer.execute('a', count(1))
  await writer.execute('a', { type: 'Close', metadata: storyMetadata })
  await saved([9])
  const old = await eventStore.readSnapshot('counter-a')

  const reader = counters({ decider: older })
  expect((await reader.load('a')).unknown).toEqual(['Closed@1'])
  for (let by = 1; by <= 12; by++) await reader.execute('a', count(1))
  await new Promise(setImmediate)
  expect(await eventStore.readSnapshot('counter-a')).toEqual(old)
})

test('a command does not wait for a snapshot, and a failed snapshot is retried after ten events', async () => {
  const asked: number[] = []
  const store: EventStore = {
    ...eventStore,
    async saveSnapshot(stream, snapshot) {
      asked.push(snapshot.revision)
      if (asked.length === 1) throw new Error('the disk is full')
      if (asked.length === 2) await new Promise(() => {})
      await eventStore.saveSnapshot(stream, snapshot)
    },
  }
  const writer = counters({ store })
  for (let by = 1; by <= 30; by++) {
    await writer.execute('a', count(1))
    await new Promise(setImmediate)
  }
  expect(asked).toEqual([9, 19, 29])
  await saved([29])
})

test('a state of 100,000 characters is saved after every hundred events', async () => {
  const large: SnapshotSchema<CounterState> = {
    version: 1,
    encode: state => ({ ...state, filling: 'a'.repeat(100_000) }),
    decode: encoded => encoded as unknown as CounterState,
  }
  const writer = counters({ schema: large })
  for (let by = 1; by <= 250; by++) {
    await writer.execute('a', count(1))
    await new Promise(setImmediate)
  }
  expect(saves).toEqual([9, 110, 211])
})

test('a repeated command finds its events before the snapshot', async () => {
  const writer = counters()
  const first = await writer.execute('a', count(1, 'the-command'))
  for (let by = 1; by <= 11; by++) await writer.execute('a', count(1))
  await saved([9])
  const again = count(1, 'the-command')
  again.metadata.repeated = true
  const other = counters()
  await other.load('a')
  expect((await other.execute('a', again)).facts).toEqual([expect.objectContaining(first.facts[0])])
  expect(await eventStore.readStream('counter-a')).toHaveLength(12)
})

test('events before the snapshot that are in no document are projected by the next command', async () => {
  await countToTwelve()
  const shown: number[] = []
  const other = aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore,
    category: 'counter',
    decider: counterDecider,
    snapshots: { schema, every: 10 },
    view: {
      projector: withoutProjector({ write: async () => {} }),
      project(_id, _snapshot, events) {
        shown.push(events.length)
        return []
      },
    },
  })
  await other.load('a')
  await other.execute('a', count(1))
  expect(shown).toEqual([13])
})

test('cached states are bounded by the sum of their sizes, and a larger state is the only one in the cache', async () => {
  const decider = { ...counterDecider, size: ({ count }: CounterState) => count }
  // Ten parts per state on average, so at most a hundred parts.
  const reader = counters({ decider, cacheSize: 10 })
  for (const [id, size] of [
    ['a', 60],
    ['b', 30],
    ['c', 500],
  ] as const)
    await counters().execute(id, count(size))
  const loaded = async (...ids: string[]) => {
    reads.length = 0
    for (const id of ids) await reader.load(id)
    return [...reads]
  }
  expect(await loaded('a', 'b', 'a', 'b')).toEqual([0, 0, 1, 1])
  expect(await loaded('c', 'c')).toEqual([0, 1])
  expect(await loaded('a', 'b', 'c')).toEqual([0, 0, 0])
})
