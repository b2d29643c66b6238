import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  aggregate,
  type EventStore,
  type Log,
  NO_STREAM,
  type Project,
  Projector,
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
import {
  type Collection,
  type CollectionDefinition,
  defineCollection,
  type ReadModels,
  ReadModelsUnavailable,
} from '@gantry/read-models'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStores, type Stores } from './support.ts'

interface CounterDocument {
  id: string
  count: number
}
const counters = defineCollection<CounterDocument>({
  name: 'test.counters',
  version: 1,
  fields: { count: 'number' },
})
const project: Project<CounterState, CounterEvent> = (id, { state, revision }) => {
  const doc: CounterDocument | null = state.status === 'Live' ? { id, count: state.count } : null
  return [{ collection: counters, id, doc, revision }]
}
const NAME = 'test.projector'
const KEY = projectorKey({ name: NAME, collections: [counters] })
const log: Log = { info() {}, warn() {}, error() {} }
const soon = { timeout: 20_000, interval: 5 }

let stores: Stores
let workers: Worker[]
beforeEach(async () => {
  stores = await openStores()
  workers = []
})
afterEach(async () => {
  await Promise.all(workers.map(worker => worker.stop()))
  await stores.close()
})

const count = (by: number): CounterCommand => ({ type: 'Count', by, metadata: command() })
const close = (): CounterCommand => ({ type: 'Close', metadata: command() })
const command = () => ({ ...storyMetadata, commandId: randomUUID() })

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
    log,
  })
  return {
    projector,
    ...aggregate<CounterState, CounterCommand, CounterEvent>({
      eventStore,
      category: 'counter',
      decider: counterDecider,
      view: { projector, project },
    }),
  }
}
const started = ({ projector }: { projector: Projector }) => {
  workers.push(projector)
  projector.start()
  return projector
}
const projector = (
  readModels = stores.readModels,
  options: { holder?: string; eventStore?: EventStore } = {},
) => started(replica({ readModels, ...options }))
const ready = (started: { caughtUp: boolean }) => vi.waitFor(() => expect(started.caughtUp).toBe(true), soon)
const collection = () => stores.readModels.collection(counters)
const documents = async () => {
  const { items } = await collection().find({ limit: 100 })
  return Object.fromEntries(items.map(({ doc }) => [doc.id, doc.count]))
}
const rebuilt = async () => {
  const done = await requestRebuild(NAME, stores.readModels, randomUUID())
  await vi.waitFor(async () => expect(await done()).toBe(true), soon)
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
  test.for([
    ['is found', 'olderThan'],
    ['is removed', 'removeOlder'],
  ] as const)(
    'keeps concurrent writes of commands while a document that is not in the log %s',
    async ([, when]) => {
      await replica().execute('a', count(1))
      await collection().put({ id: 'stranger', count: 7 }, 5)
      await collection().put({ id: 'b', count: 99 }, 5)
      let meanwhile = async () => {
        meanwhile = async () => {}
        const another = replica()
        await another.execute('a', count(1))
        // The projector's own process considers it projected, although the stored document is newer.
        await own.execute('b', count(2))
        await another.execute('c', count(3))
      }
      const readModels = replacing(opened => ({
        async *olderThan(generation) {
          if (when === 'olderThan') await meanwhile()
          yield* opened.olderThan(generation)
        },
        async removeOlder(...given) {
          if (when === 'removeOlder') await meanwhile()
          return opened.removeOlder(...given)
        },
      }))
      const own = replica({ readModels })
      const rebuilding = started(own)
      await ready(rebuilding)
      expect(await rebuilding.reached(await stores.eventStore.head(), 10_000)).toBe(true)
      expect(await documents()).toMatchObject({ a: 2, c: 3 })
      expect(Object.keys(await documents())).not.toContain('stranger')
      if (when === 'removeOlder') expect(await documents()).toEqual({ a: 2, b: 2, c: 3 })
    },
  )

  test('keeps a document of a replica that writes no marks', async () => {
    await replica().execute('a', count(1))
    await collection().put({ id: 'stranger', count: 7 }, 0)
    let found = 0
    const kept: boolean[] = []
    const started = projector(
      replacing(opened => ({
        async *olderThan(generation) {
          // The log gets the event before the read models get its document, which has no mark.
          await replica().execute('b', count(2))
          for await (const version of opened.olderThan(generation)) {
            found++
            yield version
          }
        },
        async removeOlder(...given) {
          const removed = await opened.removeOlder(...given)
          kept.push((await opened.get('b')) !== undefined)
          return removed
        },
      })),
    )
    await ready(started)
    expect([found, kept]).toEqual([2, [true]])
    expect(await documents()).toEqual({ a: 1, b: 2 })
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
      const one = projector(
        dying(stores.readModels, buried.promise, name => {
          died ||= EFFECTS.includes(name) && effects++ === last
          return died
        }),
        { holder: 'one' },
      )
      await vi.waitFor(async () => expect(died || (await done())).toBe(true), soon)
      await stores.readModels.leases.acquire(KEY, 'one', 1)
      const two = projector(stores.readModels, { holder: 'two' })
      await vi.waitFor(async () => expect(await done()).toBe(true), soon)
      expect(await documents()).toEqual({ a: 1, b: 1 })
      buried.reject(new ReadModelsUnavailable('the process is dead'))
      await Promise.all([one.stop(), two.stop()])
    }
    // The lease, the generation, three document writes, the removal and two notes of completion.
    expect(last).toBeGreaterThan(6)
  }, 60_000)

  test('completes together with another one that is requested meanwhile', async () => {
    await replica().execute('a', count(1))
    const gate = Promise.withResolvers<void>()
    let held = false
    const started = projector(
      replacing(opened => ({
        async *olderThan(generation) {
          if (held) await gate.promise
          yield* opened.olderThan(generation)
        },
      })),
    )
    await ready(started)
    held = true
    const first = await requestRebuild(NAME, stores.readModels, 'first')
    await vi.waitFor(
      async () =>
        expect(Number(await stores.readModels.checkpoints.get(`${KEY}.generation`))).toBeGreaterThan(0),
      soon,
    )
    await setTimeout(1_500)
    const second = await requestRebuild(NAME, stores.readModels, 'second')
    expect([await first(), await second()]).toEqual([false, false])
    await collection().put({ id: 'stranger', count: 7 }, 0)
    held = false
    gate.resolve()
    await vi.waitFor(async () => expect([await first(), await second()]).toEqual([true, true]), soon)
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

  test('is reported again after a paused holder of the lease overwrites the report with an earlier one', async () => {
    await replica().execute('first', count(1))
    await ready(projector())
    const done = await requestRebuild(NAME, stores.readModels, randomUUID())
    await vi.waitFor(async () => expect(await done()).toBe(true), soon)
    await stores.readModels.checkpoints.save(`${NAME}.rebuild.done`, `none ${KEY}`)
    expect(await done()).toBe(false)
    await vi.waitFor(async () => expect(await done()).toBe(true), soon)
  })
})

