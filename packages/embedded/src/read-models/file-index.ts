import type { DatabaseSync } from 'node:sqlite'
import { type CollectionDefinition, type Document, foldCase, type Scalar } from '@gantry/read-models'
import type { DocumentTable, Row } from './document-table.ts'
import { reader, type Value } from './field.ts'
import { type Column, type IndexTables, indexTables } from './index-tables.ts'
import { storedItem, storedItems } from './row-conditions.ts'
import { Statements } from './statements.ts'
import { searchedText, storedScalar, storedText } from './stored-value.ts'

/** Changes whose former rows are kept, so that counts made before them can be brought up to date. */
const KEPT = 2_000
/** An index that is further behind is being made, in transactions of its own. */
const BEHIND = 2_000

/** How far an index has come. */
export interface IndexPosition {
  /** The last change that it has. */
  cursor: number
  /** Rows of documents that were replaced or removed up to this change are deleted. */
  purged: number
  /** How many documents it has. */
  documents: number
  /** Up to which change removals had been forgotten when it began anew for that; 0 when it never did. */
  forgotten: number
}

/**
 * An index of one collection in the file itself. It takes the changes of the documents in their order and stores with
 * them how far it has come: a transaction that was lost took both, and what another process has stored without the index
 * is taken in later. The row of a document that is replaced or removed is marked, and deleted some changes later.
 */
export class FileIndex {
  readonly tables: IndexTables
  readonly statements: Statements
  readonly #documents: DocumentTable
  readonly #columns: ReadonlyArray<Column & { read(document: object): Value }>
  readonly #textFields: readonly string[]

  /** Opens the index or makes it, empty. Not within a transaction. */
  constructor(db: DatabaseSync, documents: DocumentTable, definition: CollectionDefinition<Document>) {
    this.tables = indexTables(db, definition)
    this.statements = new Statements(db)
    this.#documents = documents
    this.#columns = [...this.tables.columns].map(([field, column]) => ({ ...column, read: reader(field) }))
    this.#textFields = definition.text ?? []
  }

  /** Takes in so many changes, within a transaction that writes. @returns whether these were all */
  follow(limit: number): boolean {
    this.#beginAnewIfForgotten()
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

  /** Takes in all changes, within the transaction that makes them, unless the index is far behind. */
  keepUp(): void {
    const behind = this.lastChange() - this.position().cursor
    if (behind > 0 && behind <= BEHIND) this.follow(behind + 1)
  }

  /** Whether it has all that is in the file. */
  isCurrent(): boolean {
    return this.#documents.changesAfter(this.position().cursor, 1).length === 0
  }

  /** The last change that there is. */
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

  /** Nothing tells any more of removals that were forgotten before they were taken in. */
  #beginAnewIfForgotten() {
    const { cursor, forgotten } = this.position()
    const through = this.#documents.forgottenThrough()
    if (cursor >= through || forgotten === through) return
    this.#clear(0)
    this.#set('cursor', 0)
    this.#set('documents', 0)
    this.#set('forgotten', through)
  }

  /** @returns how many documents there are after the change, of so many before it */
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

  /** @returns whether the document was there */
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
