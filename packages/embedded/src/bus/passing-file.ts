import type { DatabaseSync } from 'node:sqlite'
import type { Changes } from '../changes.ts'
import type { GroupCommit } from '../group-commit.ts'

/** What the parts of a bus share. */
export interface PassingFile {
  /** A connection whose commits survive the death of the process but not a power loss: no commit waits for the disk. */
  db: DatabaseSync
  commits: GroupCommit
  /** Runs a writing statement immediately, outside of the group commit. @throws DiskFull when the disk is full */
  write<T>(statement: () => T): T
  changes: Changes
  /** Aborted when the bus closes. */
  closing: AbortSignal
  /** Time in milliseconds since 1970, from the same clock for all buses on the file. */
  time(): number
  /** Unique id of this bus among those on the same file. */
  instance: string
}
