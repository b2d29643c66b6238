import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Refusal } from '@gantry/contracts'
import { sqliteReadModelStore } from '@gantry/embedded'
import {
  type Decider,
  type DomainCommand,
  type EventStore,
  type Log,
  type NewEvent,
  type Project,
  type Projector,
  requestRebuild,
} from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  inMemoryLog,
  storyMetadata,
} from '@gantry/event-sourcing/testing'
import {
  defineCollection,
  type ReadModelStore,
  type ReadModels,
  type Write,
  withGenerations,
} from '@gantry/stores'
import { afterEach, beforeEach, expect, vi } from 'vitest'

export const silent: Log = { info() {}, warn() {}, error() {} }

export interface CounterDocument {
  id: string
  count: number
}
export const counters = defineCollection<CounterDocument>({
  name: 'test.counters',
  version: 1,
  fields: { count: 'number' },
})
export const projectCounter: Project<CounterState, CounterEvent> = (id, { state, revision }) => {
  const doc: CounterDocument | null = state.status === 'Live' ? { id, count: state.count } : null
  return [{ collection: counters, id, doc, revision }]
}
export const count = (by: number, commandId: string = randomUUID()): CounterCommand => ({
  type: 'Count',
  by,
  metadata: { ...storyMetadata, commandId },
})
export const close = (): CounterCommand => ({
  type: 'Close',
  metadata: { ...storyMetadata, commandId: randomUUID() },
})

const { actor, requestId, now: at } = storyMetadata
/** An event as another process or release would append it. */
export const event = (
  type: string,
  data: NewEvent['data'],
  metadata: Partial<NewEvent['metadata']> = {},
) => ({
  id: randomUUID(),
  type,
  data,
  metadata: { actor, requestId, at, ...metadata },
})

/** A list with items. Like a version of an API, the document of an item is written only by events of the item. */
export type ListEvent =
  | { type: 'ItemAdded'; data: { item: string; amount: number } }
  | { type: 'ItemRemoved'; data: { item: string } }
export type ListState = { items: ReadonlyMap<string, number> }
export type ListCommand = DomainCommand &
  ({ type: 'AddItem'; item: string; amount: number } | { type: 'RemoveItem'; item: string })

export const listDecider: Decider<ListState, ListCommand, ListEvent> = {
  initial: { items: new Map() },
  events: { ItemAdded: [], ItemRemoved: [] },
  decide({ items }, command) {
    const { item } = command
    if (command.type === 'AddItem') return [{ type: 'ItemAdded', data: { item, amount: command.amount } }]
    if (!items.has(item)) throw new Refusal('not-found')
    return [{ type: 'ItemRemoved', data: { item } }]
  },
  evolve(state, event) {
    const items = new Map(state.items)
    switch (event.type) {
      case 'ItemAdded':
        return { items: items.set(event.data.item, event.data.amount) }
      case 'ItemRemoved':
        items.delete(event.data.item)
        return { items }
      default:
        event satisfies never
        return state
    }
  },
}

export interface ItemDocument {
  id: string
  amount: number
}
export const items = defineCollection<ItemDocument>({
  name: 'test.items',
  version: 1,
  fields: { amount: 'number' },
})
export const projectList: Project<ListState, { type: string; data: { item: string } }> = (
  _id,
  { state, revision },
  events,
) =>
  [...new Set(events.map(({ data }) => data.item))].map((item): Write => {
    const amount = state.items.get(item)
    const doc: ItemDocument | null = amount === undefined ? null : { id: item, amount }
    return { collection: items, id: item, doc, revision }
  })

export const add = (item: string, amount = 1): ListCommand => ({
  type: 'AddItem',
  item,
  amount,
  metadata: { ...storyMetadata, commandId: randomUUID() },
})
export const remove = (item: string): ListCommand => ({
  type: 'RemoveItem',
  item,
  metadata: { ...storyMetadata, commandId: randomUUID() },
})

/**
 * The next release of the list: one more event type, and version 2 of ItemAdded with a factor. Its documents have the same
 * shape.
 */
export type NextListEvent =
  | { type: 'ItemAdded'; data: { item: string; amount: number; times: number } }
  | { type: 'ItemRemoved'; data: { item: string } }
  | { type: 'ItemDoubled'; data: { item: string } }
export type NextListCommand = ListCommand | (DomainCommand & { type: 'DoubleItem'; item: string })