const many = (events: number) =>
  Array.from({ length: events }, () => ({
    id: randomUUID(),
    type: 'Counted',
    data: { by: 1 },
    metadata: { actor: { id: 'a', name: 'a' }, requestId: 'r', at: '2026-11-22T10:00:00.000Z' },
  }))

const EFFECTS = ['write', 'save', 'acquire', 'removeOlder']

/** Read models of a process that counts as dead once `isDead` says so. Its calls have no effect and wait for `buried`. */
function dying(
  readModels: ReadModels,
  buried: Promise<never>,
  isDead: (call: string) => boolean,
): ReadModels {
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
  return replace(readModels)
}

describe('tombstones', () => {
  /** Read models that delete all tombstones regardless of age, and record the requested ages. */
  const forgetful = (asked: number[]) =>
    replacing(opened => ({
      forgetRemoved(ageMs) {
        asked.push(ageMs)
        return opened.forgetRemoved(0)
      },
    }))

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
    await setTimeout(500)
    expect(asked).toEqual([])
    gate.resolve()
    await vi.waitFor(() => expect(asked).not.toEqual([]), soon)
    expect(new Set(asked)).toEqual(new Set([300_000]))
    await second.stop()
    projector(forgetful(asked), { holder: 'three' })
    await vi.waitFor(async () => expect(await collection().latest('a')).toBeUndefined(), soon)
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
