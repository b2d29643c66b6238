import type { DatabaseSync } from 'node:sqlite'
import { atMost } from '@gantry/event-sourcing'
import type { CollectionName } from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { asArrays } from './statements.ts'

/**
 * Created with the file: the list of collections, each of which has its own table of documents. `removals` has for each
 * collection the sequence number up to which tombstones are forgotten next, the time from which their age counts, and the
 * sequence number up to which they are forgotten.
 */
export const COLLECTIONS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS collections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (name, version)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS removals (
    collection INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    forgotten INTEGER NOT NULL DEFAULT 0
  ) STRICT`

/** The stored state of a document or tombstone. */
export interface Row {
  /** Sequence number in the order of changes of the collection. A document that is stored again gets a new one. */
  seq: number
  /** Null in the row that a drop inserts: all changes before it are gone. */
  id: string | null
  revision: number
  /** JSON; null for a tombstone. */
  doc: string | null
}

/** A document or a tombstone to store. */
interface Change {
  id: string
  revision: number
  /** JSON; null stores a tombstone. */
  doc: string | null
  /** Whether it replaces a document of the same revision. */
  overSame: boolean
  /** Whether it lacks the effect of events that its writer does not know; see Write in packages/stores. */
  incomplete: boolean
}

/** The documents of one collection, in the order in which they were stored. */
export interface DocumentTable {
  /** @returns false when a newer revision is stored */
  store(change: Change): boolean
  /** Sequence number of the document or tombstone. */
  seqOf(id: string): number | undefined
  get(id: string): Row | undefined
  exists(id: string): boolean
  /**
   * The row with this sequence number; undefined once its document was stored again. A sequence number is never used again.
   */
  at(seq: number): Row | undefined
  changesAfter(seq: number, limit: number): Row[]
  /** Sequence number of the last change; 0 when nothing was ever stored. */
  last(): number
  /** Ids of documents after `id`, in ascending order; without tombstones. */
  idsAfter(id: string, limit: number): string[]
  /**
   * Forgets tombstones that were stored before a call at least `ageMs` before `now`. When there are none, the current
   * tombstones are marked as the next to be forgotten.
   * @returns the number of forgotten tombstones
   */
  forgetRemoved(now: number, ageMs: number, limit: number): number
  /** Tombstones up to this sequence number may be forgotten. */
  forgottenThrough(): number
  /** Deletes all documents and tombstones. */
  clear(): void
}

/**
 * The next sequence number. Numbers are not used again, because the row with the greatest one is only deleted after a
 * greater one exists.
 */
const nextSeq = (table: string) => `(SELECT coalesce(max(seq), 0) + 1 FROM ${table})`

/** Maximum number of cached sequence numbers per collection, when no other process can change them. */
const REMEMBERED = 50_000

/**
 * Opens the table of a collection, or creates it. Must not be called within a transaction.
 * @param exclusive whether no other process uses the file, so that cached values stay valid
 */
export function documentTable(
  db: DatabaseSync,
  collection: CollectionName,
  exclusive: boolean,
): DocumentTable {
  const seqs = new LRUCache<string, number>(atMost(REMEMBERED))
  const number = numberOf(db, collection)
  const table = tableName(number)
  const store = db.prepare(
    `INSERT INTO ${table} (seq, id, revision, doc, incomplete)
     VALUES (${nextSeq(table)}, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, revision = excluded.revision, doc = excluded.doc,
       incomplete = excluded.incomplete
     WHERE excluded.revision > revision OR (excluded.revision = revision AND
       (incomplete > excluded.incomplete OR (incomplete = excluded.incomplete AND ?)))`,
  )
  const rows = `SELECT seq, id, revision, doc FROM ${table}`
  const seqOf = db.prepare(`SELECT seq FROM ${table} WHERE id = ?`)
  const get = db.prepare(`${rows} WHERE id = ?`)
  const exists = db.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND doc IS NOT NULL`)
  const at = asArrays(db.prepare(`${rows} WHERE seq = ?`))
  const changesAfter = db.prepare(`${rows} WHERE seq > ? ORDER BY seq LIMIT ?`)
  const idsAfter = db.prepare(`SELECT id FROM ${table} WHERE id > ? AND doc IS NOT NULL ORDER BY id LIMIT ?`)
  const clearRows = clearing(db, table)
  const greatest = db.prepare(`SELECT coalesce(max(seq), 0) AS seq FROM ${table}`)
  const lookUp = (id: string) => seqOf.get(id)?.seq as number | undefined
  const cachedSeq = (id: string) => {
    const seq = seqs.get(id) ?? lookUp(id)
    if (seq !== undefined) seqs.set(id, seq)
    return seq
  }
  /** The last sequence number, once a read has found nothing after it and until the next write. */
  let last: number | undefined
  const changed = (id: string) => {
    seqs.delete(id)
    last = undefined
  }
  const readChanges = (seq: number, limit: number) => changesAfter.all(seq, limit) as unknown as Row[]
  const cachedChanges = (seq: number, limit: number) => {
    if (seq === last) return []
    const changes = readChanges(seq, limit)
    if (changes.length < limit) last = changes.at(-1)?.seq ?? seq
    return changes
  }
  return {
    store({ id, revision, doc, overSame, incomplete }) {
      changed(id)
      return store.run(id, revision, doc, Number(incomplete), Number(overSame)).changes === 1
    },
    seqOf: exclusive ? cachedSeq : lookUp,
    get: id => get.get(id) as Row | undefined,
    exists: id => exists.get(id) !== undefined,
    at: sought => {
      const row = at.get(sought)
      if (!row) return undefined
      const [seq, id, revision, doc] = row as [number, string | null, number, string | null]
      return { seq, id, revision, doc }
    },
    changesAfter: exclusive ? cachedChanges : readChanges,
    last: () => (exclusive ? last : undefined) ?? (greatest.get()?.seq as number),
    idsAfter: (id, limit) => idsAfter.all(id, limit).map(row => String(row.id)),
    ...removalsOf(db, number, { exclusive, changed }),
    clear() {
      seqs.clear()
      last = undefined
      clearRows()
    },
  }
}