export const nextListDecider: Decider<ListState, NextListCommand, NextListEvent> = {
  initial: { items: new Map() },
  events: { ItemAdded: [data => ({ ...data, times: 1 })], ItemRemoved: [], ItemDoubled: [] },
  decide({ items }, command) {
    const { item } = command
    if (command.type === 'AddItem')
      return [{ type: 'ItemAdded', data: { item, amount: command.amount, times: 10 } }]
    if (!items.has(item)) throw new Refusal('not-found')
    return [{ type: command.type === 'DoubleItem' ? 'ItemDoubled' : 'ItemRemoved', data: { item } }]
  },
  evolve(state, event) {
    const items = new Map(state.items)
    switch (event.type) {
      case 'ItemAdded':
        return { items: items.set(event.data.item, event.data.amount * event.data.times) }
      case 'ItemDoubled':
        return { items: items.set(event.data.item, (items.get(event.data.item) ?? 0) * 2) }
      case 'ItemRemoved':
        items.delete(event.data.item)
        return { items }
      default:
        event satisfies never
        return state
    }
  },
}

export const double = (item: string): NextListCommand => ({
  type: 'DoubleItem',
  item,
  metadata: { ...storyMetadata, commandId: randomUUID() },
})

/** Each access reads the generations, and nothing waits for other processes. */
export const AT_ONCE = { knownForMs: 0, writtenWithinMs: 0 }

export interface Stores {
  eventStore: EventStore
  readModels: ReadModels
  /** What the read models are made of. */
  store: ReadModelStore
  /** Opens other, empty read models, which a rebuild of the same log fills. */
  anew(): ReadModels
  /** Starts a projector, which is stopped after the test. */
  started(projector: Projector): Projector
}

/** A log in memory, read models in a new folder, and timers that only `eventually` advances, for each test. */
export function useStores(): Stores {
  const stores = {} as Stores
  let folder: string
  let opened: ReadModelStore[]
  let projectors: Projector[]
  const openStore = () => {
    const store = sqliteReadModelStore({ path: join(folder, `read-models-${opened.length}.db`) })
    opened.push(store)
    return store
  }
  beforeEach(async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    })
    folder = await mkdtemp(join(tmpdir(), 'gantry-event-sourcing-'))
    opened = []
    projectors = []
    const store = openStore()
    Object.assign(stores, {
      eventStore: inMemoryLog().connect(),
      store,
      readModels: withGenerations(store, AT_ONCE),
      anew: () => withGenerations(openStore(), AT_ONCE),
      started(projector: Projector) {
        projectors.push(projector)
        projector.start()
        return projector
      },
    })
  })
  afterEach(async () => {
    await Promise.all(projectors.map(projector => projector.stop()))
    vi.useRealTimers()
    await Promise.all(opened.map(readModels => readModels.close()))
    await rm(folder, { recursive: true })
  })
  return stores
}

/** Only a state that never comes reaches it. It is real time, because some steps, such as reading files, take that. */
const HANGS_MS = 30_000

/** Advances the timers until the assertion holds, by `withinMs` at the most. */
export async function eventually(
  assertion: () => unknown,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const start = process.hrtime.bigint()
  for (let ms = 0; ; ms += 20) {
    try {
      return void (await assertion())
    } catch (error) {
      const hangs = Number(process.hrtime.bigint() - start) > HANGS_MS * 1_000_000
      if (ms >= withinMs || hangs) throw error
      await vi.advanceTimersByTimeAsync(20)
      await setImmediate()
    }
  }
}

export const ready = (projector: { caughtUp: boolean }) =>
  eventually(() => expect(projector.caughtUp).toBe(true))

/** Requests a rebuild and waits until it is done. */
export async function rebuild(projector: string, readModels: ReadModels): Promise<void> {
  const isDone = await requestRebuild(projector, readModels, randomUUID())
  await eventually(async () => expect(await isDone()).toBe(true))
}

export async function reachesHead(projector: Projector, { eventStore }: Stores): Promise<void> {
  const head = await eventStore.head()
  await eventually(async () => expect(await projector.reached(head, 0)).toBe(true))
}

/** The same log, with subscriptions that are 20 ms behind. */
export const behind = (eventStore: EventStore): EventStore => ({
  ...eventStore,
  async *subscribe(options) {
    for await (const item of eventStore.subscribe(options)) {
      await new Promise(resolve => setTimeout(resolve, 20))
      yield item
    }
  },
})

/** Read models of which a projection reads nothing. */
export const unread = {
  collection: (): never => {
    throw new Error('the projection reads its documents')
  },
}
