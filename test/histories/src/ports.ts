import { subjects } from '@gantry/contracts'
import type { EventStore } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import {
  type BlobStore,
  type Collection,
  type CollectionName,
  type Document,
  type ReadModelStore,
  type ReadModels,
  type UserKeys,
  type Write,
  withGenerations,
} from '@gantry/read-models'
import type { Caller, Calls, Port } from './calls.ts'
import type { Stores } from './stores.ts'

/** The ports of a replica. */
export interface Ports {
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
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

function eventStoreOf(store: EventStore, make: Make): EventStore {
  return {
    system: store.system,
    append: (stream, events, expected) =>
      make(`append ${events.map(({ type }) => type)} to ${stream} after ${expected}`, () =>
        store.append(stream, events, expected),
      ),
    readStream: (stream, from) =>
      make(`read ${stream} from ${from ?? 0}`, () => store.readStream(stream, from)),
    readLast: stream => make(`read the last of ${stream}`, () => store.readLast(stream)),
    readAll: options => items(store.readAll(options), make, ({ type }) => `read ${type} of the log`),
    subscribe: options =>
      items(
        store.subscribe(options),
        make,
        item => (item.kind === 'event' ? `gives ${item.event.type} ${place(item.event)}` : item.kind),
        options.signal,
      ),
    remove: (stream, expected) =>
      make(`remove ${stream} at ${expected}`, () => store.remove(stream, expected)),
    saveSnapshot: (stream, snapshot) =>
      make(`save snapshot of ${stream} at ${snapshot.revision}`, () => store.saveSnapshot(stream, snapshot)),
    readSnapshot: stream => make(`read snapshot of ${stream}`, () => store.readSnapshot(stream)),
    head: () => make('head', () => store.head()),
    close: async () => {},
  }
}

const place = ({ stream, revision }: { stream: string; revision: number }) => `${stream}@${revision}`

function readModelsOf(store: ReadModelStore, make: Make): ReadModelStore {
  const { checkpoints, leases } = store
  return {
    collection: definition => collectionOf(nameOf(definition), store.collection(definition), make),
    write: (writes, checkpoint) =>
      make(
        `write ${[...writes.map(written), ...(checkpoint ? [`checkpoint ${Number(checkpoint.position)}`] : [])]}`,
        () => store.write(writes, checkpoint),
        true,
      ),
    checkpoints: {
      get: name => make(`get checkpoint ${name}`, () => checkpoints.get(name)),
      save: (name, position, lease) =>
        make(`save checkpoint ${name}`, () => checkpoints.save(name, position, lease)),
      clear: name => make(`clear checkpoint ${name}`, () => checkpoints.clear(name)),
    },
    leases: {
      acquire: (name, holder, ttlMs) =>
        make(`acquire lease ${name}`, () => leases.acquire(name, holder, ttlMs)),
      release: lease => make(`release lease ${lease.name}`, () => leases.release(lease)),
    },
    drop: definition => make(`drop ${nameOf(definition)}`, () => store.drop(definition)),
    discard: definition => make(`discard ${nameOf(definition)}`, () => store.discard(definition)),
    purge: () => make('purge', () => store.purge()),
    ping: () => make('ping', () => store.ping()),
    time: () => make('time', () => store.time()),
    close: async () => {},
  }
}

const nameOf = ({ name, generation = 0 }: CollectionName) =>
  generation === 0 ? name : `${name}~${generation}`

const written = ({ collection, id, doc, revision }: Write) =>
  `${doc ? '' : 'no '}${nameOf(collection)}/${id}@${revision}`

function collectionOf<D extends Document>(
  name: string,
  collection: Collection<D>,
  make: Make,
): Collection<D> {
  return {
    get: id => make(`get ${name}/${id}`, () => collection.get(id)),
    latest: id => make(`latest ${name}/${id}`, () => collection.latest(id)),
    getMany: ids => make(`get ${name}/${ids}`, () => collection.getMany(ids)),
    existing: ids => make(`which there are of ${name}/${ids}`, () => collection.existing(ids)),
    find: query => make(`find ${name}`, () => collection.find(query)),
    list: query => make(`list ${name}`, () => collection.list(query)),
    count: filter => make(`count ${name}`, () => collection.count(filter)),
    facet: (filter, field, limit) =>
      make(`facet ${field} of ${name}`, () => collection.facet(filter, field, limit)),
    ids: () => items(collection.ids(), make, id => `id ${name}/${id}`),
    put: (doc, revision) =>
      make(`put ${name}/${doc.id}@${revision}`, () => collection.put(doc, revision), true),
    remove: (id, revision) =>
      make(`remove ${name}/${id}@${revision}`, () => collection.remove(id, revision), true),
    forgetRemoved: ageMs => make(`forget removals in ${name}`, () => collection.forgetRemoved(ageMs)),
  }
}

function busOf(bus: Bus, make: Make): Bus {
  return {
    system: bus.system,
    publish: (messages, options) =>
      make(`publish ${messages.map(({ subject }) => subject)}`, () => bus.publish(messages, options)),
    last: subjects => make(`last ${subjects}`, () => bus.last(subjects)),
    async *consume(options) {
      const delivered = items(
        bus.consume(options),
        make,
        ({ message }) => `brings ${message.subject} to ${options.consumer}`,
        options.signal,
      )
      for await (const { message, ack } of delivered)
        yield { message, ack: () => make(`acknowledge ${message.subject}`, ack) }
    },
    read: options => items(bus.read(options), make, ({ subject }) => `reads ${subject}`, options.signal),
    head: () => make('head', () => bus.head()),
    backlog: options => make(`backlog of ${options.consumer}`, () => bus.backlog(options)),
    removedThrough: subjects => make(`removed ${subjects}`, () => bus.removedThrough(subjects)),
    broadcast: (subject, data) => make(`broadcast ${subject}`, () => bus.broadcast(subject, data)),
    listen: (subject, handler) => bus.listen(subject, handler),
    request: (subject, data, options) =>
      // Reads share a request for names: one that is made directly would wait for another that the history delays.
      subject === subjects.userNames
        ? bus.request(subject, data, options)
        : make(`request ${subject}`, () => bus.request(subject, data, options)),
    respond: (subject, handler) => bus.respond(subject, handler),
    ping: () => make('ping', () => bus.ping()),
    close: async () => {},
  }
}

function blobsOf(blobs: BlobStore, make: Make): BlobStore {
  return {
    put: (key, bytes) => make(`put ${key}`, () => blobs.put(key, bytes)),
    async draft() {
      const draft = await make('draft', () => blobs.draft())
      return {
        write: piece => make('write', () => draft.write(piece)),
        bytes: () => make('bytes', () => draft.bytes()),
        commit: key => make(`commit ${key}`, () => draft.commit(key)),
        discard: () => make('discard', () => draft.discard()),
      }
    },
    get: key => make(`get ${key}`, () => blobs.get(key)),
    delete: key => make(`delete ${key}`, () => blobs.delete(key)),
    keys: () => items(blobs.keys(), make, key => `key ${key}`),
    close: async () => {},
  }
}

const userKeysOf = (store: UserKeys, make: Make): UserKeys => ({
  get: user => make(`get the key of ${user}`, () => store.get(user)),
  add: (user, key) => make(`add a key of ${user}`, () => store.add(user, key)),
  list: (after, limit) => make(`list the keys of users after ${after}`, () => store.list(after, limit)),
  replace: (user, key, by) => make(`replace the key of ${user}`, () => store.replace(user, key, by)),
  erase: (user, at) => make(`erase the key of ${user}`, () => store.erase(user, at)),
  erased: () => store.erased(),
  ping: () => store.ping(),
  close: async () => {},
})
