import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  aggregate,
  cancelRebuild,
  type EventStore,
  listReadModels,
  NO_STREAM,
  Projector,
  pendingRebuild,
  projectorId,
  readModelStates,
  requestRebuild,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
} from '@gantry/event-sourcing/testing'
import {
  type Collection,
  type CollectionDefinition,
  type ReadModelStore,
  type ReadModels,
  ReadModelsUnavailable,
  withGenerations,
} from '@gantry/stores'
import { describe, expect, test, vi } from 'vitest'
import {
  AT_ONCE,
  type CounterDocument,
  close,
  count,
  counters,
  event,
  eventually,
  projectCounter,
  reachesHead,
  ready,
  rebuild,
  silent,
  useStores,
} from './support.ts'

const NAME = 'test.projector'
const ID = projectorId({ name: NAME, collections: [counters] })

const stores = useStores()

/** A replica whose commands project their events. Its projector is not started. */
const replica = ({
  eventStore = stores.eventStore,
  readModels = stores.readModels,
  holder = randomUUID() as string,
} = {}) => {
  const projector = new Projector({
    name: NAME,
    eventStore,
    readModels,
    collections: [counters],
    holder,
    log: silent,
  })
  return {
    projector,
    ...aggregate<CounterState, CounterCommand, CounterEvent>({
      eventStore,
      category: 'counter',
      decider: counterDecider,
      view: { projector, project: projectCounter },
    }),
  }
}
type Replica = ReturnType<typeof replica>
const started = ({ projector }: { projector: Projector }) => stores.started(projector)
const projector = (
  readModels = stores.readModels,
  options: { holder?: string; eventStore?: EventStore } = {},
) => started(replica({ readModels, ...options }))
const collection = () => stores.readModels.collection(counters)
const documents = async (readModels = stores.readModels) => {
  const { items } = await readModels.collection(counters).find({ limit: 100 })
  return Object.fromEntries(items.map(({ doc }) => [doc.id, doc.count]))
}
const rebuilt = () => rebuild(NAME, stores.readModels)
const generations = () => stores.readModels.group(ID, [counters]).current()

/** How long a replica that shares the store acts on the generations that it has read, in milliseconds. */
const KNOWN_FOR_MS = 300
/** The read models as another process uses them. */
const shared = () => withGenerations(stores.store, { knownForMs: KNOWN_FOR_MS, writtenWithinMs: 0 })

/** The log, with subscriptions that stop while the gate is closed, and the number of those that were ended. */
function gated() {
  let gate = Promise.withResolvers<void>()
  let ended = 0
  gate.resolve()
  const eventStore: EventStore = {
    ...stores.eventStore,
    async *subscribe(options) {
      options.signal.addEventListener('abort', () => ended++)
      for await (const item of stores.eventStore.subscribe(options)) {
        const aborted = new Promise(resolve => options.signal.addEventListener('abort', resolve))
        await Promise.race([gate.promise, aborted])
        yield item
      }
    },
  }
  const close = () => {
    gate = Promise.withResolvers()
  }
  return { eventStore, gate: { close, open: () => gate.resolve() }, ended: () => ended }
}

/** The read models with parts of the collection of counters replaced. */
const replacing = (
  replace: (opened: Collection<CounterDocument>) => Partial<Collection<CounterDocument>>,
): ReadModels => ({
  ...stores.readModels,
  // biome-ignore lint/suspicious/noExplicitAny: same signature as the port
  collection(definition: CollectionDefinition<any>): Collection<any> {
    const opened = stores.readModels.collection(definition)
    return definition.name === counters.name ? { ...opened, ...replace(opened) } : opened
  },
})
const forgetRemovals = async () => {
  for (let call = 0; call < 2; call++) while ((await collection().forgetRemoved(0)) > 0);
}

