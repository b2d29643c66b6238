import type { DatabaseSync } from 'node:sqlite'
import { foldCase, type Scalar } from '@gantry/stores'
import { storedItem, storedItems } from './conditions.ts'
import type { DocumentTable, Row } from './document-table.ts'
import {
  type Column,
  type Indexed,
  type IndexPosition,
  type IndexTables,
  indexTables,
} from './index-tables.ts'
import { Statements, type StoredValue, searchedText, storedScalar, storedText } from './statements.ts'
import { WordIndex } from './word-index.ts'

/**
 * Maximum lag, in changes, of an index that is updated within the transaction of a write, or of a query. An index with a
 * greater lag is built in small transactions.
 */
const BEHIND = 10_000
/** Number of texts whose trigrams are stored together. */
const TEXTS_AT_ONCE = 64

/** The indexed form of a document. */
interface Entry {
  values: StoredValue[]
  /** The items of arrays: number of the column and stored item. */
  items: [column: number, item: string][]
  text: string
}

/**
 * An index of one collection, in the file. It applies the changes of the documents in their order and stores its progress in
 * the same transaction, so that both survive or are lost together. Changes that another process stored without updating the
 * index are applied later.
 */
export class ListIndex {
  readonly tables: IndexTables
  readonly statements: Statements
  /** For searches; undefined when the collection has none. */
  readonly words: WordIndex | undefined
  readonly #documents: DocumentTable
  readonly #columns: ReadonlyArray<Column & { path: readonly string[] }>
  readonly #textFields: readonly string[]

  /** Opens the index, or creates an empty one. Must not be called within a transaction. */
  constructor(db: DatabaseSync, documents: DocumentTable, definition: Indexed) {
    this.tables = indexTables(db, definition)
    this.statements = new Statements(db)
    this.#documents = documents
    this.#columns = [...this.tables.columns].map(([field, column]) => ({ ...column, path: field.split('.') }))
    this.#textFields = definition.text ?? []
    const { words } = this.tables
    this.words =
      words &&
      new WordIndex({ tables: this.tables, statements: this.statements, words }, documents, definition)
  }

  /** Applies up to `limit` changes. Needs a writing transaction. @returns whether there are no more */
  catchUp(limit: number): boolean {
    this.#resetIfUnknown()
    const { cursor, documents } = this.position()
    const changes = this.#documents.changesAfter(cursor, limit)
    const last = changes.at(-1)
    if (last) {
      let count = documents
      for (const change of changes) count = this.#apply(change, count)
      this.#set('cursor = ?, documents = ?', last.seq, count)
      this.#addTrigrams()
    }
    return changes.length < limit
  }

  /** Applies all changes. Needs a writing transaction. @returns false if the index is too far behind */
  applyAll(): boolean {
    const behind = this.behind()
    return behind === 0 || (behind <= BEHIND && this.catchUp(behind + 1))
  }

  /** Number of changes in the file that are not applied, at most; infinite when the index has changes that the file lacks. */
  behind(): number {
    const behind = this.#documents.last() - this.position().cursor
    return behind < 0 ? Number.POSITIVE_INFINITY : behind
  }

  /** False once the collection was discarded. */
  exists(): boolean {
    return this.statements.row('SELECT 1 FROM indexes WHERE number = ?', [this.tables.number]) !== undefined
  }

  /** Whether searches need not wait for more of the words. */
  hasWords(): boolean {
    return this.words?.isCurrent(this.position()) ?? true
  }

  /** Whether there are words to apply. */
  owesWords(): boolean {
    return this.words?.isDue(this.position()) ?? false
  }

  /** Applies a part of the changes to the words. Needs a writing transaction. @returns whether there are no more */
  applyWords(): boolean {
    return this.words?.apply(this.position()) ?? true
  }

  position(): IndexPosition {
    const [cursor, documents, forgotten, emptied] = this.statements.row(
      'SELECT cursor, documents, forgotten, emptied FROM indexes WHERE number = ?',
      [this.tables.number],
    ) as [number, number, number, number]
    return { cursor, documents, forgotten, emptied }
  }

