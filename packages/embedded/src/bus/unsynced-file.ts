import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Changes } from '../sqlite/changes.ts'
import type { Disk } from '../sqlite/disk.ts'
import { type GroupCommit, groupCommit } from '../sqlite/group-commit.ts'
import { hostClock } from '../sqlite/host-clock.ts'

/**
 * The file of a bus for broadcasts and requests. Commits survive the death of the process but
 * not a power loss: no commit waits for the disk.
 */
export interface UnsyncedFile {
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

/** @param db a connection of its own, without syncs */
export function unsyncedFile(
  db: DatabaseSync,
  { path, disk, changes, closing }: { path: string; disk: Disk } & Pick<UnsyncedFile, 'changes' | 'closing'>,
): UnsyncedFile {
  return {
    db,
    commits: groupCommit(db, { committed() {}, path, disk }),
    write(statement) {
      try {
        return statement()
      } catch (error) {
        throw disk.failed(path, error)
      }
    },
    changes,
    closing,
    time: hostClock(db),
    instance: randomUUID(),
  }
}
