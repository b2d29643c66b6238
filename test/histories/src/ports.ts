import { requests } from '@gantry/contracts'
import type { EventStore } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { Peers } from '@gantry/service-runtime'
import {
  type BlobStore,
  type CollectionName,
  type ReadModelStore,
  type ReadModels,
  type UserKeys,
  withGenerations,
} from '@gantry/stores'
import type { Caller, Calls, Port } from './calls.ts'
import type { Stores } from './stores.ts'

/** The ports of a replica. */
export interface Ports {
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
  peers: Peers
  blobs: BlobStore
  userKeys: UserKeys
}

/** The stores as one replica accesses them. Each call waits until the history continues it. */
export function portsOf(stores: Stores, bus: Bus, calls: Calls, caller: Caller): Ports {
  const on =
    (port: Port): Make =>
    (what, effect, writes = false) =>
      calls.make(caller, { port, what, writes }, effect)
  return {
    eventStore: eventStoreOf(stores.eventStore, on('eventStore')),
    readModels: withGenerations(readModelsOf(stores.projected.store, on('readModels')), GENERATIONS),
    bus: busOf(bus, on('bus')),
    peers: peersOf(stores.peers, on('bus')),
    blobs: blobsOf(stores.blobs, on('blobs')),
    userKeys: userKeysOf(stores.userKeys, on('userKeys')),
  }
}

/** A replica acts for a second on the generations that it has read. Stores execute a write within a minute or never. */
const GENERATIONS = { knownForMs: 1_000, writtenWithinMs: 60_000 }

/** @param writes whether the call changes documents */
type Make = <T>(what: string, effect: () => Promise<T>, writes?: boolean) => Promise<T>

/** Delays each item until the history continues it, so that a follower can be behind by any number of items. */
async function* items<T>(
  given: AsyncIterable<T>,
  make: Make,
  what: (item: T) => string,
  signal?: AbortSignal,
) {
  for await (const item of given) {
    await make(what(item), async () => {})
    if (signal?.aborted) return
    yield item
  }
}

/** The members of an argument that the trace shows. */
const SHOWN = [
  'type',
  'subject',
  'consumer',
  'collection',
  'name',
  'generation',
  'id',
  'doc',
  'revision',
  'position',
]

function shown(argument: unknown): string {
  // A sealed value contains a random nonce.
  if (typeof argument === 'string' && /^\w+\.[\w-]{100,}$/.test(argument)) return 'sealed'
  if (Array.isArray(argument)) return argument.map(shown).join(', ')
  if (typeof argument !== 'object' || argument === null) return String(argument)
  const members = argument as Record<string, unknown>
  return SHOWN.flatMap(name =>
    members[name] === undefined ? [] : name === 'doc' ? (members.doc ? [] : 'no') : shown(members[name]),
  ).join(' ')
}

/**
 * A store whose calls wait until the history continues them.
 * @param own methods in place of those of the store
 * @param writing methods that change documents
 */
function delayed<Store extends object>(
  store: Store,
  make: Make,
  own: Partial<Store>,
  writing: readonly PropertyKey[] = [],
): Store {
  return new Proxy(store, {
    get(_, name) {
      const key = name as keyof Store
      if (key in own) return own[key]
      const method: unknown = store[key]
      if (typeof method !== 'function') return method
      return (...given: unknown[]) =>
        make(`${String(name)} ${shown(given)}`, () => method.apply(store, given), writing.includes(name))
    },
  })
}

const eventStoreOf = (store: EventStore, make: Make): EventStore =>
  delayed(store, make, {
    readAll: options => items(store.readAll(options), make, ({ type }) => `read ${type} of the log`),
    subscribe: options =>
      items(
        store.subscribe(options),
        make,
        item => (item.kind === 'event' ? `gives ${item.event.type} ${place(item.event)}` : item.kind),
        options.signal,
      ),
    close: async () => {},
  })

const place = ({ stream, revision }: { stream: string; revision: number }) => `${stream}@${revision}`

function readModelsOf(store: ReadModelStore, make: Make): ReadModelStore {
  const named =
    (name: string): Make =>
    (what, ...rest) =>
      make(`${name} ${what}`, ...rest)
  const own: Partial<ReadModelStore> = {
    collection(definition) {
      const collection = store.collection(definition)
      const name = nameOf(definition)
      const ids = () => items(collection.ids(), make, id => `id ${name}/${id}`)
      return delayed(collection, named(name), { ids }, ['put', 'remove'])
    },
    checkpoints: delayed(store.checkpoints, named('checkpoints'), {}),
    leases: delayed(store.leases, named('leases'), {}),
    close: async () => {},
  }
  return delayed(store, make, own, ['write'])
}

const nameOf = ({ name, generation = 0 }: CollectionName) =>
  generation === 0 ? name : `${name}~${generation}`

const busOf = (bus: Bus, make: Make): Bus =>
  delayed(bus, make, {
    read: options => items(bus.read(options), make, ({ subject }) => `reads ${subject}`, options.signal),
    listen: (subject, handler) => bus.listen(subject, handler),
    close: async () => {},
  })

const peersOf = (peers: Peers, make: Make): Peers => ({
  ask: (request, asked) =>
    // Reads share a request for names: one that is made directly would wait for another that the history delays.
    request.id === requests.userNames.id
      ? peers.ask(request, asked)
      : make(`request ${request.id}`, () => peers.ask(request, asked)),
  answer: peers.answer,
})

const blobsOf = (blobs: BlobStore, make: Make): BlobStore =>
  delayed(blobs, make, {
    draft: async () => delayed(await make('draft', () => blobs.draft()), make, {}),
    keys: () => items(blobs.keys(), make, key => `key ${key}`),
    close: async () => {},
  })

/** The trace has no keys, which are random. */
const userKeysOf = (store: UserKeys, make: Make): UserKeys =>
  delayed(store, make, {
    add: (user, key) => make(`add a key of ${user}`, () => store.add(user, key)),
    replace: (user, key, by) => make(`replace the key of ${user}`, () => store.replace(user, key, by)),
    erased: () => store.erased(),
    ping: () => store.ping(),
    close: async () => {},
  })
