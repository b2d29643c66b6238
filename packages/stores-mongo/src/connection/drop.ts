import { connect } from './connection.ts'
import { PROGRESS } from './progress.ts'
import type { MongoOptions } from './settings.ts'

/**
 * Collections that are not built from the log: bytes of images, keys of users, and collections of the server itself.
 */
const KEPT = /^(blobs\.|system\.|user_keys$)/

/**
 * Drops everything in the database that is built from the log: documents, positions and leases. No process may use it. The
 * leases are dropped last: the caller can hold them, so that processes that start meanwhile wait.
 * @returns the number of dropped collections
 * @throws ReadModelsUnavailable
 */
export async function dropReadModels(options: MongoOptions): Promise<number> {
  const { db, run, close } = connect(options)
  try {
    return await run(async () => {
      const collections = await db.listCollections({}, { nameOnly: true }).toArray()
      const dropped = collections.map(({ name }) => name).filter(name => !KEPT.test(name))
      const last = dropped.filter(name => name === PROGRESS)
      for (const name of [...dropped.filter(name => name !== PROGRESS), ...last])
        await db.dropCollection(name)
      return dropped.length
    })
  } finally {
    await close()
  }
}
