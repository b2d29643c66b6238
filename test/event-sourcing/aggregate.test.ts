import {
  type Aggregate,
  type AggregateOptions,
  aggregate,
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
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
import { inContext, TraceContext } from '@gantry/tracing'
import { beforeEach, expect, test } from 'vitest'
import { count } from './support.ts'

let eventStore: EventStore
type Counters = AggregateOptions<CounterState, CounterCommand, CounterEvent>
const counter = (
  store = eventStore,
  project?: NonNullable<Counters['view']>['project'],
): Aggregate<CounterState, CounterCommand, CounterEvent> =>
  aggregate({
    eventStore: store,
    category: 'counter',
    decider: counterDecider,
    ...(project && { view: { projector: withoutProjector({ write: async () => {} }), project } }),
  })
/** A command that is known to be a repetition. */
const again = (by: number): CounterCommand => {
  const command = count(by, 'the-command')
  command.metadata.repeated = true
  return command
}

beforeEach(() => {
  eventStore = inMemoryLog().connect()
})

test('events have the trace of the request, and those of the service itself have traces of their own', async () => {
  const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  const counters = counter()
  const traceOf = async (work: () => ReturnType<typeof counters.execute>) =>
    (await work()).facts[0]?.metadata.traceparent
  const execute = () => counters.execute('a', count(1))
  expect(await traceOf(() => inContext(new TraceContext('r-1', given), execute))).toBe(given)
  const [one, other] = [await traceOf(execute), await traceOf(execute)]
  for (const own of [one, other]) expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  expect(one).not.toBe(other)
})

test('concurrent commands of two replicas both succeed, one after the other', async () => {
  const [one, other] = [counter(), counter()]
  await one.execute('a', count(1))
  await other.load('a')
  const both = await Promise.all([one.execute('a', count(10)), other.execute('a', count(100))])
  expect(both.map(({ revision }) => revision).toSorted()).toEqual([1, 2])
  expect((await one.load('a')).state.count).toBe(111)
})

test('concurrent commands on one stream are all counted', async () => {
  const one = counter()
  await Promise.all(Array.from({ length: 15 }, () => one.execute('a', count(1))))
  expect((await counter().load('a')).state.count).toBe(15)
})

test('a cached state does not cause a refusal when another replica has written since', async () => {
  const [one, other] = [counter(), counter()]
  await one.execute('a', count(1))
  await other.load('a')
  await one.execute('a', { type: 'Close', metadata: storyMetadata })
  await expect(other.execute('a', count(0))).rejects.toMatchObject({ code: 'write-conflict' })
})

test('a command that another process tries again is executed once', async () => {
  const first = await counter().execute('a', count(5, 'the-command'))
  const second = await counter().execute('a', again(5))
  expect(second.facts.map(({ id }) => id)).toEqual(first.facts.map(({ id }) => id))
  expect(await eventStore.readStream('counter-a')).toHaveLength(1)
})

test('a command that another process executes while this one is paused is executed only once', async () => {
  const other = counter()
  await other.execute('a', count(1))
  let isPaused = true
  const paused = counter({
    ...eventStore,
    async readStream(...args) {
      const read = await eventStore.readStream(...args)
      if (!isPaused) return read
      isPaused = false
      // The response exists, but the process first reads the stream for another request.
      await other.execute('a', again(5))
      await other.execute('a', count(2))
      await paused.load('a')
      return read
    },
  })
  expect(await paused.execute('a', again(5))).toMatchObject({
    events: [{ type: 'Counted', data: { by: 5 } }],
  })
  const events = await eventStore.readStream('counter-a')
  expect(events.map(({ data }) => data.by)).toEqual([1, 5, 2])
})

test('a repeated command that finds the append of its earlier try returns the stored state', async () => {
  const other = counter()
  let isFirst = true
  const projected: number[] = []
  const one = counter(
    {
      ...eventStore,
      async append(...args) {
        // The earlier try appends other data after this try has looked for it.
        if (isFirst) {
          isFirst = false
          await other.execute('a', again(5))
        }
        return eventStore.append(...args)
      },
    },
    (_id, { state }) => {
      projected.push(state.count)
      return []
    },
  )
  expect(await one.execute('a', again(7))).toMatchObject({
    state: { count: 5 },
    events: [{ type: 'Counted', data: { by: 5 } }],
    facts: [{ data: { by: 5 } }],
  })
  expect(projected).toEqual([5])
  expect((await one.execute('a', count(1))).state.count).toBe(6)
})

test('an append whose acknowledgement was lost is not repeated, and the events before it are not read', async () => {
  let lost = -1
  const read: (number | undefined)[] = []
  const flaky: EventStore = {
    ...eventStore,
    async append(stream, events, expected) {
      const appended = await eventStore.append(stream, events, expected)
      if (lost++ === 0) throw new EventStoreUnavailable('connection lost after the append')
      return appended
    },
    readStream(stream, from) {
      read.push(from)
      return eventStore.readStream(stream, from)
    },
  }
  const one = counter(flaky)
  await one.execute('a', count(1))
  expect(await one.execute('a', count(5))).toMatchObject({
    revision: 1,
    state: { count: 6 },
    events: [{ type: 'Counted', data: { by: 5 } }],
  })
  expect(await eventStore.readStream('counter-a')).toHaveLength(2)
  expect(read).toEqual([1])
})

test.for([
  [3, 'the store is unavailable', () => new EventStoreUnavailable('away')],
  [20, 'other writers are faster', () => new WrongExpectedRevision('counter-a', 0, 1)],
] as const)('a command is tried at most %i times while %s', async ([tries, , failure]) => {
  let appends = 0
  const failing: EventStore = {
    ...eventStore,
    append() {
      appends++
      return Promise.reject(failure())
    },
  }
  await expect(counter(failing).execute('a', count(1))).rejects.toEqual(failure())
  expect(appends).toBe(tries)
})

test('a new stream is appended to without a read; for an existing stream the decision is made on its state', async () => {
  let reads = 0
  const counting: EventStore = {
    ...eventStore,
    async readStream(...args) {
      reads++
      return eventStore.readStream(...args)
    },
  }
  expect(await counter(counting).execute('a', count(1))).toMatchObject({ revision: 0 })
  expect(reads).toBe(0)
  expect(await counter(counting).execute('a', count(2))).toMatchObject({ revision: 1, state: { count: 3 } })
})

test.for([
  ['once if an earlier try has ended', 'ended', 1],
  ['before and after its append if an earlier try may be in progress', true, 2],
] as const)('a command reads its new stream %s', async ([, repeated, expected]) => {
  let reads = 0
  const counting: EventStore = {
    ...eventStore,
    async readStream(...args) {
      reads++
      return eventStore.readStream(...args)
    },
  }
  const command = { ...count(1), metadata: { ...storyMetadata, repeated } }
  expect(await counter(counting).execute('a', command)).toMatchObject({ revision: 0, state: { count: 1 } })
  expect(reads).toBe(expected)
  expect(await counter().execute('a', command)).toMatchObject({ revision: 0, state: { count: 1 } })
})

test('events are projected before the command is answered', async () => {
  let projected = 0
  const one = counter(eventStore, () => {
    projected++
    return []
  })
  await one.execute('a', count(1))
  expect(projected).toBe(1)
})

test.for([
  ['is refused', { type: 'Count', by: 1, metadata: storyMetadata }, 'Deleted'],
  ['has nothing to do', { type: 'Count', by: 0, metadata: storyMetadata }, 'Live'],
] as const)(
  'a command that %s projects events that a killed writer has not projected',
  async ([, command, status]: readonly [string, CounterCommand, CounterState['status']]) => {
    const dying = counter()
    await dying.execute('a', count(1))
    if (status === 'Deleted') await dying.execute('a', { type: 'Close', metadata: storyMetadata })
    const projected: { state: unknown; events: number }[] = []
    const other = counter(eventStore, (_id, state, events) => {
      projected.push({ state, events: events.length })
      return []
    })
    for (let i = 0; i < 2; i++) await other.execute('a', command).catch(() => {})
    const events = status === 'Deleted' ? 2 : 1
    const last = (await eventStore.readStream('counter-a')).at(-1)
    const state = { state: { status, count: 1 }, revision: events - 1, position: last?.position }
    expect(projected).toEqual([{ state, events }])
  },
)

test('a removed stream is forgotten; a stream with later events is not removed', async () => {
  const [one, other] = [counter(), counter()]
  const { revision } = await one.execute('a', count(1))
  await other.execute('a', count(10))
  expect(await one.remove('a', revision)).toBe(false)
  expect((await one.load('a')).state.count).toBe(11)

  expect(await one.remove('a', 1)).toBe(true)
  expect(await one.remove('a', 1)).toBe(true)
  expect(await one.load('a')).toEqual({ state: counterDecider.initial, revision: -1 })
  expect(await eventStore.readStream('counter-a')).toEqual([])
  expect((await one.execute('a', count(3))).state.count).toBe(3)
})
