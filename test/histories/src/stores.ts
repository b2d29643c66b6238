import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteReadModelStore } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { inMemoryLog } from '@gantry/event-sourcing/testing'
import { type InMemoryBroker, inMemoryBroker } from '@gantry/messaging/testing'
import { localPeers, type Peers } from '@gantry/service-runtime'
import {
  type BlobStore,
  type CollectionDefinition,
  type CollectionName,
  type Document,
  type Generations,
  type ReadModelStore,
  type ReadModels,
  type UserKey,
  type UserKeys,
  withGenerations,
} from '@gantry/stores'

/** The read models of a service, with a record of the writes of projections. */
export interface Projected {
  /** What each replica makes its read models of. */
  store: ReadModelStore
  /** The read models for an operator. */
  readModels: ReadModels
  /** Documents by collection and id, of the live generations of the collections that projections write to. */
  documents(): Promise<Record<string, Record<string, Document>>>
  /** Whether the live generation of a projector has all events up to a position, and no other one is written. */
  hasProjected(projector: string, head: string): boolean
  close(): Promise<void>
}

/** What the replicas of a service share. */
export interface Stores {
  eventStore: EventStore
  broker: InMemoryBroker
  /** The other services. */
  peers: Peers
  blobs: BlobStore
  userKeys: UserKeys
  projected: Projected
}

/** A folder in memory if the system has one. A history opens two files, and fsync would take most of its time. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const openStores = (): Stores => ({
  eventStore: inMemoryLog().connect(),
  broker: inMemoryBroker(),
  peers: localPeers(),
  blobs: inMemoryBlobs(),
  userKeys: inMemoryUserKeys(),
  projected: openReadModels(),
})

export function openReadModels(): Projected {
  const folder = mkdtempSync(join(FOLDER, 'gantry-histories-'))
  const store = sqliteReadModelStore({ path: join(folder, 'read-models.db'), now: () => new Date() })
  const collections = new Map<string, CollectionDefinition<Document>>()
  const progress = new Map<string, string>()
  const generations = new Map<string, Generations>()
  const liveOf = (id: string) => generations.get(id)?.live ?? 0
  /** Whether it belongs to the live generation of a projector. The id of a projector names its collections. */
  const isLive = ({ name, version, generation }: CollectionName) =>
    [...generations.keys()].some(
      id => id.split(' ').includes(`${name}@${version}`) && generation === liveOf(id),
    )
  const recording: ReadModelStore = {
    ...store,
    async write(writes, checkpoint) {
      await store.write(writes, checkpoint)
      for (const { collection } of writes)
        collections.set(`${collection.name}~${collection.generation}`, collection)
      if (checkpoint) progress.set(checkpoint.name, checkpoint.position)
    },
    checkpoints: {
      ...store.checkpoints,
      async save(name, position, lease) {
        await store.checkpoints.save(name, position, lease)
        const [, id] = /^(.*)\.generations$/.exec(name) ?? []
        if (id) generations.set(id, JSON.parse(position) as Generations)
      },
    },
  }
  return {
    store: recording,
    readModels: withGenerations(recording, { knownForMs: 0, writtenWithinMs: 0 }),
    hasProjected(projector, head) {
      const id = [...generations.keys()].find(id => id.startsWith(`${projector} `))
      if (id === undefined) return false
      const { live, written } = generations.get(id) as Generations
      const position = progress.get(live === 0 ? id : `${id}~${live}`)
      return written.length === 1 && position !== undefined && position >= head
    },
    async documents() {
      const all: Record<string, Record<string, Document>> = {}
      for (const definition of [...collections.values()].filter(isLive)) {
        const collection = store.collection(definition)
        const documents: Record<string, Document> = {}
        for await (const id of collection.ids()) {
          const stored = await collection.get(id)
          if (stored) documents[id] = stored.doc
        }
        all[definition.name] = documents
      }
      return all
    },
    async close() {
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function inMemoryBlobs(): BlobStore {
  const blobs = new Map<string, Uint8Array>()
  return {
    put: async (key, bytes) => void blobs.set(key, bytes),
    async removeAbandoned() {},
    async draft() {
      const pieces: Uint8Array[] = []
      return {
        write: async piece => void pieces.push(Uint8Array.from(piece)),
        bytes: async () => Buffer.concat(pieces),
        commit: async key => void blobs.set(key, Buffer.concat(pieces)),
        discard: async () => void pieces.splice(0),
      }
    },
    get: async (key, range) => blobs.get(key)?.subarray(range?.from, range?.to),
    delete: async key => void blobs.delete(key),
    async *keys() {
      yield* [...blobs.keys()]
    },
    async close() {},
  }
}

function inMemoryUserKeys(): UserKeys {
  const keys = new Map<string, UserKey>()
  return {
    get: async user => keys.get(user),
    async add(user, key) {
      const stored = keys.get(user) ?? { key, erasedAt: null }
      keys.set(user, stored)
      return stored
    },
    list: async (after, limit) =>
      [...keys]
        .flatMap(([user, { key }]) => (key !== null && user > after ? [{ user, key }] : []))
        .toSorted((a, b) => (a.user < b.user ? -1 : 1))
        .slice(0, limit),
    async replace(user, key, by) {
      if (keys.get(user)?.key !== key) return false
      keys.set(user, { key: by, erasedAt: null })
      return true
    },
    async erase(user, at) {
      const erasedAt = keys.get(user)?.erasedAt ?? at
      keys.set(user, { key: null, erasedAt })
      return erasedAt
    },
    async *erased() {
      for (const [user, { erasedAt }] of keys) if (erasedAt !== null) yield { user, erasedAt }
    },
    async ping() {},
    async close() {},
  }
}
