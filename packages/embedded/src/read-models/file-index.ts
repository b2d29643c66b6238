import type { DatabaseSync } from 'node:sqlite'
import { type CollectionDefinition, type Document, foldCase, type Scalar } from '@gantry/read-models'
import type { DocumentTable, Row } from './document-table.ts'
import { reader, type Value } from './field.ts'
import { type Column, type IndexTables, indexTables } from './index-tables.ts'
import { storedItem, storedItems } from './row-conditions.ts'
import { Statements } from './statements.ts'
import { searchedText, storedScalar, storedText } from './stored-value.ts'

/** Number of changes whose replaced rows are kept, so that cached counts from before them can be updated. */
const KEPT = 2_000
/**
 * Maximum lag, in changes, of an index that is updated within the transaction of a write. An index with a greater lag is
 * built in separate transactions.
 */
const BEHIND = 2_000

/** The progress of an index. */
export interface IndexPosition {
  /** Sequence number of the last applied change. */
  cursor: number
  /** Rows of documents that were replaced or removed up to this sequence number are deleted. */
  purged: number
  /** Number of indexed documents. */
  documents: number
  /**
   * The sequence number up to which tombstones were forgotten when the index was last rebuilt for that reason; 0 if never.
   */
  forgotten: number
}

/**
 * An index of one collection, in the file. It applies the changes of the documents in their order and stores its progress in
 * the same transaction, so that both survive or are lost together. Changes that another process stored without updating the
 * index are applied later. The row of a replaced or removed document is marked, and deleted some changes later.
 */
export class FileIndex {
  readonly tables: IndexTables
  readonly statements: Statements
  readonly #documents: DocumentTable
  readonly #columns: ReadonlyArray<Column & { read(document: object): Value }>
  readonly #textFields: readonly string[]

  /** Opens the index, or creates an empty one. Must not be called within a transaction. */
  constructor(db: DatabaseSync, documents: DocumentTable, definition: CollectionDefinition<Document>) {
    this.tables = indexTables(db, definition)
    this.statements = new Statements(db)
    this.#documents = documents
    this.#columns = [...this.tables.columns].map(([field, column]) => ({ ...column, read: reader(field) }))
    this.#textFields = definition.text ?? []
  }

  /** Applies up to `limit` changes. Needs a writing transaction. @returns whether there are no more */
  catchUp(limit: number): boolean {
    this.#resetIfForgotten()
    const { cursor, documents } = this.position()
    const changes = this.#documents.changesAfter(cursor, limit)
    const last = changes.at(-1)
    if (last) {
      this.#set(
        'documents',
        changes.reduce((count, change) => this.#apply(change, count), documents),
      )
      this.#set('cursor', last.seq)
      this.#purge(last.seq)
    }
    return changes.length < limit
  }

  /** Applies all changes, within the transaction that makes them, unless the index is far behind. */
  applyAll(): void {
    const behind = this.lastChange() - this.position().cursor
    if (behind > 0 && behind <= BEHIND) this.catchUp(behind + 1)
  }

  /** Whether all changes in the file are applied. */
  isCurrent(): boolean {
    return this.#documents.changesAfter(this.position().cursor, 1).length === 0
  }

  /** Sequence number of the last change of the collection. */
  lastChange(): number {
    return this.#documents.last()
  }

  position(): IndexPosition {
    const position = this.statements.get(
      'SELECT cursor, purged, documents, forgotten FROM indexes WHERE number = ?',
      [this.tables.number],
    )
    return position as unknown as IndexPosition
  }

  #set(what: keyof IndexPosition, value: number) {
    this.statements.run(`UPDATE indexes SET ${what} = ? WHERE number = ?`, [value, this.tables.number])
  }

  /** Empties the index when tombstones were forgotten before they were applied, because those removals are unknown now. */
  #resetIfForgotten() {
    const { cursor, forgotten } = this.position()
    const through = this.#documents.forgottenThrough()
    if (cursor >= through || forgotten === through) return
    this.#clear(0)
    this.#set('cursor', 0)
    this.#set('documents', 0)
    this.#set('forgotten', through)
  }

  /** @param documents number of documents before the change @returns number of documents after it */
  #apply({ seq, id, doc }: Row, documents: number): number {
    if (id === null) {
      this.#clear(seq)
      return 0
    }
    const others = this.#retire(id, seq) ? documents - 1 : documents
    if (doc === null) return others
    this.#add(seq, id, JSON.parse(doc))
    return others + 1
  }

  #clear(seq: number) {
    const { rows, items, texts } = this.tables
    this.statements.run(`DELETE FROM ${rows}`)
    this.statements.run(`DELETE FROM ${items}`)
    if (texts) this.statements.run(`INSERT INTO ${texts} (${texts}) VALUES ('delete-all')`)
    this.#set('purged', seq)
  }

  /** @returns whether the document was indexed */
  #retire(id: string, seq: number): boolean {
    const { rows, items, texts } = this.tables
    const key = storedText(id)
    const row = this.statements.get(
      `SELECT * FROM ${rows} INDEXED BY ${rows}_id WHERE id = ? AND gone IS NULL`,
      [key],
    )
    if (!row) return false
    const slot = row.slot as number
    for (const { name, number, kind } of this.#columns) {
      if (kind !== 'strings' || row[name] === null) continue
      for (const item of String(row[name]).split('\n').slice(1, -1))
        this.statements.run(`DELETE FROM ${items} WHERE field = ? AND value = ? AND slot = ?`, [
          number,
          item,
          slot,
        ])
    }
    if (texts) this.statements.run(`DELETE FROM ${texts} WHERE rowid = ?`, [slot])
    this.statements.run(`UPDATE ${rows} SET gone = ? WHERE slot = ?`, [seq, slot])
    return true
  }

  #add(slot: number, id: string, document: Record<string, unknown>) {
    const { rows, items, texts } = this.tables
    const key = storedText(id)
    const fields = this.#columns.map(({ number, kind, read }) => {
      const value = read(document)
      const list = Array.isArray(value) ? (value as Scalar[]) : value === null ? null : [value as Scalar]
      if (kind === 'strings') return { number, items: list ?? [], stored: list && storedItems(list) }
      return { number, items: [], stored: list === value ? null : storedScalar(value as Scalar) }
    })
    const given = this.#textFields.map(name => document[name]).filter(value => typeof value === 'string')
    const text = searchedText(foldCase(given.join('\n')))
    this.statements.run(`INSERT INTO ${rows} VALUES (?, ?, NULL, ${'?, '.repeat(fields.length)}?)`, [
      slot,
      key,
      ...fields.map(({ stored }) => stored),
      text,
    ])
    if (texts) this.statements.run(`INSERT INTO ${texts} (rowid, text) VALUES (?, ?)`, [slot, text])
    for (const field of fields)
      for (const item of field.items)
        this.statements.run(`INSERT OR IGNORE INTO ${items} VALUES (?, ?, ?)`, [
          field.number,
          storedItem(item),
          slot,
        ])
  }

  #purge(cursor: number) {
    const { rows } = this.tables
    const first = this.statements.number(
      `SELECT min(gone) FROM ${rows} INDEXED BY ${rows}_gone WHERE gone IS NOT NULL`,
    )
    if (first === 0 || first > cursor - 2 * KEPT) return
    this.statements.run(`DELETE FROM ${rows} WHERE gone <= ?`, [cursor - KEPT])
    this.#set('purged', cursor - KEPT)
  }
}