/** @returns a function that deletes all documents and tombstones, in the transaction of the caller */
function clearing(db: DatabaseSync, table: string): () => void {
  const dropped = db.prepare(
    `INSERT INTO ${table} (seq, id, revision, doc) VALUES (${nextSeq(table)}, NULL, 0, NULL)`,
  )
  const forget = db.prepare(`DELETE FROM ${table} WHERE seq < ?`)
  return () => void forget.run(dropped.run().lastInsertRowid)
}

/**
 * Deletes all documents and tombstones of all collections, in the transaction of the caller. The tables stay, because other
 * processes may use them. Indexes are emptied by their next update.
 * @returns the number of collections
 */
export function clearAll(db: DatabaseSync): number {
  const numbers = db.prepare('SELECT number FROM collections').all()
  for (const { number } of numbers) clearing(db, tableName(number as number))()
  db.exec('UPDATE indexes SET cursor = 0')
  return numbers.length
}

/** The part of a table that forgets tombstones. @param options.changed called with each id before its row is deleted */
function removalsOf(
  db: DatabaseSync,
  number: number,
  { exclusive, changed }: { exclusive: boolean; changed(id: string): void },
): Pick<DocumentTable, 'forgetRemoved' | 'forgottenThrough'> {
  const table = tableName(number)
  const met = db.prepare('SELECT seq, at, forgotten FROM removals WHERE collection = ?')
  const meet = db.prepare(
    `INSERT INTO removals (collection, seq, at) SELECT ?, coalesce(max(seq), 0), ? FROM ${table} WHERE true
     ON CONFLICT (collection) DO UPDATE SET seq = excluded.seq, at = excluded.at`,
  )
  // The row with the greatest sequence number stays, so that the number is not used again.
  const removed = db.prepare(
    `SELECT seq, id FROM ${table} WHERE doc IS NULL AND id IS NOT NULL AND seq <= ?
     AND seq < (SELECT max(seq) FROM ${table}) ORDER BY seq LIMIT ?`,
  )
  const forget = db.prepare(`DELETE FROM ${table} WHERE seq = ?`)
  const forgotten = db.prepare('UPDATE removals SET forgotten = max(forgotten, ?) WHERE collection = ?')
  const readForgotten = () => (met.get(number)?.forgotten ?? 0) as number
  let known = exclusive ? readForgotten() : undefined
  return {
    forgetRemoved(now, ageMs, limit) {
      const before = met.get(number) as { seq: number; at: number } | undefined
      if (before && now - before.at < ageMs) return 0
      const rows = before ? removed.all(before.seq, limit) : []
      for (const { seq, id } of rows) {
        changed(String(id))
        forget.run(seq as number)
      }
      const last = rows.at(-1)
      if (last) forgotten.run(last.seq as number, number)
      else meet.run(number, now)
      if (exclusive) known = readForgotten()
      return rows.length
    },
    forgottenThrough: () => known ?? readForgotten(),
  }
}

