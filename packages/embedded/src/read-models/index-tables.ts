import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import {
  type CollectionDefinition,
  type CollectionName,
  type Document,
  type FieldKind,
  WORDING,
} from '@gantry/stores'
import { storedName } from './document-table.ts'

/** The column of a field in the rows of an index. */
export interface Column {
  name: string
  number: number
  kind: FieldKind
  /** Whether it has an index, for orders and conditions. Booleans have too few values, arrays have their items. */
  indexed: boolean
}

/** Names of the tables of one index. */
export interface IndexTables {
  number: number
  /**
   * One row per document: its slot, the sequence number of the document, and the fields for filters and sorts. The row of a
   * removed document has no id and the sequence number of the removal. The next new document takes its slot.
   */
  rows: string
  /** One row per item of an array. */
  items: string
  /** The texts by slot; undefined when the collection has none. */
  texts: string | undefined
  trigrams: TrigramTables | undefined
  words: WordTables | undefined
  /** Columns by field. */
  columns: ReadonlyMap<string, Column>
}

/**
 * The trigrams of the texts. Documents of the past have none: they are rarely searched, and trigrams take half of the time
 * to store a document.
 */
export interface TrigramTables {
  table: string
  /** Slots whose texts have no trigrams yet: to add many at once takes a third of the time. */
  added: string
}

/** The words of the documents, for searches. They lag behind the rows by some changes. */
export interface WordTables {
  /** Each word with its stem, and in reverse order. */
  words: string
  /** For each word and pair of words: slots and impacts, in parts. */
  postings: string
  /** By slot: the words that the postings have of it. */
  wordings: string
  /** One row: the change up to which the words are complete, and the count `emptied` of the index at that time. */
  worded: string
}

export interface IndexPosition {
  /** Sequence number of the last applied change. */
  cursor: number
  /** Number of indexed documents. */
  documents: number
  /**
   * The sequence number up to which tombstones were forgotten when the index was last rebuilt for that reason; 0 if never.
   */
  forgotten: number
  /** How often the index was emptied. What was read from its rows before is void. */
  emptied: number
}

/** What the tables of an index depend on. */
export type Indexed = Pick<
  CollectionDefinition<Document>,
  'name' | 'version' | 'generation' | 'fields' | 'text' | 'search' | 'validity'
>

/** Created with the file: the list of indexes. Each has its own tables. For the columns see IndexPosition. */
export const INDEXES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS indexes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    shape TEXT NOT NULL,
    cursor INTEGER NOT NULL DEFAULT 0,
    documents INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0,
    emptied INTEGER NOT NULL DEFAULT 0,
    unmerged INTEGER NOT NULL DEFAULT 0,
    UNIQUE (collection, shape)
  ) STRICT`

/** Number of indexes kept per collection: the current shape, and one for processes that have not been upgraded yet. */
const SHAPES = 2

/** Opens the index of a collection of this shape, or creates an empty one. Must not be called within a transaction. */
export function indexTables(db: DatabaseSync, definition: Indexed): IndexTables {
  const { fields, text = [], search, validity } = definition
  const columns = new Map(
    Object.entries(fields).map(([field, kind], number) => [
      field,
      { name: `f${number}`, number, kind, indexed: kind === 'string' || kind === 'number' },
    ]),
  )
  const shape = JSON.stringify({
    fields,
    text,
    validity,
    ...(search && { search: { wording: WORDING, ...search } }),
  })
  const tables = (number: number) => ({ ...tablesOf(number, { text, search, validity }), columns })
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
      giveUpIndexes(db, collection, SHAPES)
    }
    db.exec('COMMIT')
    return tables(number)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const tablesOf = (
  number: number,
  { text = [], search, validity }: Omit<Indexed, 'name' | 'version' | 'fields'>,
) => {
  const table = (part: (typeof PARTS)[number]) => `index_${number}_${part}`
  return {
    number,
    rows: table('rows'),
    items: table('items'),
    texts: text.length > 0 ? table('texts') : undefined,
    trigrams: text.length > 0 && !validity ? { table: table('trigrams'), added: table('added') } : undefined,
    words: search && {
      words: table('words'),
      postings: table('postings'),
      wordings: table('wordings'),
      worded: table('worded'),
    },
  }
}

const PARTS = [
  'rows',
  'items',
  'texts',
  'trigrams',
  'added',
  'words',
  'postings',
  'wordings',
  'worded',
] as const

const collectionOf = (collection: CollectionName) => `${storedName(collection)}@${collection.version}`

/** The collection of the next index in the file, also of one with a former shape. @param after number of an index */
export function indexedCollection(db: DatabaseSync, after: number): Indexed | undefined {
  const find = db.prepare(
    `SELECT name, version, shape FROM indexes i JOIN collections ON collection = name || '@' || version
     WHERE i.number > ? ORDER BY i.number LIMIT 1`,
  )
  const found = find.get(after) as { name: string; version: number; shape: string } | undefined
  return found && { name: found.name, version: found.version, ...JSON.parse(found.shape) }
}

/** Takes all indexes but the latest ones from a collection. `deletingIndexes` deletes them. */
function giveUpIndexes(db: DatabaseSync, collection: string, kept: number) {
  db.prepare(
    `UPDATE indexes SET collection = number, unmerged = 0
     WHERE number IN (SELECT number FROM indexes WHERE collection = ? ORDER BY number DESC LIMIT -1 OFFSET ?)`,
  ).run(collection, kept)
}

/** Rows of an index that are deleted in one transaction: some milliseconds, because a row has an entry for each field. */
const PIECE = 250

/**
 * Deletes the indexes of a discarded collection, those of shapes before the previous one, and those of collections that no
 * longer exist. Trigrams are deleted at once, because FTS5 protects its tables: in 30 ms for 100,000 texts.
 * @returns a function that deletes a piece; it returns whether there is more
 */
export function deletingIndexes(db: DatabaseSync, discarded?: CollectionName): () => boolean {
  const find = db.prepare(
    `SELECT number, shape FROM indexes WHERE collection NOT IN (SELECT name || '@' || version FROM collections)`,
  )
  return () => {
    if (discarded) giveUpIndexes(db, collectionOf(discarded), 0)
    const found = find.get() as { number: number; shape: string } | undefined
    if (!found) return false
    const { rows, items, texts, trigrams, words } = tablesOf(found.number, JSON.parse(found.shape))
    const keys = {
      [items]: 'field, value, slot',
      ...(words && { [words.words]: 'word', [words.postings]: 'word, part' }),
    }
    for (const table of [
      rows,
      items,
      texts,
      trigrams?.added,
      words?.words,
      words?.postings,
      words?.wordings,
    ]) {
      if (!table) continue
      const key = keys[table] ?? 'slot'
      const piece = `SELECT ${key} FROM ${table} LIMIT ${PIECE}`
      if (db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (${piece})`).run().changes > 0) return true
    }
    for (const part of PARTS) db.exec(`DROP TABLE IF EXISTS index_${found.number}_${part}`)
    db.prepare('DELETE FROM indexes WHERE number = ?').run(found.number)
    return true
  }
}

