import type { SQLOutputValue } from 'node:sqlite'
import type { Clause } from './conditions.ts'
import type { IndexPosition, IndexTables } from './index-tables.ts'
import type { Statements, StoredValue } from './statements.ts'

/** The tables of an index, and the access to them. */
export interface IndexRows {
  tables: IndexTables
  statements: Statements
}

/** Rows per slice: a few milliseconds of work between two turns of the event loop. */
const SLICE = 10_000
/** All slots have been read. */
const ALL = Number.POSITIVE_INFINITY

/** What is kept of each row. */
interface Selected {
  /** The condition that a row must satisfy. */
  rows: Clause
  /** The table of texts, if the condition is about the text. */
  texts?: string | undefined
  /** The SQL expression whose value is kept. */
  value: string
}

/** Limit of what is kept for the collections of a file, in bytes. */
const KEPT_BYTES = 64 * 1024 * 1024
/** Number of values that are never dropped: a query must not drop those that it reads in slices. */
const LEAST_KEPT = 8

/** The values that are kept for all collections of a file. The least recently used ones are dropped beyond the limit. */
export class Kept {
  readonly #limit: number
  /** The most recently used one is the last. */
  readonly #values = new Map<string, { value: KeptValues; bytes: number }>()
  #bytes = 0

  /** @param limit in bytes */
  constructor(limit = KEPT_BYTES) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): KeptValues | undefined {
    return this.#values.get(key)?.value
  }

  /** Keeps a value as the most recently used one. To be called after each change of the value, which can be larger then. */
  keep(key: string, value: KeptValues): void {
    this.drop(key)
    const bytes = 2 * key.length + value.byteLength
    this.#values.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#limit || this.#values.size <= LEAST_KEPT) return
      this.drop(oldest)
    }
  }

  drop(key: string): void {
    this.#bytes -= this.#values.get(key)?.bytes ?? 0
    this.#values.delete(key)
  }
}

/**
 * A value of each row of the index, in memory. It is read once, then kept up to date by the rows that have changed since,
 * whichever process changed them.
 */
export abstract class KeptValues {
  readonly #selected: Selected
  /** The change up to which the values are up to date. */
  #at = 0
  /** Slots up to this one have been read: ALL from then on. */
  #read = 0
  #emptied = -1

  constructor(selected: Selected) {
    this.#selected = selected
  }

  /** @param value null if the row does not satisfy the condition */
  protected abstract set(slot: number, value: StoredValue): void
  protected abstract clear(): void
  /** Number of bytes in memory. */
  abstract get byteLength(): number

