import {
  aggregate,
  type EventStore,
  type Projection,
  type RecordedEvent,
  type StreamState,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
  inMemoryLog,
  withoutProjector,
} from '@gantry/event-sourcing/testing'
import { beforeEach, expect, test } from 'vitest'
import { count, unread } from './support.ts'

let eventStore: EventStore
/** The states that were projected. */
let states: StreamState<CounterState>[]
/** For each read of a stream, the revision that it started from. */
let reads: number[]
beforeEach(() => {
  const log = inMemoryLog().connect()
  states = []
  reads = []
  eventStore = {
    ...log,
    async readStream(stream, from = 0) {
      reads.push(from)
      return log.readStream(stream, from)
    },
  }
})

/** A process with its projection. */
function replica() {
  let projection: Projection | undefined
  const projector = {
    ...withoutProjector({ write: async () => {} }),
    register: (registered: Projection) => {
      projection = registered
    },
  }
  const counters = aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore,
    category: 'counter',
    decider: counterDecider,
    view: {
      projector,
      project(_id, state) {
        states.push(state)
        return []
      },
    },
  })
  const project = async (event: RecordedEvent | undefined, again = false) => {
    states.length = 0
    if (event) await projection?.writes([event], again, unread)
    return states
  }
  const written = (event: RecordedEvent | undefined) => event && projection?.written([event])
  return { ...counters, project, written }
}
const threeEvents = async () => {
  const writer = replica()
  for (const by of [1, 2, 3]) await writer.execute('a', count(by))
  const [first, second, third] = await eventStore.readStream('counter-a')
  reads.length = 0
  return { writer, first, second, third }
}
const live = (count: number, revision: number, { position = '' } = {}) => ({
  state: { status: 'Live', count },
  revision,
  position,
})

test('events are folded in log order without reading their stream', async () => {
  const { first, second } = await threeEvents()
  const reader = replica()
  expect(await reader.project(first)).toEqual([live(1, 0, first)])
  expect(await reader.project(second)).toEqual([live(3, 1, second)])
  expect(reads).toEqual([])
})

test('the stream is read when earlier events are missing', async () => {
  const { third } = await threeEvents()
  expect(await replica().project(third)).toEqual([live(6, 2, third)])
  expect(reads).toEqual([0])
})

test('the states that commands are decided on are not projected', async () => {
  const { first } = await threeEvents()
  const reader = replica()
  await reader.load('a')
  expect(await reader.project(first)).toEqual([live(1, 0, first)])
})

test('a command after projected events of another replica neither conflicts nor reads the stream', async () => {
  const { first, second, third } = await threeEvents()
  const reader = replica()
  for (const event of [first, second, third]) {
    await reader.project(event)
    reader.written(event)
  }
  expect((await reader.execute('a', count(4))).state.count).toBe(10)
  expect(reads).toEqual([])
})

test('an event of another replica after those of a command is projected without reading the stream', async () => {
  const { writer } = await threeEvents()
  await replica().execute('a', count(4))
  const [, , , fourth] = await eventStore.readStream('counter-a')
  reads.length = 0
  expect(await writer.project(fourth)).toEqual([live(10, 3, fourth)])
  expect(reads).toEqual([])
})

test('an event of a removed stream, which a store may still deliver, gives the initial state', async () => {
  const { writer, first, third } = await threeEvents()
  const reader = replica()
  await reader.project(first)
  await writer.remove('a', 2)
  expect(await reader.project(third)).toEqual([{ state: counterDecider.initial, revision: 2 }])
})
