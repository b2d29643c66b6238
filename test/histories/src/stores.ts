import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteReadModels } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { inMemoryLog } from '@gantry/event-sourcing/testing'
import { type InMemoryBroker, inMemoryBroker } from '@gantry/messaging/testing'
import type { BlobStore, CollectionDefinition, Document, ReadModels } from '@gantry/read-models'

/** The read models of a service, with a record of the writes of projections. */
export interface Projected {
  readModels: ReadModels
  /** Documents by collection and id, of the collections that projections write to. */
  documents(): Promise<Record<string, Record<string, Document>>>
  /** Position of each projector, by the name of its checkpoint. */
  progress: ReadonlyMap<string, string>
  close(): Promise<void>
}

/** What the replicas of a service share. */
export interface Stores {
  eventStore: EventStore
  broker: InMemoryBroker
  blobs: BlobStore
  projected: Projected
}

/** A folder in memory if the system has one. A history opens two files, and fsync would take most of its time. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const openStores = (): Stores => ({
  eventStore: inMemoryLog().connect(),
  broker: inMemoryBroker(),
  blobs: inMemoryBlobs(),
  projected: openReadModels(),
})

export function openReadModels(): Projected {
  const folder = mkdtempSync(join(FOLDER, 'gantry-histories-'))
  const store = sqliteReadModels({ path: join(folder, 'read-models.db'), now: () => new Date() })
  const collections = new Map<string, CollectionDefinition<Document>>()
  const progress = new Map<string, string>()
  return {
    progress,
    readModels: {
      ...store,
      async write(writes, checkpoint) {
        await store.write(writes, checkpoint)
        for (const { collection } of writes) collections.set(collection.name, collection)
        if (checkpoint) progress.set(checkpoint.name, checkpoint.position)
      },
    },
    async documents() {
      const all: Record<string, Record<string, Document>> = {}
      for (const [name, definition] of collections) {
        const collection = store.collection(definition)
        const documents: Record<string, Document> = {}
        for await (const id of collection.ids()) {
          const stored = await collection.get(id)
          if (stored) documents[id] = stored.doc
        }
        all[name] = documents
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
    async draft() {
      const pieces: Uint8Array[] = []
      return {
        write: async piece => void pieces.push(Uint8Array.from(piece)),
        bytes: async () => Buffer.concat(pieces),
        commit: async key => void blobs.set(key, Buffer.concat(pieces)),
        discard: async () => void pieces.splice(0),
      }
    },
    get: async key => blobs.get(key),
    delete: async key => void blobs.delete(key),
    async *keys() {
      yield* [...blobs.keys()]
    },
    async close() {},
  }
}