  #set(assignments: string, ...values: number[]) {
    this.statements.run(`UPDATE indexes SET ${assignments} WHERE number = ?`, [...values, this.tables.number])
  }

  /**
   * Empties the index when removals are unknown: tombstones were forgotten before they were applied, or documents were
   * deleted from the file by other means.
   */
  #resetIfUnknown() {
    const { cursor, forgotten } = this.position()
    const through = this.#documents.forgottenThrough()
    if (cursor <= this.#documents.last() && (cursor >= through || forgotten === through)) return
    this.#empty()
    this.#set('cursor = 0, documents = 0, forgotten = ?', through)
  }

  #empty() {
    const { rows, items, texts, trigrams } = this.tables
    for (const table of [rows, items, texts, trigrams?.added])
      if (table) this.statements.run(`DELETE FROM ${table}`)
    if (trigrams)
      this.statements.run(`INSERT INTO ${trigrams.table} (${trigrams.table}) VALUES ('delete-all')`)
    this.#set('emptied = emptied + 1')
  }

  /** @param documents number of documents before the change @returns number of documents after it */
  #apply({ seq, id, doc }: Row, documents: number): number {
    if (id === null) {
      this.#empty()
      return 0
    }
    const { rows } = this.tables
    const key = storedText(id)
    const entry = doc === null ? undefined : this.#entryOf(JSON.parse(doc))
    const known = this.statements.row(`SELECT * FROM ${rows} INDEXED BY ${rows}_id WHERE id = ?`, [key])
    if (!known) {
      if (entry) this.#add(key, seq, entry)
      return entry ? documents + 1 : documents
    }
    const [slot, , , ...values] = known as [number, string, number, ...StoredValue[]]
    if (entry) this.#replace(slot, seq, values, entry)
    else this.#remove(slot, seq, values)
    return entry ? documents : documents - 1
  }

  #entryOf(document: Record<string, unknown>): Entry {
    const items: Entry['items'] = []
    const values = this.#columns.map(({ number, kind, path }): StoredValue => {
      const value = valueAt(document, path)
      if (value === null || kind !== 'strings')
        return Array.isArray(value) ? null : storedScalar(value as Scalar)
      const list = Array.isArray(value) ? (value as Scalar[]) : [value as Scalar]
      for (const item of list) items.push([number, storedItem(item)])
      return storedItems(list)
    })
    const texts = this.#textFields.map(name => document[name]).filter(value => typeof value === 'string')
    return { values, items, text: searchedText(foldCase(texts.join('\n'))) }
  }

  #add(id: string, seq: number, { values, items, text }: Entry) {
    const { rows } = this.tables
    const free = this.statements.number(
      `SELECT min(slot) FROM ${rows} INDEXED BY ${rows}_free WHERE id IS NULL`,
    )
    const slot = free ?? Number(this.statements.number(`SELECT max(slot) FROM ${rows}`) ?? 0) + 1
    // INSERT OR REPLACE would copy each page that it changes to a statement journal: 30 times as many bytes.
    if (free) this.statements.run(`DELETE FROM ${rows} WHERE slot = ?`, [slot])
    this.statements.run(`INSERT INTO ${rows} VALUES (?, ?, ?${', ?'.repeat(values.length)})`, [
      slot,
      id,
      seq,
      ...values,
    ])
    this.#addItems(slot, items)
    this.#addText(slot, text)
  }

  /** Changes only the columns, and thus the indexes, whose values differ. */
  #replace(slot: number, seq: number, before: readonly StoredValue[], { values, items, text }: Entry) {
    const { rows, texts } = this.tables
    const changed = this.#columns.filter(({ number }) => !isSame(before[number], values[number]))
    this.statements.run(
      `UPDATE ${rows} SET seq = ?${changed.map(({ name }) => `, ${name} = ?`).join('')} WHERE slot = ?`,
      [seq, ...changed.map(({ number }) => values[number] ?? null), slot],
    )
    for (const { kind, number } of changed) {
      if (kind !== 'strings') continue
      this.#removeItems(slot, number, before[number])
      this.#addItems(
        slot,
        items.filter(([of]) => of === number),
      )
    }
    if (!texts) return
    if (this.statements.row(`SELECT text FROM ${texts} WHERE slot = ?`, [slot])?.[0] === text) return
    this.#removeText(slot)
    this.#addText(slot, text)
  }

  #remove(slot: number, seq: number, before: readonly StoredValue[]) {
    const nulls = this.#columns.map(({ name }) => `, ${name} = NULL`).join('')
    this.statements.run(`UPDATE ${this.tables.rows} SET id = NULL, seq = ?${nulls} WHERE slot = ?`, [
      seq,
      slot,
    ])
    for (const { kind, number } of this.#columns)
      if (kind === 'strings') this.#removeItems(slot, number, before[number])
    this.#removeText(slot)
  }

  #addItems(slot: number, items: Entry['items']) {
    for (const [column, item] of items)
      this.statements.run(`INSERT OR IGNORE INTO ${this.tables.items} VALUES (?, ?, ?)`, [column, item, slot])
  }

  #removeItems(slot: number, column: number, stored: StoredValue | undefined) {
    if (typeof stored !== 'string') return
    for (const item of stored.split('\n').slice(1, -1))
      this.statements.run(`DELETE FROM ${this.tables.items} WHERE field = ? AND value = ? AND slot = ?`, [
        column,
        item,
        slot,
      ])
  }

  #addText(slot: number, text: string) {
    const { texts, trigrams } = this.tables
    if (texts) this.statements.run(`INSERT INTO ${texts} VALUES (?, ?)`, [slot, text])
    if (trigrams) this.statements.run(`INSERT INTO ${trigrams.added} VALUES (?)`, [slot])
  }

  #removeText(slot: number) {
    const { texts, trigrams } = this.tables
    if (texts) this.statements.run(`DELETE FROM ${texts} WHERE slot = ?`, [slot])
    if (!trigrams) return
    if (this.statements.run(`DELETE FROM ${trigrams.added} WHERE slot = ?`, [slot]) > 0) return
    this.statements.run(`DELETE FROM ${trigrams.table} WHERE rowid = ?`, [slot])
    this.#set('unmerged = unmerged + 1')
  }

  #addTrigrams() {
    const { texts, trigrams } = this.tables
    if (!trigrams) return
    const { table, added } = trigrams
    if (Number(this.statements.number(`SELECT count(*) FROM ${added}`)) < TEXTS_AT_ONCE) return
    this.statements.run(
      `INSERT INTO ${table} (rowid, text) SELECT slot, text FROM ${added} CROSS JOIN ${texts} USING (slot)`,
    )
    this.statements.run(`DELETE FROM ${added}`)
  }
}

/** A missing value is null. */
function valueAt(document: Record<string, unknown>, path: readonly string[]): unknown {
  let value: unknown = document
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return null
    value = (value as Record<string, unknown>)[step]
  }
  return value ?? null
}

const isSame = (a: StoredValue | undefined, b: StoredValue | undefined) =>
  a instanceof Uint8Array && b instanceof Uint8Array ? a[0] === b[0] : a === b
