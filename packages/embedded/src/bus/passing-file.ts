import type { DatabaseSync } from 'node:sqlite'
import type { Changes } from '../changes.ts'
import type { GroupCommit } from '../group-commit.ts'

/** What the parts of a bus have in common. */
export interface PassingFile {
  /** Commits here survive the death of the process, not that of the machine: none waits for the disk. */
  db: DatabaseSync
  commits: GroupCommit
  /** Runs a statement that writes, at once. @throws DiskFull when the disk takes no more */
  write<T>(statement: () => T): T
  changes: Changes
  /** Aborted when the bus closes. */
  closing: AbortSignal
  /** Milliseconds since 1970, the same for all buses on the file. */
  time(): number
  /** Tells this bus from others on the same file. */
  instance: string
}
