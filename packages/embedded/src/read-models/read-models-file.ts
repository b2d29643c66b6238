import type { DatabaseSync } from 'node:sqlite'
import { LeaseLost, ReadModelsUnavailable } from '@gantry/stores'
import type { Disk } from '../sqlite/disk.ts'
import { type GroupCommit, groupCommit } from '../sqlite/group-commit.ts'
import { FORMATS, openDatabase } from '../sqlite/sqlite-file.ts'
import { COLLECTIONS_SCHEMA } from './document-table.ts'
import { INDEXES_SCHEMA } from './index-tables.ts'
import { LEASES_SCHEMA } from './leases.ts'
import type { FileAccess } from './lists.ts'

const CHECKPOINTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoints (
    name TEXT PRIMARY KEY,
    position TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`

export function checkpointTable(db: DatabaseSync) {
  const get = db.prepare('SELECT position FROM checkpoints WHERE name = ?')
  const save = db.prepare('INSERT OR REPLACE INTO checkpoints (name, position) VALUES (?, ?)')
  const clear = db.prepare('DELETE FROM checkpoints WHERE name = ?')
  return {
    get: (name: string) => get.get(name)?.position as string | undefined,
    save: (name: string, position: string) => void save.run(name, position),
    clear: (name: string) => void clear.run(name),
  }
}

/**
 * Maximum time between the call of a write and its execution. The write of a process that was paused for longer is refused:
 * the tombstone that would have rejected it may be forgotten by then. Far longer than a write is queued, and far shorter
 * than tombstones are kept.
 */
export const PAUSED_MS = 60_000

/** SQLite's cache of pages: the default of 2 MiB has room for a part of the indexes of one collection. */
const CACHE_KIBIBYTES = 16_384

export class ReadModelsFile implements FileAccess {
  readonly db: DatabaseSync
  readonly exclusive: boolean
  readonly snapshot: FileAccess['snapshot']
  readonly #path: string
  readonly #disk: Disk
  readonly #commits: GroupCommit
  #closed = false

  constructor({ path, exclusive, disk }: { path: string; exclusive: boolean; disk: Disk }) {
    this.db = openDatabase(path, {
      kind: 'read-models',
      version: FORMATS['read-models'],
      durable: false,
      exclusive,
      schema: [COLLECTIONS_SCHEMA, INDEXES_SCHEMA, CHECKPOINTS_SCHEMA, LEASES_SCHEMA].join(';'),
    })
    // Overwrites the content of removed and replaced documents in the file.
    this.db.exec('PRAGMA secure_delete = ON')
    this.db.exec(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`)
    this.exclusive = exclusive
    this.#path = path
    this.#disk = disk
    this.#commits = groupCommit(this.db, { committed() {}, path, disk })
    const begin = this.db.prepare('BEGIN')
    const commit = this.db.prepare('COMMIT')
    // Without other processes nothing changes while a synchronous job runs.
    if (exclusive) this.snapshot = this.read
    else
      this.snapshot = job =>
        this.read(() => {
          begin.run()
          try {
            return job()
          } finally {
            commit.run()
          }
        })
  }

  readonly read = <T>(job: () => T): T => {
    if (this.#closed) throw new ReadModelsUnavailable('they are closed')
    try {
      return job()
    } catch (error) {
      throw isSqliteError(error) ? new ReadModelsUnavailable(this.#disk.failed(this.#path, error)) : error
    }
  }

  readonly tentatively = <T>(job: () => T): T =>
    this.read(() => {
      this.db.exec('BEGIN IMMEDIATE')
      try {
        return job()
      } finally {
        if (this.db.isTransaction) this.db.exec('ROLLBACK')
      }
    })

  /** @param calledAt monotonic time from which a pause of the process counts. Default: now */
  readonly write = async <T>(job: () => T, calledAt = performance.now()): Promise<T> => {
    if (this.#closed) throw new ReadModelsUnavailable('they are closed')
    try {
      return await this.#commits.run(() => {
        if (performance.now() - calledAt > PAUSED_MS) throw new Error('the process was paused while it wrote')
        return job()
      })
    } catch (error) {
      throw error instanceof LeaseLost ? error : new ReadModelsUnavailable(error)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#commits.flush()
    this.#closed = true
    this.db.close()
  }
}

const isSqliteError = (error: unknown) => error instanceof Error && 'errcode' in error
