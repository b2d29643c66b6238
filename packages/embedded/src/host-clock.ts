import type { DatabaseSync } from 'node:sqlite'

/**
 * The clock of the host as SQLite reads it, in milliseconds since 1970: what processes on one file compare times by.
 * @returns a function that tells the time
 */
export function hostClock(db: DatabaseSync): () => number {
  const time = db.prepare("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS ms")
  return () => Number(time.get()?.ms)
}
