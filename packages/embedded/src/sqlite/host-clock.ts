import type { DatabaseSync } from 'node:sqlite'

/**
 * The clock of the host as SQLite reads it, shared by all processes that use the file.
 * @returns a function that returns the milliseconds since 1970
 */
export function hostClock(db: DatabaseSync): () => number {
  const time = db.prepare("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS ms")
  return () => Number(time.get()?.ms)
}