describe('a rebuild', () => {
  test('keeps what commands write meanwhile, through any replica, and drops what the log does not know', async () => {
    const processes = [shared(), shared()] as const
    const [one, other] = processes.map(readModels => replica({ readModels })) as [Replica, Replica]
    await one.execute('a', count(1))
    await collection().put({ id: 'stranger', count: 7 }, 5)
    const { gate, eventStore } = gated()
    await ready(started(replica({ readModels: shared(), eventStore })))
    gate.close()
    const done = await requestRebuild(NAME, stores.readModels, randomUUID())
    await eventually(async () => expect((await generations()).written).toHaveLength(2))
    // The replicas do not know yet that there is another generation.
    await one.execute('b', count(1))
    await other.execute('a', count(1))
    await vi.advanceTimersByTimeAsync(KNOWN_FOR_MS)
    await one.execute('c', count(1))
    await other.execute('b', count(1))
    expect(await documents()).toEqual({ a: 2, b: 2, c: 1, stranger: 7 })
    gate.open()
    await eventually(async () => expect((await generations()).live).toBeGreaterThan(0))
    await Promise.all([one.execute('d', count(1)), other.execute('c', count(1))])
    for (const readModels of [stores.readModels, ...processes])
      expect(await documents(readModels)).toMatchObject({ a: 2, b: 2, c: 2, d: 1 })
    await eventually(async () => expect(await done()).toBe(true))
    await eventually(async () => expect((await generations()).dropped).toEqual([]))
    const former = stores.readModels.collection({ ...counters, generation: 0 })
    expect(await former.count({})).toBe(0)
    for (const readModels of [stores.readModels, ...processes])
      expect(await documents(readModels)).toEqual({ a: 2, b: 2, c: 2, d: 1 })
  })

  test('that is cancelled leaves the read models as they were', async () => {
    const { gate, eventStore } = gated()
    const live = replica()
    await live.execute('a', count(1))
    await ready(started(replica({ eventStore })))
    await collection().put({ id: 'stranger', count: 7 }, 5)
    gate.close()
    const done = await requestRebuild(NAME, stores.readModels, 'cancelled')
    await eventually(async () => expect((await generations()).written).toHaveLength(2))
    expect(await pendingRebuild(NAME, stores.readModels)).toBe('cancelled')
    await cancelRebuild(NAME, stores.readModels, 'cancelled')
    expect(await pendingRebuild(NAME, stores.readModels)).toBeUndefined()
    await eventually(async () => expect(await done()).toBe(true))
    gate.open()
    expect(await generations()).toMatchObject({ live: 0, written: [0] })
    await live.execute('a', count(1))
    expect(await documents()).toEqual({ a: 2, stranger: 7 })
    const [record] = await listReadModels(stores.readModels)
    expect(record).toMatchObject({
      name: NAME,
      generation: 0,
      rebuild: null,
      lastRebuild: { outcome: 'CANCELLED' },
    })
    await rebuilt()
    expect(await documents()).toEqual({ a: 2 })
    expect((await listReadModels(stores.readModels))[0]).toMatchObject({
      lastRebuild: { outcome: 'COMPLETED' },
    })
  })

  test('that is cancelled before it begins is reported as cancelled, also to those that joined it', async () => {
    const first = projector()
    await ready(first)
    await rebuilt()
    await first.stop()
    await requestRebuild(NAME, stores.readModels, 'cancelled')
    const done = await requestRebuild(NAME, stores.readModels, 'joined')
    await cancelRebuild(NAME, stores.readModels, 'cancelled')
    expect(await done()).toBe(false)
    projector()
    await eventually(async () => expect(await done()).toBe(true))
    const [record] = await listReadModels(stores.readModels)
    expect(record).toMatchObject({ rebuild: null, lastRebuild: { outcome: 'CANCELLED' } })
  })

  test('is reported for the id that started last, while projectors of two ids run', async () => {
    const collections = [{ ...counters, version: 2 }]
    await ready(projector())
    const { eventStore, readModels } = stores
    const next = new Projector({
      name: NAME,
      eventStore,
      readModels,
      collections,
      holder: 'next',
      log: silent,
    })
    await ready(started({ projector: next }))
    await rebuilt()
    await eventually(async () => expect((await generations()).live).toBeGreaterThan(0))
    await eventually(async () => {
      const records = await listReadModels(readModels)
      expect(records).toMatchObject([{ name: NAME, rebuild: null, lastRebuild: { outcome: 'COMPLETED' } }])
      expect(records[0]?.collections).toContain('test.counters@2')
    })
  })

  test('is shown by states that open each generation of the held streams once', async () => {
    const opened = new Set<object>()
    const readModels: ReadModels = {
      ...stores.readModels,
      // biome-ignore lint/suspicious/noExplicitAny: same signature as the port
      collection(definition: CollectionDefinition<any>): Collection<any> {
        if (definition.generation !== undefined) opened.add(definition)
        return stores.readModels.collection(definition)
      },
    }
    await ready(projector())
    const states = readModelStates({ readModels, eventStore: stores.eventStore })
    for (const names of [undefined, [NAME]]) expect(await states(names)).toMatchObject([{ generation: 0 }])
    expect(await states(['another.projector'])).toEqual([])
    expect(opened.size).toBe(1)
    await rebuilt()
    await eventually(async () => expect((await states())[0]?.lastRebuild).not.toBeNull())
    await states()
    expect(opened.size).toBe(2)
  })

  test('that is killed at any call is completed by the next projector', async () => {
    const live = replica()
    for (const id of ['a', 'b', 'c']) await live.execute(id, count(1))
    await live.execute('c', close())
    const first = projector()
    await ready(first)
    await first.stop()
    let last = 0
    for (let died = true; died; last++) {
      died = false
      await collection().put({ id: 'stranger', count: 7 }, 0)
      const done = await requestRebuild(NAME, stores.readModels, randomUUID())
      let effects = 0
      const buried = Promise.withResolvers<never>()
      buried.promise.catch(() => {})
      const mortal = dying(stores.store, buried.promise, name => {
        died ||= EFFECTS.includes(name) && effects++ === last
        return died
      })
      const one = projector(withGenerations(mortal, AT_ONCE), { holder: 'one' })
      const isOver = async () => (await done()) && (await generations()).dropped.length === 0
      await eventually(async () => expect(died || (await isOver())).toBe(true))
      await stores.readModels.leases.acquire(ID, 'one', 1)
      const two = projector(stores.readModels, { holder: 'two' })
      await eventually(async () => expect(await isOver()).toBe(true))
      expect(await documents()).toEqual({ a: 1, b: 1 })
      expect((await generations()).written).toHaveLength(1)
      buried.reject(new ReadModelsUnavailable('the process is dead'))
      await Promise.all([one.stop(), two.stop()])
    }
    // The lease, its claim, reports, the announcement, the documents, the switch, the completion and the deletion.
    expect(last).toBeGreaterThan(12)
  })

  test('completes together with another one that is requested at the same time', async () => {
    const { gate, eventStore, ended } = gated()
    await replica().execute('a', count(1))
    await ready(started(replica({ eventStore })))
    await collection().put({ id: 'stranger', count: 7 }, 0)
    gate.close()
    const first = await requestRebuild(NAME, stores.readModels, 'first')
    await eventually(async () => expect((await generations()).written).toHaveLength(2))
    const { written } = await generations()
    const before = ended()
    const second = await requestRebuild(NAME, stores.readModels, 'joins the first one')
    // Another process saw no request before the first one was saved.
    await stores.readModels.checkpoints.save(`${NAME}.rebuild.requested`, 'second')
    // The projector notices the request, and begins its subscriptions again.
    await eventually(() => expect(ended()).toBeGreaterThan(before))
    expect([await first(), await second()]).toEqual([false, false])
    gate.open()
    await eventually(async () => expect([await first(), await second()]).toEqual([true, true]))
    expect(await generations()).toMatchObject({ live: written[1] })
    expect(await documents()).toEqual({ a: 1 })
  })

  test('does not show a document meanwhile whose tombstone was already deleted', async () => {
    const live = replica()
    await live.execute('removed', count(1))
    // More events than the projector processes at a time.
    for (const stream of ['counter-x', 'counter-y'])
      await stores.eventStore.append(stream, many(700), NO_STREAM)
    await live.execute('removed', close())
    const started = projector()
    await ready(started)
    await collection().put({ id: 'last', count: 0 }, 0)
    await forgetRemovals()
    expect(await collection().latest('removed')).toBeUndefined()

    const shown: unknown[] = []
    const watching: ReadModels = {
      ...stores.readModels,
      async write(...given) {
        await stores.readModels.write(...given)
        shown.push(await collection().get('removed'))
      },
    }
    await started.stop()
    projector(watching)
    await rebuilt()
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.filter(stored => stored)).toEqual([])
    expect(await documents()).toEqual({ x: 700, y: 700 })
  })

  test('shows a position after the switch that the former generation had before it', async () => {
    await replica().execute('a', count(1))
    const reader = replica({ readModels: shared() }).projector
    let shown: object | undefined
    const { checkpoints } = stores.store
    const save: typeof checkpoints.save = async (name, text, lease) => {
      const isSwitch = name === `${ID}.generations` && JSON.parse(text).live > 0 && shown === undefined
      if (!isSwitch) return checkpoints.save(name, text, lease)
      shown = {}
      await stores.eventStore.append('counter-late', many(1), NO_STREAM)
      // The projector of the former generation goes on meanwhile.
      for (let turn = 0; turn < 100; turn++) await setImmediate()
      const wasReached = await reader.reached(await stores.eventStore.head(), 0)
      await checkpoints.save(name, text, lease)
      if (wasReached) shown = await documents()
    }
    const switching = { ...stores.store, checkpoints: { ...checkpoints, save } }
    await ready(projector(withGenerations(switching, AT_ONCE)))
    started({ projector: reader })
    await rebuilt()
    await reachesHead(reader, stores)
    expect(shown).toEqual({})
    expect(await documents()).toEqual({ a: 1, late: 1 })
  })
})

