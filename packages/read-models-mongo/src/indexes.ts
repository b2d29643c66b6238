import type { Collection, Db, Document, IndexDescription } from 'mongodb'

/**
 * Makes indexes that are not there. On a replica set they count as made when a majority has them, as with every other
 * write: by default the server waits for all members that vote, so for ever while one of them is down. Servers of no
 * replica set refuse a quorum.
 */
export async function makeIndexes<D extends Document>(
  db: Db,
  collection: Collection<D>,
  indexes: IndexDescription[],
): Promise<void> {
  const { setName } = await db.command({ hello: 1 })
  await collection.createIndexes(indexes, setName ? { commitQuorum: 'majority' } : {})
}
