import type { DatabaseSync } from 'node:sqlite'
import { type Disk, DiskFull } from './disk.ts'

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
  tell: (() => void)[]
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

export function groupCommit(
  db: DatabaseSync,
  { committed, path, disk, sync }: GroupCommitOptions,
): GroupCommit {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let waiting: Waiting[] = []
  let unsynced: Committed[] = []
  let syncing: Promise<void> | undefined
  /**
   * Set after a failed sync other than on a full disk: the kernel may have dropped pages, so no later sync can be trusted.
   */
  let broken: { error: unknown } | undefined

  const rejectAll = (group: Committed['group'], error: unknown) => {
    for (const job of group) job.reject(error)
  }

  const tellAll = (commits: Committed[]) => {
    committed()
    for (const { tell } of commits) for (const done of tell) done()
  }

  /** @returns the reason why the commits so far are not durable; undefined when they are */
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