/** Pages that one step of a merge of trigrams writes: some milliseconds. */
const MERGED_PAGES = 500

/**
 * Deletes the trigrams of replaced and removed texts, which FTS5 drops when it merges them. An index is marked as merged at
 * the end, unless texts were removed meanwhile.
 * @returns a function that does a part of it; it returns whether there is more
 */
export function mergingTrigrams(db: DatabaseSync, pages = MERGED_PAGES): () => boolean {
  const find = db.prepare(
    'SELECT number, unmerged FROM indexes WHERE unmerged AND number >= ? ORDER BY number',
  )
  const merged = db.prepare('UPDATE indexes SET unmerged = 0 WHERE number = ? AND unmerged = ?')
  const changes = db.prepare('SELECT total_changes() AS number')
  let from = 0
  let merging: Record<string, SQLOutputValue> | undefined
  return () => {
    const found = find.get(from)
    if (!found) return false
    const begins = merging?.number !== found.number
    if (begins) merging = found
    const trigrams = `index_${found.number}_trigrams`
    const before = Number(changes.get()?.number)
    // A negative number begins to merge everything into one.
    db.exec(`INSERT INTO ${trigrams} (${trigrams}, rank) VALUES ('merge', ${begins ? -pages : pages})`)
    // FTS5 reports fewer than two changes when nothing is left to merge.
    if (Number(changes.get()?.number) - before < 2) {
      merged.run(found.number as number, merging?.unmerged as number)
      from = (found.number as number) + 1
    }
    return true
  }
}

/**
 * The indexes of fields lack the id, which breaks ties: with it, each new document would change a page at random in the
 * index of each field that has few values.
 */
function schemaOf({ rows, items, texts, trigrams, words, columns }: IndexTables): string {
  const fields = [...columns.values()]
  return [
    `CREATE TABLE ${rows} (slot INTEGER PRIMARY KEY, id TEXT, seq INTEGER NOT NULL
       ${fields.map(({ name }) => `, ${name} ANY`).join('')}) STRICT`,
    `CREATE UNIQUE INDEX ${rows}_id ON ${rows} (id) WHERE id IS NOT NULL`,
    `CREATE INDEX ${rows}_free ON ${rows} (slot) WHERE id IS NULL`,
    `CREATE INDEX ${rows}_seq ON ${rows} (seq)`,
    ...fields
      .filter(({ indexed }) => indexed)
      .map(({ name }) => `CREATE INDEX ${rows}_${name} ON ${rows} (${name}) WHERE id IS NOT NULL`),
    `CREATE TABLE ${items} (field INTEGER NOT NULL, value TEXT NOT NULL, slot INTEGER NOT NULL,
       PRIMARY KEY (field, value, slot)) STRICT, WITHOUT ROWID`,
    texts && `CREATE TABLE ${texts} (slot INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`,
    trigrams &&
      `CREATE VIRTUAL TABLE ${trigrams.table} USING fts5 (text, tokenize = 'trigram case_sensitive 1', detail = none,
         content = '', contentless_delete = 1);
       CREATE TABLE ${trigrams.added} (slot INTEGER PRIMARY KEY) STRICT`,
    words &&
      `CREATE TABLE ${words.words} (word TEXT PRIMARY KEY, stem TEXT NOT NULL, tail TEXT NOT NULL)
         STRICT, WITHOUT ROWID;
       CREATE INDEX ${words.words}_stem ON ${words.words} (stem);
       CREATE INDEX ${words.words}_tail ON ${words.words} (tail);
       CREATE TABLE ${words.postings} (word TEXT NOT NULL, part INTEGER NOT NULL, entries BLOB NOT NULL,
         PRIMARY KEY (word, part)) STRICT, WITHOUT ROWID;
       CREATE TABLE ${words.wordings} (slot INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT;
       CREATE TABLE ${words.worded} (through INTEGER NOT NULL, emptied INTEGER NOT NULL) STRICT;
       INSERT INTO ${words.worded} VALUES (0, 0)`,
  ]
    .filter(statement => statement !== undefined)
    .join(';')
}