  /**
   * Reads what is missing, or a part of it. Needs a transaction in which the index is current.
   * @param source a faster query for the rows that satisfy the condition, with the columns `slot` and the value
   * @returns whether nothing is missing
   */
  update(index: IndexRows, { cursor, emptied }: IndexPosition, source?: Clause): boolean {
    // A later change was rolled back.
    if (this.#emptied !== emptied || this.#at > cursor) {
      this.clear()
      this.#at = cursor
      this.#emptied = emptied
      this.#read = source ? ALL : 0
      if (source) this.#setAll(index.statements.rows(source.sql, source.params))
    }
    if (this.#at < cursor) {
      this.#at = this.#readChanged(index) ?? cursor
      if (this.#at < cursor) return false
    }
    if (this.#read < ALL) this.#read = this.#readSlice(index)
    return this.#read === ALL
  }

  /** @returns the change up to which the values are up to date; undefined if there are no more changes */
  #readChanged({ tables, statements }: IndexRows): number | undefined {
    const { rows, value, texts } = this.#selected
    const changed = statements.rows(
      `SELECT slot, CASE WHEN ${rows.sql} THEN ${value} END, seq
       FROM ${tables.rows} INDEXED BY ${tables.rows}_seq ${texts ? `LEFT JOIN ${texts} USING (slot)` : ''}
       WHERE seq > ? ORDER BY seq LIMIT ${SLICE}`,
      [...rows.params, this.#at],
    )
    for (const [slot, kept] of changed)
      if ((slot as number) <= this.#read) this.set(slot as number, kept as StoredValue)
    return changed.length === SLICE ? (changed.at(-1)?.[2] as number) : undefined
  }

  #readSlice({ tables, statements }: IndexRows): number {
    const { rows, value, texts } = this.#selected
    const end = this.#read + SLICE
    const slice = statements.rows(
      `SELECT slot, ${value} FROM ${tables.rows} NOT INDEXED ${joining(texts)}
       WHERE slot > ? AND slot <= ? AND ${rows.sql}`,
      [this.#read, end, ...rows.params],
    )
    this.#setAll(slice)
    return end < (statements.number(`SELECT max(slot) FROM ${tables.rows}`) ?? 0) ? end : ALL
  }

  #setAll(rows: SQLOutputValue[][]) {
    for (const [slot, kept] of rows) this.set(slot as number, kept as StoredValue)
  }
}

/** The rows that satisfy a condition. */
export class KeptSelection extends KeptValues {
  /** A byte for each slot, from 1: one if it is selected. */
  bytes = new Uint8Array(0)
  count = 0

  constructor(rows: Clause, texts: string | undefined) {
    super({ rows, texts, value: '1' })
  }

  get byteLength(): number {
    return this.bytes.byteLength
  }

  protected set(slot: number, value: StoredValue) {
    if (slot > this.bytes.length) this.bytes = larger(this.bytes, slot)
    const selected = value === null ? 0 : 1
    this.count += selected - (this.bytes[slot - 1] as number)
    this.bytes[slot - 1] = selected
  }

  protected clear() {
    this.bytes.fill(0)
    this.count = 0
  }
}

/** What a different value takes in the array and the map of a column, beside its characters. */
const VALUE_BYTES = 80

/** The values of a column, as numbers of different values. */
export class KeptColumn extends KeptValues {
  /** The number of its value for each slot, from 1: an index of `values`, or 0 if the row has none. */
  numbers = new Int32Array(0)
  readonly values: StoredValue[] = [null]
  readonly #numberOf = new Map<unknown, number>()
  #bytesOfValues = 0

  constructor(name: string) {
    super({ rows: { sql: `${name} IS NOT NULL`, params: [] }, value: name })
  }

  get byteLength(): number {
    return this.numbers.byteLength + this.#bytesOfValues
  }

  protected set(slot: number, value: StoredValue) {
    if (slot > this.numbers.length) this.numbers = larger(this.numbers, slot)
    this.numbers[slot - 1] = value === null ? 0 : this.#number(value)
  }

  protected clear() {
    this.numbers.fill(0)
    this.#numberOf.clear()
    this.#bytesOfValues = 0
    this.values.length = 1
  }

  /**
   * The values, each with the number of its slots; without null.
   * @param among slots, or a byte for each slot as in a selection; all slots without it
   */
  counts(among?: readonly number[] | Uint8Array): [value: StoredValue, count: number][] {
    const counts = new Uint32Array(this.values.length)
    const add = (number = 0) => {
      counts[number] = (counts[number] as number) + 1
    }
    if (Array.isArray(among)) for (const slot of among) add(this.numbers[slot - 1])
    else for (let at = 0; at < this.numbers.length; at++) if (!among || among[at]) add(this.numbers[at])
    return this.values.flatMap((value, number) =>
      value !== null && counts[number] ? [[value, counts[number]]] : [],
    )
  }

  /** The values with their counts, in ascending order, null included. @param documents number of documents in `among` */
  blocks(documents: number, among?: Uint8Array): [value: StoredValue, count: number][] {
    const counts = this.counts(among)
    const nulls = counts.reduce((left, [, count]) => left - count, documents)
    return [[null, nulls], ...counts.toSorted(([a], [b]) => compare(a, b))]
  }

  /** A byte for each slot: one if it has the value and is in `among`. Slots of removed documents have null. */
  slotsWith(value: StoredValue, slots: number, among?: Uint8Array): Uint8Array {
    const number = value === null ? 0 : this.#numberOf.get(keyOf(value))
    const bytes = new Uint8Array(slots)
    for (let at = 0; at < slots; at++)
      if ((this.numbers[at] ?? 0) === number && (!among || among[at] === 1)) bytes[at] = 1
    return bytes
  }

  #number(value: StoredValue): number {
    const key = keyOf(value)
    let number = this.#numberOf.get(key)
    if (number === undefined) {
      number = this.values.push(value) - 1
      this.#numberOf.set(key, number)
      this.#bytesOfValues += VALUE_BYTES + (typeof value === 'string' ? 2 * value.length : 0)
    }
    return number
  }
}

/** Booleans are stored as blobs, which are different objects. */
const keyOf = (value: StoredValue) => (value instanceof Uint8Array ? value[0] === 1 : value)

/** The order of SQLite: numbers, texts, blobs. */
function compare(a: StoredValue, b: StoredValue): number {
  const rank = (value: StoredValue) => ['number', 'string', 'object'].indexOf(typeof value)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  const [one, other] = [a, b].map(keyOf) as [string, string]
  return one < other ? -1 : Number(one > other)
}

/** The key under which a column of an index is kept. */
export const keyOfColumn = ({ tables }: IndexRows, name: string): string => `${tables.number} ${name}`

/** CROSS keeps the order of the tables: SQLite would otherwise read all texts first. */
export const joining = (texts: string | undefined) => (texts ? `CROSS JOIN ${texts} USING (slot)` : '')

export function larger<Values extends Uint8Array | Int32Array>(values: Values, size: number): Values {
  const grown = new (values.constructor as new (length: number) => Values)(Math.ceil(size * 1.25) + 1_000)
  grown.set(values)
  return grown
}
