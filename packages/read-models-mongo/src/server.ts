/** What of the answer to `buildInfo` tells one server from another. */
export interface BuildInfo {
  version: string
  /** FerretDB 1. */
  ferretdbVersion?: string
  /** FerretDB 2, which stores in PostgreSQL with DocumentDB. */
  ferretdb?: { version?: string }
}

export interface Server {
  /** With its version, for the operator. */
  name: string
  /** Whether indexes help it: FerretDB 1 reads all documents for a query whatever there is. */
  usesIndexes: boolean
  /** How many documents one request may change. Inserts have no such limit. */
  changesPerRequest: number
}

/** An answer has to come within the time limit of a socket, and some servers take milliseconds for each document. */
export const PIECE = 200
/**
 * FerretDB 1 keeps one of its 100 connections to SQLite for each change until the request ends. When none is left, it
 * answers nothing any more. Several projectors and command handlers write at a time.
 */
const FEW = 10

/** Which server it is: MongoDB unless it says otherwise. */
export function serverOf({ version, ferretdbVersion, ferretdb }: BuildInfo): Server {
  const like = `which is like MongoDB ${version}`
  if (ferretdb)
    return {
      name: `FerretDB ${ferretdb.version ?? '2'}, ${like}`,
      usesIndexes: true,
      changesPerRequest: PIECE,
    }
  if (ferretdbVersion)
    return { name: `FerretDB ${ferretdbVersion}, ${like}`, usesIndexes: false, changesPerRequest: FEW }
  return { name: `MongoDB ${version}`, usesIndexes: true, changesPerRequest: PIECE }
}
