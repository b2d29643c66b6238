import { setTimeout } from 'node:timers/promises'
import type { Checkpoints } from '@gantry/stores'
import { MongoClient, MongoServerError } from 'mongodb'
import { PROGRESS, type Progress } from '../connection/progress.ts'
import { type MongoOptions, openClient } from '../connection/settings.ts'
import { mongoCheckpoints } from '../read-models/checkpoints.ts'

/** Accesses the database of a URL without the adapter. */
export function inspectDatabase(options: MongoOptions) {
  const { client, database } = openClient(options)
  const db = client.db(database)
  return {
    collections: async () =>
      (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
    count: (collection: string) => db.collection(collection).countDocuments(),
    /** Keys of the indexes, e.g. `live 1, doc.name -1, _id 1`. */
    async indexes(collection: string) {
      const indexes = await db.collection(collection).listIndexes().toArray()
      return indexes.map(({ key }) =>
        Object.entries(key)
          .map(part => part.join(' '))
          .join(', '),
      )
    },
    /** Drops the whole database. */
    drop: async () => void (await db.dropDatabase()),
    close: () => client.close(),
  }
}

const ALREADY_INITIALIZED = 23
const PRIMARY_MS = 30_000

/** Initiates a replica set of the single server at a URL, and waits until it is the primary. */
export async function initiateReplicaSet(url: string): Promise<void> {
  const client = new MongoClient(url, { directConnection: true })
  try {
    const admin = client.db('admin')
    try {
      await admin.command({ replSetInitiate: {} })
    } catch (error) {
      if (!(error instanceof MongoServerError && error.code === ALREADY_INITIALIZED)) throw error
    }
    const deadline = Date.now() + PRIMARY_MS
    while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
      if (Date.now() > deadline) throw new Error('the replica set has no primary')
      await setTimeout(50)
    }
  } finally {
    await client.close()
  }
}

/** Checkpoints of a process that is paused before each write, until `meanwhile` has resolved. */
export function pausedCheckpoints(
  options: MongoOptions,
  meanwhile: () => Promise<void>,
): Checkpoints & { close(): Promise<void> } {
  const { client, database } = openClient(options)
  const progress = client.db(database).collection<Progress>(PROGRESS)
  const updateOne: typeof progress.updateOne = async (...change) => {
    await meanwhile()
    return progress.updateOne(...change)
  }
  return {
    ...mongoCheckpoints(Object.assign(Object.create(progress), { updateOne })),
    close: () => client.close(),
  }
}
