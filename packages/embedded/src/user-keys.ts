import { type UserKey, type UserKeys, UserKeysUnavailable } from '@gantry/stores'
import { type CopyProgress, copies } from './sqlite/copy.ts'
import { type Disk, watchDisk } from './sqlite/disk.ts'
import { BUSY_TIMEOUT_MS, FORMATS, openDatabase } from './sqlite/sqlite-file.ts'

/** A row has either a key or the time of its deletion. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS user_keys (
    user TEXT PRIMARY KEY,
    key TEXT,
    erased_at TEXT
  ) STRICT, WITHOUT ROWID`

const PAGE = 1_000
const TRUNCATION_WAIT_MS = 500

/** A store of user keys whose file can be copied while it is used. */
export interface UserKeyFile extends UserKeys {
  /** Copies all keys and records of erasures into a new file. */
  copyTo(path: string, progress?: CopyProgress): Promise<void>
}

/**
 * Keys of users in a SQLite file, which the processes of one host can share. The content of a deleted key is overwritten in
 * the file, and the write-ahead log that had it is truncated.
 * @throws DataFolderRefused when the file cannot be used
 */
export function sqliteUserKeys({ path, disk = watchDisk() }: { path: string; disk?: Disk }): UserKeyFile {
  const db = openDatabase(path, {
    kind: 'user-keys',
    version: FORMATS['user-keys'],
    durable: true,
    schema: SCHEMA,
  })
  db.exec('PRAGMA secure_delete = ON')
  const { copyTo, end } = copies(db)
  const find = db.prepare('SELECT key, erased_at AS erasedAt FROM user_keys WHERE user = ?')
  const insert = db.prepare('INSERT OR IGNORE INTO user_keys (user, key) VALUES (?, ?)')
  const list = db.prepare(
    'SELECT user, key FROM user_keys WHERE key IS NOT NULL AND user > ? ORDER BY user LIMIT ?',
  )
  const replace = db.prepare('UPDATE user_keys SET key = ? WHERE user = ? AND key = ?')
  const erase = db.prepare(
    `INSERT INTO user_keys (user, erased_at) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET key = NULL, erased_at = coalesce(erased_at, excluded.erased_at)`,
  )
  const erasedAfter = db.prepare(
    `SELECT user, erased_at AS erasedAt FROM user_keys
     WHERE erased_at IS NOT NULL AND user > ? ORDER BY user LIMIT ${PAGE}`,
  )
  const truncateLog = logTruncation(db)
  const get = (user: string) => find.get(user) as UserKey | undefined
  const kept = (user: string): UserKey => {
    const key = get(user)
    if (!key) throw new Error('a key was not stored')
    return { ...key }
  }
  const answering = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw new UserKeysUnavailable(disk.failed(path, error))
    }
  }
  const page = (after: string) =>
    answering(() => erasedAfter.all(after) as { user: string; erasedAt: string }[])

  return {
    get: user =>
      answering(() => {
        const key = get(user)
        return key && { ...key }
      }),
    add: (user, key) =>
      answering(() => {
        insert.run(user, key)
        return kept(user)
      }),
    list: (after, limit) =>
      answering(() =>
        (list.all(after, limit) as { user: string; key: string }[]).map(({ user, key }) => ({ user, key })),
      ),
    replace: (user, key, by) => answering(() => replace.run(by, user, key).changes > 0),
    erase: (user, at) =>
      answering(() => {
        erase.run(user, at)
        truncateLog()
        return String(kept(user).erasedAt)
      }),
    async *erased() {
      for (let found = await page(''); found.length > 0; found = await page(found.at(-1)?.user ?? ''))
        for (const { user, erasedAt } of found) yield { user, erasedAt }
    },
    ping: () => answering(() => void get('')),
    copyTo,
    async close() {
      await end()
      if (db.isOpen) db.close()
    },
  }
}

/**
 * Returns a function that truncates the write-ahead log. It throws Error if another connection still reads the log after
 * 500 ms.
 */
function logTruncation(db: ReturnType<typeof openDatabase>): () => void {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return () => {
    db.exec(`PRAGMA busy_timeout = ${TRUNCATION_WAIT_MS}`)
    try {
      if (checkpoint.get()?.busy !== 0) throw new Error('a reader keeps the write-ahead log of the keys')
    } finally {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    }
  }
}
