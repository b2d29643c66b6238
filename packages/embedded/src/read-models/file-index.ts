import type { DatabaseSync } from 'node:sqlite'
import {
  type CollectionDefinition,
  type Condition,
  type Document,
  foldCase,
  type Scalar,
} from '@gantry/stores'
import type { DocumentTable, Row } from './document-table.ts'
import { reader, type Value } from './field.ts'
import { type Column, type IndexTables, indexTables } from './index-tables.ts'
import { Statements, type StoredValue, searchedText, storedScalar, storedText } from './statements.ts'

export interface Clause {
  sql: string
  params: StoredValue[]
}

const RANGE = { gt: true, gte: true, lt: true, lte: true }
type Range = Extract<Condition, { gt?: string | number }>

/** The stored form of an array: each item as JSON on its own line, so that an item can be found as a substring. */
const storedItems = (items: readonly Scalar[]): string => `\n${items.map(storedItem).join('\n')}\n`
export const storedItem = (item: Scalar): string => JSON.stringify(item)

/** The SQL condition of a filter condition on a row of the index. */
export const rowCondition = ({ name, kind }: Column, condition: Condition): Clause =>
  kind === 'strings' ? itemsCondition(name, condition) : scalarCondition(name, condition)

function scalarCondition(name: string, condition: Condition): Clause {
  if (isScalar(condition)) return equals(name, condition)
  if ('in' in condition) return oneOf(name, condition.in)
  if ('all' in condition) return and(condition.all.map(item => equals(name, item)))
  if ('not' in condition) return { sql: `${name} IS NOT ?`, params: [storedScalar(condition.not)] }
  return inRange(name, condition)
}

function itemsCondition(name: string, condition: Condition): Clause {
  if (isScalar(condition)) return matches(name, condition)
  if ('in' in condition) return or(condition.in.map(item => matches(name, item)))
  if ('all' in condition) return and(condition.all.map(item => matches(name, item)))
  if ('not' in condition) {
    const { sql, params } = matches(name, condition.not)
    return { sql: `(${sql}) IS NOT TRUE`, params }
  }
  return NEVER
}

/** Items that an array must contain to satisfy the condition. */
export function requiredItems(condition: Condition): readonly Scalar[] {
  if (condition === null) return []
  if (isScalar(condition)) return [condition]
  return 'all' in condition ? condition.all : []
}

export const isScalar = (condition: Condition): condition is Scalar =>
  condition === null || typeof condition !== 'object'

/** Whether the condition has a bound. */
export const isRange = (condition: Condition): condition is Range =>
  condition !== null &&
  typeof condition === 'object' &&
  Object.entries(condition).some(([name, bound]) => name in RANGE && bound !== undefined)

/** A condition that no row satisfies: slots start at 1. SQLite refuses `INDEXED BY` with a constant FALSE. */
export const NEVER: Clause = { sql: 'slot < 0', params: [] }

const equals = (name: string, value: Scalar): Clause =>
  value === null
    ? { sql: `${name} IS NULL`, params: [] }
    : { sql: `${name} = ?`, params: [storedScalar(value)] }

const matches = (name: string, item: Scalar): Clause =>
  item === null
    ? { sql: `${name} IS NULL`, params: [] }
    : { sql: `instr(${name}, ?) > 0`, params: [`\n${storedItem(item)}\n`] }

function oneOf(name: string, values: readonly Scalar[]): Clause {
  const given = values.filter(value => value !== null)
  const nulls = given.length < values.length ? [equals(name, null)] : []
  if (given.length === 0) return or(nulls)
  const among: Clause = {
    sql: `${name} IN (${given.map(() => '?').join(', ')})`,
    params: given.map(storedScalar),
  }
  return or([among, ...nulls])
}

/** Lower and upper bounds of all values of a type. SQLite orders null, numbers, texts, blobs. */
const KINDS = {
  number: { above: undefined, below: `''` },
  string: { above: `''`, below: `x''` },
}

/**
 * Values of another type than a bound, null included, are out of range. A bound on one side excludes the types on that side;
 * a second condition on the same side could make SQLite search the index by the wider one.
 */
function inRange(name: string, { gt, gte, lt, lte }: Range): Clause {
  const lower = boundsOf({ '>': gt, '>=': gte })
  const upper = boundsOf({ '<': lt, '<=': lte })
  const [kind, ...others] = new Set([...lower, ...upper].map(({ bound }) => typeof bound))
  if (kind !== 'number' && kind !== 'string') return and([])
  if (others.length > 0) return NEVER
  const { above, below } = KINDS[kind]
  return and([
    ...[...lower, ...upper].map(({ operator, bound }) => ({
      sql: `${name} ${operator} ?`,
      params: [storedScalar(bound)],
    })),
    ...(lower.length === 0 && above ? [{ sql: `${name} >= ${above}`, params: [] }] : []),
    ...(upper.length === 0 ? [{ sql: `${name} < ${below}`, params: [] }] : []),
  ])
}

const boundsOf = (bounds: Record<string, string | number | undefined>) =>
  Object.entries(bounds).flatMap(([operator, bound]) => (bound === undefined ? [] : [{ operator, bound }]))

export const and = (clauses: readonly Clause[]): Clause =>
  joined(clauses, ' AND ', { sql: 'TRUE', params: [] })
const or = (clauses: readonly Clause[]): Clause => joined(clauses, ' OR ', NEVER)

function joined(clauses: readonly Clause[], by: string, none: Clause): Clause {
  if (clauses.length === 0) return none
  return {
    sql: `(${clauses.map(({ sql }) => `(${sql})`).join(by)})`,
    params: clauses.flatMap(({ params }) => params),
  }
}

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
