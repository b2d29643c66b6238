import type { Collection, Db, Document, IndexDescription } from 'mongodb'

/** The fields of the answer to `buildInfo` that distinguish servers. */
export interface BuildInfo {
  version: string
  /** Set by FerretDB 1. */
  ferretdbVersion?: string
  /** Set by FerretDB 2, which uses PostgreSQL with DocumentDB. */
  ferretdb?: { version?: string }
}

export interface Server {
  /** Name and version, for operators. */
  name: string
  /** Whether the server uses indexes. FerretDB 1 reads all documents for every query. */
  usesIndexes: boolean
  /** Whether an aggregation unwinds arrays in embedded documents. FerretDB finds none. */
  unwindsFields: boolean
  /** Maximum number of documents that one request changes. Does not apply to inserts. */
  changesPerRequest: number
}

/**
 * Maximum number of documents per request. The answer must arrive within the socket timeout, and some servers take
 * milliseconds per document.
 */
export const PIECE = 200
/**
 * The limit for FerretDB 1, which holds one of its 100 connections to SQLite per change until the request ends, and stops
 * answering when none is left. Several projectors and command handlers write concurrently.
 */
const FEW = 10

/** Determines the server: MongoDB unless the answer says otherwise. */
export function serverOf({ version, ferretdbVersion, ferretdb }: BuildInfo): Server {
  const like = `compatible with MongoDB ${version}`
  if (ferretdb)
    return {
      name: `FerretDB ${ferretdb.version ?? '2'}, ${like}`,
      usesIndexes: true,
      unwindsFields: false,
      changesPerRequest: PIECE,
    }
  if (ferretdbVersion)
    return {
      name: `FerretDB ${ferretdbVersion}, ${like}`,
      usesIndexes: false,
      unwindsFields: false,
      changesPerRequest: FEW,
    }
  return { name: `MongoDB ${version}`, usesIndexes: true, unwindsFields: true, changesPerRequest: PIECE }
}

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
