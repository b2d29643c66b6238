import type { DatabaseSync } from 'node:sqlite'
import type { CollectionDefinition, CollectionName, Document, FieldKind } from '@gantry/stores'
import { storedName } from './document-table.ts'

/** The column of a field in the rows of an index. */
export interface Column {
  name: string
  number: number
  kind: FieldKind
}

/** Names of the tables of one index. */
export interface IndexTables {
  number: number
  /** One row per document: its slot, which is its sequence number, and the fields for filters and sorts. */
  rows: string
  /** One row per item of an array. */
  items: string
  /** Trigrams of the texts; undefined when the collection has no texts. */
  texts: string | undefined
  /** Columns by field. */
  columns: ReadonlyMap<string, Column>
  listedBy: Column | undefined
  validity: CollectionDefinition<Document>['validity']
}

type Indexed = Pick<
  CollectionDefinition<Document>,
  'name' | 'version' | 'generation' | 'fields' | 'text' | 'listedBy' | 'validity'
>

/** Created with the file: the list of indexes. Each has its own tables. */
export const INDEXES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS indexes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    shape TEXT NOT NULL,
    cursor INTEGER NOT NULL DEFAULT 0,
    purged INTEGER NOT NULL DEFAULT 0,
    documents INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0,
    UNIQUE (collection, shape)
  ) STRICT`

/** Number of indexes kept per collection: the current shape, and one for processes that have not been upgraded yet. */
const SHAPES = 2

/** Whether the file has an index of the collection, of any shape. */
export function hasIndex(db: DatabaseSync, definition: CollectionName): boolean {
  const find = db.prepare('SELECT 1 FROM indexes WHERE collection = ?')
  return find.get(collectionOf(definition)) !== undefined
}

/** Opens the index of a collection of this shape, or creates an empty one. Must not be called within a transaction. */
export function indexTables(db: DatabaseSync, definition: Indexed): IndexTables {
  const { fields, text = [], listedBy, validity } = definition
  const columns = new Map(
    Object.entries(fields).map(([field, kind], number) => [field, { name: `f${number}`, number, kind }]),
  )
  const shape = JSON.stringify({ fields, text, listedBy, validity })
  const tables = (number: number): IndexTables => ({
    number,
    rows: `index_${number}_rows`,
    items: `index_${number}_items`,
    texts: text.length > 0 ? `index_${number}_texts` : undefined,
    columns,
    listedBy: listedBy === undefined ? undefined : columns.get(listedBy),
    validity,
  })
  const collection = collectionOf(definition)
  const find = () =>
    db.prepare('SELECT number FROM indexes WHERE collection = ? AND shape = ?').get(collection, shape)?.number
  const known = find()
  if (known !== undefined) return tables(Number(known))
  db.exec('BEGIN IMMEDIATE')
  try {
    let number = find() as number | undefined
    if (number === undefined) {
      const insert = db.prepare('INSERT INTO indexes (collection, shape) VALUES (?, ?)')
      number = Number(insert.run(collection, shape).lastInsertRowid)
      db.exec(schemaOf(tables(number)))
      forgetFormerIndexes(db, collection)
    }
    db.exec('COMMIT')
    return tables(number)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const collectionOf = (collection: CollectionName) => `${storedName(collection)}@${collection.version}`

/** Deletes the indexes of older shapes, and of collections that no longer exist. */
function forgetFormerIndexes(db: DatabaseSync, collection: string) {
  const former = db.prepare(
    `SELECT number FROM (SELECT number FROM indexes WHERE collection = ? ORDER BY number DESC LIMIT -1 OFFSET ${SHAPES})
     UNION SELECT number FROM indexes WHERE collection NOT IN (SELECT name || '@' || version FROM collections)`,
  )
  for (const { number } of former.all(collection)) forgetIndex(db, number as number)
}

function forgetIndex(db: DatabaseSync, number: number) {
  for (const part of PARTS) db.exec(`DROP TABLE IF EXISTS index_${number}_${part}`)
  db.prepare('DELETE FROM indexes WHERE number = ?').run(number)
}

/** Pages that one step of a merge of trigrams writes: some milliseconds. */
const MERGED_PAGES = 500

/**
 * Deletes what the indexes still have of replaced and removed documents: marked rows, and trigrams, which FTS5 drops when it
 * merges them. @returns a function that does a part of it; it returns whether there is more
 */
export function purgingIndexes(db: DatabaseSync): () => boolean {
  const numbers = db
    .prepare('SELECT number FROM indexes')
    .all()
    .map(({ number }) => number as number)
  const isTable = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
  const changes = db.prepare('SELECT total_changes() AS number')
  let merging: string | undefined
  const merge = (texts: string, pages: number) => {
    const before = Number(changes.get()?.number)
    db.exec(`INSERT INTO ${texts} (${texts}, rank) VALUES ('merge', ${pages})`)
    // FTS5 reports fewer than two changes when nothing is left to merge.
    merging = Number(changes.get()?.number) - before < 2 ? undefined : texts
  }
  return () => {
    if (merging !== undefined) {
      merge(merging, MERGED_PAGES)
      return true
    }
    const number = numbers.pop()
    if (number === undefined) return false
    const [rows, texts] = [`index_${number}_rows`, `index_${number}_texts`]
    const { changes: deleted } = db.prepare(`DELETE FROM ${rows} WHERE gone IS NOT NULL`).run()
    db.prepare('UPDATE indexes SET purged = cursor WHERE number = ?').run(number)
    // A negative number begins to merge everything into one.
    if (Number(deleted) > 0 && isTable.get(texts)) merge(texts, -MERGED_PAGES)
    return true
  }
}

const PARTS = ['rows', 'items', 'texts'] as const

/** Deletes the indexes of a collection. @returns a function that deletes one; it returns whether there is more */
export function discardIndexes(db: DatabaseSync, collection: CollectionName): () => boolean {
  return () => {
    if (!hasIndex(db, collection)) return false
    const find = db.prepare('SELECT number FROM indexes WHERE collection = ?')
    forgetIndex(db, find.get(collectionOf(collection))?.number as number)
    return true
  }
}

/**
 * Arrays are found by their items. The indexes of other fields end with the id as the tie-breaker and have all columns that
 * are needed to skip a row. That of the end of a validity has the columns of all fields, so that a filter with a time is
 * counted without reading rows.
 */
function schemaOf({ rows, items, texts, columns, listedBy, validity }: IndexTables): string {
  const fields = [...columns.values()]
  const [from, to] = validity ? [columns.get(validity.from), columns.get(validity.to)] : []
  const others = fields.filter(column => column !== from && column !== to)
  const indexed = (column: Column) => {
    if (column === to && from) return [to, from, ...others].map(({ name }) => name).join(', ')
    return column === listedBy ? `${column.name} DESC` : column.name
  }
  return [
    `CREATE TABLE ${rows} (slot INTEGER PRIMARY KEY, id TEXT NOT NULL, gone INTEGER,
       ${fields.map(({ name }) => `${name} ANY, `).join('')}text TEXT NOT NULL) STRICT`,
    `CREATE UNIQUE INDEX ${rows}_id ON ${rows} (id, gone) WHERE gone IS NULL`,
    `CREATE INDEX ${rows}_gone ON ${rows} (gone) WHERE gone IS NOT NULL`,
    ...fields
      .filter(({ kind }) => kind !== 'strings')
      .map(
        column =>
          `CREATE INDEX ${rows}_${column.name} ON ${rows} (${indexed(column)}, id, gone) WHERE gone IS NULL`,
      ),
    `CREATE TABLE ${items} (field INTEGER NOT NULL, value TEXT NOT NULL, slot INTEGER NOT NULL,
       PRIMARY KEY (field, value, slot)) STRICT, WITHOUT ROWID`,
    texts &&
      `CREATE VIRTUAL TABLE ${texts} USING fts5 (text, tokenize = 'trigram case_sensitive 1', detail = none,
         content = '', contentless_delete = 1)`,
  ]
    .filter(statement => statement !== undefined)
    .join(';')
}