const many = (events: number) => Array.from({ length: events }, () => event('Counted', { by: 1 }))

const EFFECTS = ['write', 'save', 'acquire', 'clear', 'discard']

/** Read models of a process that counts as dead once `isDead` says so. Its calls have no effect and wait for `buried`. */
function dying(
  store: ReadModelStore,
  buried: Promise<never>,
  isDead: (call: string) => boolean,
): ReadModelStore {
  const replace = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(given, name) {
        const value = Reflect.get(given, name)
        if (name === 'collection')
          return (...definition: unknown[]) =>
            replace(Reflect.apply(value as () => object, given, definition))
        if (name === 'checkpoints' || name === 'leases') return replace(value as object)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => (isDead(String(name)) ? buried : Reflect.apply(value, given, args))
      },
    })
  return replace(store)
}

describe('tombstones', () => {
  let looks = 0
  /** Read models that delete all tombstones regardless of age, record the requested ages, and count reads of positions. */
  const forgetful = (asked: number[]): ReadModels => ({
    ...replacing(opened => ({
      forgetRemoved(ageMs) {
        asked.push(ageMs)
        return opened.forgetRemoved(0)
      },
    })),
    checkpoints: {
      ...stores.readModels.checkpoints,
      get(name) {
        looks++
        return stores.readModels.checkpoints.get(name)
      },
    },
  })

  test('are deleted by the projector after minutes, once it has projected the whole log', async () => {
    const live = replica()
    await live.execute('a', count(1))
    await live.execute('a', close())
    await live.execute('b', count(1))
    const gate = Promise.withResolvers<void>()
    const behind: EventStore = {
      ...stores.eventStore,
      async *subscribe(options) {
        await gate.promise
        yield* stores.eventStore.subscribe(options)
      },
    }
    const asked: number[] = []
    const first = projector(stores.readModels, { holder: 'one' })
    await ready(first)
    await first.stop()
    await live.execute('b', count(1))
    const second = projector(forgetful(asked), { holder: 'two', eventStore: behind })
    await eventually(() => expect(looks).toBeGreaterThan(30))
    expect(asked).toEqual([])
    gate.resolve()
    await eventually(() => expect(asked).not.toEqual([]))
    expect(new Set(asked)).toEqual(new Set([300_000]))
    await second.stop()
    projector(forgetful(asked), { holder: 'three' })
    await eventually(async () => expect(await collection().latest('a')).toBeUndefined())
    expect(await documents()).toEqual({ b: 2 })
  })

  test.for(['appends', 'finds nothing to do'])(
    'that are deleted do not let a document return through a command that %s and is paused before it projects',
    async what => {
      await replica().execute('a', count(1))
      let pause = async () => {}
      const eventStore: EventStore = {
        ...stores.eventStore,
        async append(...given) {
          const appended = await stores.eventStore.append(...given)
          if (what === 'appends') await pause()
          return appended
        },
        async readStream(...given) {
          const events = await stores.eventStore.readStream(...given)
          if (what !== 'appends') await pause()
          return events
        },
      }
      const paused = replica({ eventStore })
      let late = 0
      const stopwatch = performance.now.bind(performance)
      vi.spyOn(performance, 'now').mockImplementation(() => stopwatch() + late)
      pause = async () => {
        pause = async () => {}
        await replica().execute('a', close())
        await forgetRemovals()
        await collection().put({ id: 'last', count: 0 }, 0)
        await forgetRemovals()
        expect(await collection().latest('a')).toBeUndefined()
        late = 11_000
      }
      await paused
        .execute('a', count(what === 'appends' ? 5 : 0))
        .catch(error => expect(error.code).toBeDefined())
      vi.restoreAllMocks()
      expect(await documents()).toEqual({ last: 0 })
    },
  )
})
