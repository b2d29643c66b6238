import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import {
  aggregate,
  type EventStore,
  type Log,
  type Project,
  type ProjectionTarget,
  Projector,
  type ProjectorOptions,
  projectorKey,
  requestRebuild,
  type Worker,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
  storyMetadata,
} from '@gantry/event-sourcing/testing'
import { defineCollection, type ReadModels } from '@gantry/read-models'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

interface CounterDocument {
  id: string
  count: number
}
const counters = defineCollection<CounterDocument>({
  name: 'test.counters',
  version: 1,
  fields: { count: 'number' },
})
const project: Project<CounterState, CounterEvent> = (id, { state, revision }) => [
  {
    collection: counters,
    id,
    doc: state.status === 'Live' ? ({ id, count: state.count } as CounterDocument) : null,
    revision,
  },
]
const KEY = projectorKey({ name: 'test.projector', collections: [counters] })
const log: Log = { info() {}, warn() {}, error() {} }

let folder: string
let eventStore: EventStore
let readModels: ReadModels
let workers: Worker[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-projector-'))
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  workers = []
})
afterEach(async () => {
  await Promise.all(workers.map(worker => worker.stop()))
  await Promise.all([eventStore.close(), readModels.close()])
  await rm(folder, { recursive: true })
})

/** Counters whose commands project their events, or without a projector leave this to another one. */
const counter = (projector?: ProjectionTarget, projecting = project) =>
  aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore,
    category: 'counter',
    decider: counterDecider,
    ...(projector && { view: { projector, project: projecting } }),
  })
const count = (by: number): CounterCommand => ({
  type: 'Count',
  by,
  metadata: { ...storyMetadata, commandId: randomUUID() },
})
const close = (): CounterCommand => ({
  type: 'Close',
  metadata: { ...storyMetadata, commandId: randomUUID() },
})
const projectorOf = (more: Partial<ProjectorOptions> = {}) =>
  new Projector({
    name: 'test.projector',
    eventStore,
    readModels,
    collections: [counters],
    holder: 'one',
    log,
    ...more,
  })
const projector = (holder = 'one', store = eventStore) => {
  const started = projectorOf({ holder, eventStore: store })
  counter(started)
  workers.push(started)
  started.start()
  return started
}
const documents = async () => {
  const { items } = await readModels
    .collection(counters)
    .find({ sort: [{ field: 'count', direction: 'asc' }], limit: 100 })
  return items.map(({ doc, revision }) => ({ ...doc, revision }))
}

