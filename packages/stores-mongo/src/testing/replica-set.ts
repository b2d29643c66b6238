import { setTimeout } from 'node:timers/promises'
import { MongoClient, MongoServerError } from 'mongodb'

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
