import { type FileHandle, open, rm } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { DataFolderRefused, type FileKind, inspectFiles } from './sqlite-file.ts'

/** Called after each step with the part that is copied, from 0 to 1, and the size of the file in bytes. */
export type CopyProgress = (done: number, bytes: number) => void

const STEP_PAGES = 100
const PAGE_BYTES = 4_096
/** Pages after which the copy is synced while it goes on, 32 MiB. */
const SYNC_PAGES = 8_192

/**
 * Copies the database of a connection into a new file, while the connection is used. The file contains all commits that the
 * connection has made when the promise resolves, and is durable. A failure leaves no file.
 * @param progress ends the copy if it throws
 */
async function copyDatabase(db: DatabaseSync, path: string, progress: CopyProgress): Promise<void> {
  const copy = await open(path, 'wx', 0o600)
  try {
    const syncInSteps = stepwiseSync(copy)
    await backup(db, path, {
      rate: STEP_PAGES,
      progress({ totalPages, remainingPages }) {
        const copied = totalPages - remainingPages
        progress(copied / totalPages, totalPages * PAGE_BYTES)
        syncInSteps(copied)
      },
    })
    await copy.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await copy.close()
  }
}

/** Syncs the copy while it grows: SQLite syncs it in the last step, during which the connection cannot commit. */
function stepwiseSync(copy: FileHandle): (pages: number) => void {
  let synced = 0
  let isSyncing = false
  return pages => {
    if (isSyncing || pages - synced < SYNC_PAGES) return
    isSyncing = true
    synced = pages
    copy
      .datasync()
      // A failure appears again in the sync of SQLite.
      .catch(() => {})
      .finally(() => {
        isSyncing = false
      })
  }
}

/** Copies of the database of a connection. They are ended before it is closed. */
export function copies(db: DatabaseSync): {
  copyTo(path: string, progress?: CopyProgress): Promise<void>
  end(): Promise<void>
} {
  const running = new Set<Promise<void>>()
  let isEnding = false
  return {
    async copyTo(path, progress = () => {}) {
      const copy = copyDatabase(db, path, (done, bytes) => {
        if (isEnding) throw new Error('the process is shutting down')
        progress(done, bytes)
      })
      running.add(copy)
      try {
        await copy
      } finally {
        running.delete(copy)
      }
    },
    async end() {
      isEnding = true
      await Promise.allSettled(running)
    },
  }
}

/**
 * Reads a whole copy to find damage, without changing it.
 * @throws DataFolderRefused when it is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function verifyCopy(kind: FileKind, path: string): void {
  inspectFiles({ [kind]: path })
  const db = new DatabaseSync(new URL(`${pathToFileURL(path)}?immutable=1`), { readOnly: true })
  try {
    const found = String(db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check)
    if (found !== 'ok') throw new DataFolderRefused(path, `is damaged: ${found.split('\n').at(-1)}`)
  } finally {
    db.close()
  }
}

/**
 * Creates a file and locks it until the returned function is first called, or the process ends.
 * @throws DataFolderRefused when another process has locked it
 */
export function lockFile(path: string): () => void {
  const db = new DatabaseSync(path)
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch {
    db.close()
    throw new DataFolderRefused(path, 'is in use by another process')
  }
  return () => {
    if (db.isOpen) db.close()
  }
}