describe('the projector', () => {
  test('projects events that were not projected before a crash', async () => {
    await counter().execute('a', count(3))
    const started = projector()
    expect(await started.reached(await eventStore.head(), 5_000)).toBe(true)
    expect(await documents()).toEqual([{ id: 'a', count: 3, revision: 0 }])
  })

  test('is ready once it has projected the log as of its start', async () => {
    await counter().execute('a', count(3))
    const started = projector()
    expect(started.caughtUp).toBe(false)
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    expect(await documents()).toHaveLength(1)
  })

  test('has one projection of each category', () => {
    const own = projectorOf()
    counter(own)
    expect(() => counter(own)).toThrow('test.projector has two projections of counter')
  })

  test('of an empty log makes the read models once and stays ready', async () => {
    const rebuilds = vi.spyOn(log, 'info')
    const started = projector()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    for (let look = 0; look < 25; look++) {
      await setTimeout(100)
      expect(started.caughtUp).toBe(true)
    }
    await started.stop()
    const again = projector('two')
    await vi.waitFor(() => expect(again.caughtUp).toBe(true))
    expect(rebuilds.mock.calls.map(([, message]) => message)).toEqual(['makes the read models from the log'])
    rebuilds.mockRestore()
  })

  test('is ready only after it has projected events that were written without a projector', async () => {
    await counter().execute('a', count(1))
    const before = projector()
    await vi.waitFor(() => expect(before.caughtUp).toBe(true))
    await before.stop()
    await counter().execute('b', count(2))
    const started = projector()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true), { interval: 1 })
    expect(await documents()).toHaveLength(2)
  })

  test('makes equal read models when they are rebuilt', async () => {
    const live = counter(projectorOf())
    for (const [id, by] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['a', 10],
    ] as const)
      await live.execute(id, count(by))
    await live.execute('c', close())
    const before = await documents()
    await readModels.drop(counters)
    expect(await documents()).toEqual([])
    const started = projector()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    expect(await documents()).toEqual(before)
  })

  test('rebuilds on request, repairs damaged documents and removes documents that are not in the log', async () => {
    await counter(projectorOf()).execute('a', count(1))
    const started = projector()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    const collection = readModels.collection(counters)
    await collection.put({ id: 'stranger', count: 7 }, 0)
    await readModels.write([
      {
        collection: counters,
        id: 'a',
        doc: { id: 'a', count: 99 } as CounterDocument,
        revision: 0,
        force: true,
      },
    ])
    const done = await requestRebuild('test.projector', readModels, 'request-1')
    await vi.waitFor(async () => expect(await done()).toBe(true), { timeout: 10_000 })
    expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }])
  })

  test('notices while it runs that its read models were dropped', async () => {
    await counter(projectorOf()).execute('a', count(1))
    const started = projector()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    await readModels.drop(counters)
    await readModels.checkpoints.clear(KEY)
    await vi.waitFor(async () => expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }]), {
      timeout: 10_000,
    })
  })

  test('is not ready while its read models are missing', async () => {
    await counter(projectorOf()).execute('a', count(1))
    let gate = Promise.resolve()
    const started = projector('one', {
      ...eventStore,
      async *subscribe(options) {
        await gate
        yield* eventStore.subscribe(options)
      },
    })
    await vi.waitFor(() => expect(started.caughtUp).toBe(true))
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    await readModels.drop(counters)
    for (const name of [KEY, `${KEY}.rebuild.done`]) await readModels.checkpoints.clear(name)
    await vi.waitFor(() => expect(started.caughtUp).toBe(false), { timeout: 10_000 })
    open()
    await vi.waitFor(() => expect(started.caughtUp).toBe(true), { timeout: 10_000 })
    expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }])
  })

  test('of another replica waits while the lease is held, and takes over', async () => {
    const one = projector('one')
    await vi.waitFor(() => expect(one.caughtUp).toBe(true))
    const two = projector('two')
    await vi.waitFor(() => expect(two.caughtUp).toBe(true))
    await one.stop()
    await counter().execute('a', count(5))
    expect(await two.reached(await eventStore.head(), 10_000)).toBe(true)
    expect(await documents()).toEqual([{ id: 'a', count: 5, revision: 0 }])
  })

  test('of a newer version becomes ready while one of the previous version still runs', async () => {
    const newer = defineCollection<CounterDocument>({ ...counters, version: 2 })
    const old = projector('old')
    await counter().execute('a', count(1))
    await vi.waitFor(() => expect(old.caughtUp).toBe(true))
    const rebuilt = projectorOf({ collections: [newer], holder: 'new' })
    counter(rebuilt, (...state) => project(...state).map(write => ({ ...write, collection: newer })))
    workers.push(rebuilt)
    rebuilt.start()
    await vi.waitFor(() => expect(rebuilt.caughtUp).toBe(true), { timeout: 10_000 })
    expect(await readModels.collection(newer).get('a')).toMatchObject({ doc: { id: 'a', count: 1 } })

    await counter().execute('a', count(2))
    const head = await eventStore.head()
    expect([await old.reached(head, 10_000), await rebuilt.reached(head, 10_000)]).toEqual([true, true])
    expect(await documents()).toEqual([{ id: 'a', count: 3, revision: 1 }])
    expect(await readModels.collection(newer).get('a')).toMatchObject({ doc: { id: 'a', count: 3 } })
  })
})
