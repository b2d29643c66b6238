import { close, closeSync, fdatasync, fdatasyncSync, open, openSync } from 'node:fs'
import { promisify } from 'node:util'

const openFile = promisify(open)
const syncData = promisify(fdatasync)
const closeFile = promisify(close)

/** Brings to the disk what was committed to a database in WAL mode, off the event loop. */
export interface WalSync {
  /** Resolves when every commit made before the call survives a power loss. */
  (): Promise<void>
  close(): Promise<void>
}

/**
 * What `synchronous = FULL` does within a commit, while the process waits, done beside it: SQLite itself, at NORMAL,
 * leaves the log alone between checkpoints (https://sqlite.org/pragma.html#pragma_synchronous), and a commit is on the
 * disk when the log is. Commits made during one sync share the next.
 */
export function walSync(path: string): WalSync {
  const log = `${path}-wal`
  let fd: number | undefined
  const sync = async () => {
    fd ??= await openFile(log, 'r+')
    await syncData(fd)
  }
  return Object.assign(sync, {
    async close() {
      if (fd !== undefined) await closeFile(fd)
      fd = undefined
    },
  })
}

/** The same, now: for what a process that died may have committed and not synced. */
export function syncWalNow(path: string): void {
  let fd: number
  try {
    fd = openSync(`${path}-wal`, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  try {
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