const tableName = (number: number) => `documents_${number}`

/** The name of a collection in the table of collections, and in that of indexes. */
export const storedName = ({ name, generation = 0 }: Pick<CollectionName, 'name' | 'generation'>): string =>
  generation === 0 ? name : `${name}~${generation}`

const findNumber = (db: DatabaseSync, collection: CollectionName) =>
  db
    .prepare('SELECT number FROM collections WHERE name = ? AND version = ?')
    .get(storedName(collection), collection.version)?.number as number | undefined

/** Number of rows that are deleted in one transaction. */
const PIECE = 1_000

/**
 * Deletes the table of a collection, first its rows in pieces.
 * @returns a function that deletes a piece in a transaction; it returns whether there is more
 */
export function discarding(db: DatabaseSync, collection: CollectionName): () => boolean {
  const number = findNumber(db, collection)
  if (number === undefined) return () => false
  const table = tableName(number)
  return () => {
    if (findNumber(db, collection) !== number) return false
    const deleted = db.prepare(
      `DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} ORDER BY seq LIMIT ${PIECE})`,
    )
    if (deleted.run().changes > 0) return true
    forgetTable(db, number)
    return false
  }
}

function forgetTable(db: DatabaseSync, number: number) {
  db.exec(`DROP TABLE ${tableName(number)}`)
  db.prepare('DELETE FROM collections WHERE number = ?').run(number)
  db.prepare('DELETE FROM removals WHERE collection = ?').run(number)
}

/** Finds the table of a collection, or creates it. */
function numberOf(db: DatabaseSync, collection: CollectionName): number {
  const { version } = collection
  const known = findNumber(db, collection)
  if (known !== undefined) return known
  db.exec('BEGIN IMMEDIATE')
  try {
    const number = findNumber(db, collection) ?? createTable(db, storedName(collection), version)
    forgetVersionsBefore(db, collection.name, version - 1)
    db.exec('COMMIT')
    return number
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function createTable(db: DatabaseSync, name: string, version: number): number {
  const insert = db.prepare('INSERT INTO collections (name, version) VALUES (?, ?)')
  const number = Number(insert.run(name, version).lastInsertRowid)
  const table = tableName(number)
  db.exec(
    `CREATE TABLE ${table} (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, revision INTEGER NOT NULL, doc TEXT,
       incomplete INTEGER NOT NULL DEFAULT 0) STRICT;
     CREATE INDEX removals_${number} ON ${table} (seq) WHERE doc IS NULL AND id IS NOT NULL`,
  )
  return number
}

/** The previous version stays, for processes that have not been upgraded yet. */
function forgetVersionsBefore(db: DatabaseSync, name: string, version: number) {
  const older = db.prepare(
    `SELECT number FROM collections
     WHERE (name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || '~') AND version < ?2`,
  )
  for (const { number } of older.all(name, version)) forgetTable(db, number as number)
}
