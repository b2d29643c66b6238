import { close, closeSync, fdatasync, fdatasyncSync, open, openSync, readSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { type Disk, DiskFull } from './disk.ts'

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

export interface GroupCommit {
  /**
   * Runs the job in one transaction with all other jobs of the same turn of the event loop, so that they share one fsync. A
   * job that throws fails alone, so it must throw before it writes. An error of SQLite fails the whole group.
   * @returns the result of the job, once it is committed, and durable if there is a `sync`
   * @throws DiskFull when the disk is full; the job may be committed nevertheless, and become durable later
   */
  run<T>(job: () => T): Promise<T>
  /** Commits the waiting jobs now. */
  flush(): void
  /** Resolves when everything committed before the call is durable; rejects when the sync fails. */
  synced(): Promise<void>
  /** Resolves when all commits are durable and their callers have been notified. */
  settled(): Promise<void>
  /** Whether a sync is in progress, after which `committed` is called. */
  isSyncing(): boolean
}

interface Waiting {
  /** Runs the job. The returned function resolves the caller's promise and is called once the group is committed. */
  run(): () => void
  reject(error: unknown): void
}

interface Committed {
  resolve: (() => void)[]
  group: Pick<Waiting, 'reject'>[]
}

export interface GroupCommitOptions {
  /** Called after each commit, once it is durable, before its callers are notified. */
  committed(): void
  /** Path of the database file, for error messages. */
  path: string
  disk: Disk
  /** Makes all commits so far durable; left out when the commit itself does, or when durability is not needed. */
  sync?(): Promise<void>
}

export function groupCommit(db: DatabaseSync, options: GroupCommitOptions): GroupCommit {
  const { path, disk } = options
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const syncs = options.sync && new Syncs(options, options.sync)
  let waiting: Waiting[] = []

  const flush = () => {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    if (syncs?.broken) return rejectAll(group, syncs.broken.error)
    let resolve: (() => void)[]
    try {
      begin.run()
      resolve = group.map(job => job.run())
      commit.run()
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('ROLLBACK')
      return rejectAll(group, disk.failed(path, error))
    }
    if (syncs) syncs.add({ resolve, group })
    else resolveAll([{ resolve, group }], options.committed)
  }

  const run = <T>(job: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const settle = () => {
        try {
          const result = job()
          return () => resolve(result)
        } catch (error) {
          if (isSqliteError(error)) throw error
          return () => reject(error)
        }
      }
      if (waiting.push({ run: settle, reject }) === 1) setImmediate(flush)
    })

  const synced = async () => {
    await new Promise<void>((resolve, reject) => {
      if (syncs) syncs.add({ resolve: [resolve], group: [{ reject }] })
      else resolve()
    })
  }

  return {
    run,
    flush,
    synced,
    settled: async () => syncs?.running,
    isSyncing: () => syncs?.running !== undefined,
  }
}

/** Makes commits durable. One sync covers all commits before it. */
class Syncs {
  /** The syncs in progress; undefined when all commits are durable and their callers have been notified. */
  running: Promise<void> | undefined
  /**
   * Set after a failed sync other than on a full disk: the kernel may have dropped pages, so no later sync can be trusted.
   */
  broken: { error: unknown } | undefined
  readonly #options: GroupCommitOptions
  readonly #sync: () => Promise<void>
  #unsynced: Committed[] = []

  constructor(options: GroupCommitOptions, sync: () => Promise<void>) {
    this.#options = options
    this.#sync = sync
  }

  add(commit: Committed): void {
    this.#unsynced.push(commit)
    this.running ??= this.#run()
  }

  async #run(): Promise<void> {
    while (this.#unsynced.length > 0) {
      const commits = this.#unsynced
      this.#unsynced = []
      const failure = await this.#failureOfSync()
      if (failure) for (const { group } of commits) rejectAll(group, failure.error)
      else resolveAll(commits, this.#options.committed)
    }
    this.running = undefined
  }

  /** @returns the reason why the commits so far are not durable; undefined when they are */
  async #failureOfSync(): Promise<{ error: unknown } | undefined> {
    if (this.broken) return this.broken
    const { disk, path } = this.#options
    try {
      await this.#sync()
      return undefined
    } catch (cause) {
      const error = disk.unsynced(path, cause)
      if (!(error instanceof DiskFull)) this.broken = { error }
      return { error }
    }
  }
}

function rejectAll(group: Committed['group'], error: unknown): void {
  for (const job of group) job.reject(error)
}

function resolveAll(commits: Committed[], committed: () => void): void {
  committed()
  for (const { resolve } of commits) for (const done of resolve) done()
}

const isSqliteError = (error: unknown) => error instanceof Error && 'errcode' in error
