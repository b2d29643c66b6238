import {
  aggregate,
  type ProjectionTarget,
  Projector,
  type ProjectorOptions,
  projectorId,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
} from '@gantry/event-sourcing/testing'
import { defineCollection } from '@gantry/stores'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CounterDocument,
  count,
  counters,
  eventually,
  projectCounter,
  reachesHead,
  ready,
  rebuild,
  silent,
  useStores,
} from './support.ts'

const ID = projectorId({ name: 'test.projector', collections: [counters] })
const stores = useStores()

/** Counters whose commands project their events, or without a projector leave this to another one. */
const counter = (projector?: ProjectionTarget, projecting = projectCounter) =>
  aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore: stores.eventStore,
    category: 'counter',
    decider: counterDecider,
    ...(projector && { view: { projector, project: projecting } }),
  })
const projectorOf = (more: Partial<ProjectorOptions> = {}) =>
  new Projector({
    name: 'test.projector',
    eventStore: stores.eventStore,
    readModels: stores.readModels,
    collections: [counters],
    holder: 'one',
    log: silent,
    ...more,
  })
const projector = (holder = 'one', eventStore = stores.eventStore) => {
  const started = projectorOf({ holder, eventStore })
  counter(started)
  return stores.started(started)
}
const documents = async () => {
  const { items } = await stores.readModels
    .collection(counters)
    .find({ sort: [{ field: 'count', direction: 'asc' }], limit: 100 })
  return items.map(({ doc, revision }) => ({ ...doc, revision }))
}

describe('the projector', () => {
  test('projects events that were not projected before a crash', async () => {
    await counter().execute('a', count(3))
    const started = projector()
    await reachesHead(started, stores)
    expect(await documents()).toEqual([{ id: 'a', count: 3, revision: 0 }])
  })

  test('is ready once it has projected the log as of its start', async () => {
    await counter().execute('a', count(3))
    const started = projector()
    expect(started.caughtUp).toBe(false)
    await ready(started)
    expect(await documents()).toHaveLength(1)
  })

  test('has one projection of each category', () => {
    const own = projectorOf()
    counter(own)
    expect(() => counter(own)).toThrow('test.projector has two projections of counter')
  })

  test('of an empty log makes the read models once', async () => {
    const rebuilds = vi.spyOn(silent, 'info')
    onTestFinished(() => rebuilds.mockRestore())
    const started = projector()
    await ready(started)
    await started.stop()
    const again = projector('two')
    await ready(again)
    expect(rebuilds.mock.calls.map(([, message]) => message)).toEqual(['makes the read models from the log'])
  })

  test('is ready only after it has projected events that were written without a projector', async () => {
    await counter().execute('a', count(1))
    const before = projector()
    await ready(before)
    await before.stop()
    await counter().execute('b', count(2))
    const started = projector()
    await ready(started)
    expect(await documents()).toHaveLength(2)
  })

  test('rebuilds on request, repairs damaged documents and removes documents that are not in the log', async () => {
    await counter(projectorOf()).execute('a', count(1))
    const started = projector()
    await ready(started)
    const collection = stores.readModels.collection(counters)
    await collection.put({ id: 'stranger', count: 7 }, 0)
    await stores.readModels.write([
      {
        collection: counters,
        id: 'a',
        doc: { id: 'a', count: 99 } as CounterDocument,
        revision: 0,
        force: true,
      },
    ])
    await rebuild('test.projector', stores.readModels)
    expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }])
  })

  test('notices while it runs that its read models were dropped', async () => {
    await counter(projectorOf()).execute('a', count(1))
    const started = projector()
    await ready(started)
    await stores.readModels.drop(counters)
    await stores.readModels.checkpoints.clear(ID)
    await eventually(async () => expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }]))
  })

  test('is not ready while its read models are missing', async () => {
    await counter(projectorOf()).execute('a', count(1))
    let gate = Promise.resolve()
    const started = projector('one', {
      ...stores.eventStore,
      async *subscribe(options) {
        await gate
        yield* stores.eventStore.subscribe(options)
      },
    })
    await ready(started)
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    await stores.readModels.drop(counters)
    await stores.readModels.checkpoints.clear(ID)
    await eventually(() => expect(started.caughtUp).toBe(false))
    open()
    await ready(started)
    expect(await documents()).toEqual([{ id: 'a', count: 1, revision: 0 }])
  })

  test('of another replica waits while the lease is held, and takes over', async () => {
    const one = projector('one')
    await ready(one)
    const two = projector('two')
    await ready(two)
    await one.stop()
    await counter().execute('a', count(5))
    await reachesHead(two, stores)
    expect(await documents()).toEqual([{ id: 'a', count: 5, revision: 0 }])
  })

  test('of a newer version becomes ready while one of the previous version still runs', async () => {
    const newer = defineCollection<CounterDocument>({ ...counters, version: 2 })
    const old = projector('old')
    await counter().execute('a', count(1))
    await ready(old)
    const rebuilt = projectorOf({ collections: [newer], holder: 'new' })
    counter(rebuilt, (...state) => projectCounter(...state).map(write => ({ ...write, collection: newer })))
    await ready(stores.started(rebuilt))
    expect(await stores.readModels.collection(newer).get('a')).toMatchObject({ doc: { id: 'a', count: 1 } })

    await counter().execute('a', count(2))
    for (const projector of [old, rebuilt]) await reachesHead(projector, stores)
    expect(await documents()).toEqual([{ id: 'a', count: 3, revision: 1 }])
    expect(await stores.readModels.collection(newer).get('a')).toMatchObject({ doc: { id: 'a', count: 3 } })
  })
})
