import type { Collection, Db, Document, IndexDescription } from 'mongodb'

/**
 * Creates missing indexes. On a replica set it waits for a majority, as every other write does. MongoDB's default is to wait
 * for all voting members, so it would not return while one of them is down. Other servers refuse a quorum.
 */
export async function makeIndexes<D extends Document>(
  db: Db,
  collection: Collection<D>,
  indexes: IndexDescription[],
): Promise<void> {
  const { setName } = await db.command({ hello: 1 })
  await collection.createIndexes(indexes, setName ? { commitQuorum: 'majority' } : {})
}
