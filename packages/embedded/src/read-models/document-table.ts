import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'

/** Made with the file: which collections there are. Each has a table of documents of its own. */
export const COLLECTIONS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS collections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (name, version)
  ) STRICT`

/** A document as it was stored last. */
export interface Row {
  /** Place in the order of changes of the collection. A document that is stored again moves to the end. */
  seq: number
  /** Null in the row that a drop leaves behind: what came before it is gone. */
  id: string | null
  revision: number
  /** JSON; null when the document was removed. */
  doc: string | null
}

/** A document to store, or null for its removal. */
export interface Change {
  id: string
  revision: number
  /** JSON. */
  doc: string | null
  /** Whether it replaces what has the same revision. */
  overSame: boolean
  /** Whether it lacks the effect of events that its writer does not know; see Write in packages/read-models. */
  incomplete: boolean
}

/** The documents of one collection in the file, with the order in which they were stored. */
export interface DocumentTable {
  /** @returns whether the guard let it through */
  store(change: Change): boolean
  /** Where the document, or its removal, was stored last. */
  seqOf(id: string): number | undefined
  get(id: string): Row | undefined
  /** What was stored there: never anything else, and nothing once its document is stored again. */
  at(seq: number): Row | undefined
  changesAfter(seq: number, limit: number): Row[]
  /** Ids of documents that are there, in their order, after that one. */
  idsAfter(id: string, limit: number): string[]
  /** Forgets the documents, those removed included. */
  clear(): void
}

/** The number after the greatest: the row with the greatest one is never deleted before there is a greater one. */
const nextSeq = (table: string) => `(SELECT coalesce(max(seq), 0) + 1 FROM ${table})`

/** Places that are remembered where nobody else can change them, for each collection. */
const REMEMBERED = 50_000

/**
 * Opens the table of a collection, or makes it. Not within a transaction.
 * @param alone no other process uses the file, so that what was read or stored here stays true
 */
export function documentTable(
  db: DatabaseSync,
  name: string,
  version: number,
  alone: boolean,
): DocumentTable {
  const places = new LRUCache<string, number>({ max: REMEMBERED })
  const table = tableOf(db, name, version)
  const store = db.prepare(
    `INSERT INTO ${table} (seq, id, revision, doc, incomplete) VALUES (${nextSeq(table)}, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, revision = excluded.revision, doc = excluded.doc,
       incomplete = excluded.incomplete
     WHERE excluded.revision > revision OR (excluded.revision = revision AND
       (incomplete > excluded.incomplete OR (incomplete = excluded.incomplete AND ?)))`,
  )
  const rows = `SELECT seq, id, revision, doc FROM ${table}`
  const seqOf = db.prepare(`SELECT seq FROM ${table} WHERE id = ?`)
  const get = db.prepare(`${rows} WHERE id = ?`)
  const at = db.prepare(`${rows} WHERE seq = ?`)
  const changesAfter = db.prepare(`${rows} WHERE seq > ? ORDER BY seq LIMIT ?`)
  const idsAfter = db.prepare(`SELECT id FROM ${table} WHERE id > ? AND doc IS NOT NULL ORDER BY id LIMIT ?`)
  const mark = db.prepare(
    `INSERT INTO ${table} (seq, id, revision, doc) VALUES (${nextSeq(table)}, NULL, 0, NULL)`,
  )
  const forget = db.prepare(`DELETE FROM ${table} WHERE seq < ?`)
  const lookUp = (id: string) => seqOf.get(id)?.seq as number | undefined
  const recall = (id: string) => {
    const place = places.get(id) ?? lookUp(id)
    if (place !== undefined) places.set(id, place)
    return place
  }
  /** The last place, while nothing was stored since it was seen that nothing comes after it. */
  let last: number | undefined
  const readChanges = (seq: number, limit: number) => changesAfter.all(seq, limit) as unknown as Row[]
  const recallChanges = (seq: number, limit: number) => {
    if (seq === last) return []
    const changes = readChanges(seq, limit)
    if (changes.length < limit) last = changes.at(-1)?.seq ?? seq
    return changes
  }
  return {
    store({ id, revision, doc, overSame, incomplete }) {
      places.delete(id)
      last = undefined
      return store.run(id, revision, doc, Number(incomplete), Number(overSame)).changes === 1
    },
    seqOf: alone ? recall : lookUp,
    get: id => get.get(id) as Row | undefined,
    at: seq => at.get(seq) as Row | undefined,
    changesAfter: alone ? recallChanges : readChanges,
    idsAfter: (id, limit) => idsAfter.all(id, limit).map(row => String(row.id)),
    clear() {
      places.clear()
      last = undefined
      forget.run(mark.run().lastInsertRowid)
    },
  }
}

function tableOf(db: DatabaseSync, name: string, version: number): string {
  const find = db.prepare('SELECT number FROM collections WHERE name = ? AND version = ?')
  const found = () => {
    const number = find.get(name, version)?.number
    return number === undefined ? undefined : `documents_${number}`
  }
  const known = found()
  if (known !== undefined && hasIncomplete(db, known)) return known
  db.exec('BEGIN IMMEDIATE')
  try {
    if (found() === undefined) {
      forgetVersionsBefore(db, name, version - 1)
      db.prepare('INSERT INTO collections (name, version) VALUES (?, ?)').run(name, version)
    }
    const table = found() as string
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table}
       (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, revision INTEGER NOT NULL, doc TEXT,
        incomplete INTEGER NOT NULL DEFAULT 0) STRICT`,
    )
    // A table that an earlier release made.
    if (!hasIncomplete(db, table))
      db.exec(`ALTER TABLE ${table} ADD COLUMN incomplete INTEGER NOT NULL DEFAULT 0`)
    db.exec('COMMIT')
    return table
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const hasIncomplete = (db: DatabaseSync, table: string): boolean =>
  db.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'incomplete'`).get(table) !== undefined

/** The version before a new one stays, for processes that have not been upgraded yet. */
function forgetVersionsBefore(db: DatabaseSync, name: string, version: number) {
  const older = db.prepare('SELECT number FROM collections WHERE name = ? AND version < ?').all(name, version)
  for (const { number } of older) {
    db.exec(`DROP TABLE documents_${number}`)
    db.prepare('DELETE FROM collections WHERE number = ?').run(number as number)
  }
}
