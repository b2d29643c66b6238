import type { DatabaseSync } from 'node:sqlite'
import { type Disk, DiskFull } from './disk.ts'

export interface GroupCommit {
  /**
   * Runs the job in a transaction with all others of the same turn of the event loop: one fsync for all of them.
   * A job that throws fails alone, so it must throw before it writes; an error of SQLite fails the whole group.
   * @returns what the job returned, once it is committed, and durable where that is asked for
   * @throws DiskFull when the disk takes no more; a commit may be there all the same, and durable later
   */
  run<T>(job: () => T): Promise<T>
  /** Commits what waits, now. */
  flush(): void
  /** Resolves when everything committed before the call is durable. */
  synced(): Promise<void>
  /** Resolves when all that was committed is durable and told. */
  settled(): Promise<void>
  /** Whether a sync is under way, after which `committed` is called. */
  isSyncing(): boolean
}

interface Waiting {
  /** Runs the job; what it returns tells the caller once the group is committed. */
  run(): () => void
  reject(error: unknown): void
}

interface Committed {
  tell: (() => void)[]
  group: Pick<Waiting, 'reject'>[]
}

export interface GroupCommitOptions {
  /** Called after each commit, once it is durable, before anyone who waits for it goes on. */
  committed(): void
  /** The database file, and the disk that judges its failures. */
  path: string
  disk: Disk
  /** Makes durable what is committed so far; left out where the commit itself does, or where nothing need be. */
  sync?(): Promise<void>
}

export function groupCommit(
  db: DatabaseSync,
  { committed, path, disk, sync }: GroupCommitOptions,
): GroupCommit {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let waiting: Waiting[] = []
  let unsynced: Committed[] = []
  let syncing: Promise<void> | undefined
  /** A disk that once failed to sync may have dropped what it should have written: nothing after it can be believed. */
  let broken: { error: unknown } | undefined

  const rejectAll = (group: Committed['group'], error: unknown) => {
    for (const job of group) job.reject(error)
  }

  const tellAll = (commits: Committed[]) => {
    committed()
    for (const { tell } of commits) for (const done of tell) done()
  }

  /** @returns why what is committed so far is not durable; undefined when it is */
  const failureOf = async (sync: () => Promise<void>): Promise<{ error: unknown } | undefined> => {
    if (broken) return broken
    try {
      await sync()
      return undefined
    } catch (cause) {
      const error = disk.unsynced(path, cause)
      if (!(error instanceof DiskFull)) broken = { error }
      return { error }
    }
  }

  const makeDurable = async (sync: () => Promise<void>) => {
    while (unsynced.length > 0) {
      const commits = unsynced
      unsynced = []
      const failure = await failureOf(sync)
      if (failure) for (const { group } of commits) rejectAll(group, failure.error)
      else tellAll(commits)
    }
    syncing = undefined
  }

  const flush = () => {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    if (broken) return rejectAll(group, broken.error)
    let tell: (() => void)[]
    try {
      begin.run()
      tell = group.map(job => job.run())
      commit.run()
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('ROLLBACK')
      return rejectAll(group, disk.failed(path, error))
    }
    if (!sync) return tellAll([{ tell, group }])
    unsynced.push({ tell, group })
    syncing ??= makeDurable(sync)
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
    if (!sync) return
    await new Promise<void>((resolve, reject) => {
      unsynced.push({ tell: [resolve], group: [{ reject }] })
      syncing ??= makeDurable(sync)
    })
  }

  return { run, flush, synced, settled: async () => syncing, isSyncing: () => syncing !== undefined }
}

const isSqliteError = (error: unknown) => error instanceof Error && 'errcode' in error
