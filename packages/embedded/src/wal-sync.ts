import { close, closeSync, fdatasync, fdatasyncSync, open, openSync, readSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import type { Disk } from './disk.ts'

const openFile = promisify(open)
const closeFile = promisify(close)

/** Syncs the commits to a database in WAL mode to the disk, off the event loop. */
export interface WalSync {
  /** Resolves when every commit made before the call survives a power loss. Calls must not overlap. */
  (): Promise<void>
  close(): Promise<void>
}

/**
 * Does what `synchronous = FULL` does within a commit, but without blocking the process. At NORMAL, SQLite does not sync the
 * log between checkpoints (https://sqlite.org/pragma.html#pragma_synchronous), and a commit is durable when the log is
 * synced. Commits made during one sync share the next.
 */
export function walSync(db: DatabaseSync, path: string, syncData = promisify(fdatasync)): WalSync {
  let fd: number | undefined
  let failed = false
  const sync = async () => {
    fd ??= await openFile(logOf(path), 'r+')
    if (failed) writeAgain(db, fd)
    failed = true
    await syncData(fd)
    failed = false
  }
  return Object.assign(sync, {
    async close() {
      if (fd !== undefined) await closeFile(fd)
      fd = undefined
    },
  })
}

/**
 * Syncs synchronously, at the start: for commits that an earlier process did not sync, or failed to sync.
 * @throws DiskFull
 */
export function syncWalNow(db: DatabaseSync, path: string, disk: Disk): void {
  let fd: number | undefined
  try {
    fd = openSync(logOf(path), 'r+')
    writeAgain(db, fd)
    fdatasyncSync(fd)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw disk.unsynced(path, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const logOf = (path: string) => `${path}-wal`

/**
 * Overwrites the log with its own bytes. Linux marks pages as clean after it failed to write them, so that another fdatasync
 * succeeds without writing them. https://lwn.net/Articles/752063/
 */
function writeAgain(db: DatabaseSync, fd: number): void {
  const bytes = Buffer.allocUnsafe(1_048_576)
  // Prevents other processes from writing to the log meanwhile.
  db.exec('BEGIN IMMEDIATE')
  try {
    for (let at = 0; ; ) {
      const read = readSync(fd, bytes, 0, bytes.length, at)
      if (read === 0) return
      at += writeSync(fd, bytes, 0, read, at)
    }
  } finally {
    db.exec('COMMIT')
  }
}
