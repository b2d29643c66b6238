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
}

/** Which server it is: MongoDB unless it says otherwise. */
export function serverOf({ version, ferretdbVersion, ferretdb }: BuildInfo): Server {
  const like = `which is like MongoDB ${version}`
  if (ferretdb) return { name: `FerretDB ${ferretdb.version ?? '2'}, ${like}`, usesIndexes: true }
  if (ferretdbVersion) return { name: `FerretDB ${ferretdbVersion}, ${like}`, usesIndexes: false }
  return { name: `MongoDB ${version}`, usesIndexes: true }
}
