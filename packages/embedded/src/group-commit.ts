import type { DatabaseSync } from 'node:sqlite'

export interface GroupCommit {
  /**
   * Runs the job in a transaction with all others of the same turn of the event loop: one fsync for all of them.
   * A job that throws fails alone, so it must throw before it writes; an error of SQLite fails the whole group.
   * @returns what the job returned, once it is committed
   */
  run<T>(job: () => T): Promise<T>
  /** Commits what waits, now. */
  flush(): void
}

interface Waiting {
  /** Runs the job; what it returns tells the caller once the group is committed. */
  run(): () => void
  reject(error: unknown): void
}

/** @param committed called after each commit, before anyone who waits for it goes on */
export function groupCommit(db: DatabaseSync, committed: () => void): GroupCommit {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let waiting: Waiting[] = []

  const flush = () => {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    let tell: (() => void)[]
    try {
      begin.run()
      tell = group.map(job => job.run())
      commit.run()
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('ROLLBACK')
      for (const job of group) job.reject(error)
      return
    }
    committed()
    for (const done of tell) done()
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

  return { run, flush }
}

const isSqliteError = (error: unknown) => error instanceof Error && 'errcode' in error
