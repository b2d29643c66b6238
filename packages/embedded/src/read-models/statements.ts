import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { Scalar } from '@gantry/stores'
import { LRUCache } from 'lru-cache'

/**
 * The form of a scalar in the index in the file. SQLite orders null, numbers, texts, blobs: the order of values in queries.
 */
export type StoredValue = null | number | string | Uint8Array

const FALSE = Uint8Array.of(0)
const TRUE = Uint8Array.of(1)

export const storedScalar = (value: Scalar): StoredValue =>
  typeof value === 'boolean' ? (value ? TRUE : FALSE) : typeof value === 'string' ? storedText(value) : value

const BEYOND = 0x2800

/**
 * Transforms a text so that the order of its UTF-8 bytes equals the order of the code units of the original. Each code unit
 * from U+D800 on, paired or not, becomes a code point above U+FFFF.
 */
export const storedText = (text: string): string =>
  text.replace(/[\ud800-\uffff]/g, unit => String.fromCodePoint(unit.charCodeAt(0) + BEYOND))

/** The scalar, other than null, of a stored value. */
export function readScalar(stored: unknown): string | number | boolean {
  if (stored instanceof Uint8Array) return stored[0] === 1
  if (typeof stored === 'number') return stored
  return String(stored).replace(/[\u{10000}-\u{127ff}]/gu, shifted =>
    String.fromCharCode((shifted.codePointAt(0) ?? 0) - BEYOND),
  )
}

/** Like `storedText`, but with NUL replaced, because the tokenizer would stop there. */
export const searchedText = (text: string): string =>
  storedText(text).replaceAll('\0', String.fromCodePoint(0x10000 + BEYOND))

const KEPT = 200

type Values = SQLOutputValue[]
interface ArrayStatement {
  get(...params: StoredValue[]): Values | undefined
  all(...params: StoredValue[]): Values[]
}

/**
 * Makes a statement return rows as arrays. As an object, each row takes memory that V8 frees in a full garbage collection
 * only.
 */
export function asArrays(statement: StatementSync): ArrayStatement {
  statement.setReturnArrays(true)
  return statement as unknown as ArrayStatement
}

/** Runs generated SQL and caches the prepared statements. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #prepared = new LRUCache<string, StatementSync>({ max: KEPT })
  /** Apart from the others: a statement that returns arrays returns them to all of its callers. */
  readonly #arrays = new LRUCache<string, ArrayStatement>({ max: KEPT })

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  run(sql: string, params: readonly StoredValue[] = []): void {
    this.#prepare(sql).run(...params)
  }

  get(sql: string, params: readonly StoredValue[] = []): Record<string, SQLOutputValue> | undefined {
    return this.#prepare(sql).get(...params)
  }

  /** The first column of the only row; 0 without a row. */
  number(sql: string, params: readonly StoredValue[] = []): number {
    return Number(Object.values(this.get(sql, params) ?? {})[0] ?? 0)
  }

  /** The first column of all rows, which is `slot`. */
  slots(sql: string, params: readonly StoredValue[] = []): number[] {
    return this.rows(sql, params).map(([slot]) => slot as number)
  }

  /** All rows, with the values of their columns in order. */
  rows(sql: string, params: readonly StoredValue[] = []): SQLOutputValue[][] {
    return cached(this.#arrays, sql, () => asArrays(this.#db.prepare(sql))).all(...params)
  }

  #prepare(sql: string): StatementSync {
    return cached(this.#prepared, sql, () => this.#db.prepare(sql))
  }
}

function cached<Statement extends object>(
  cache: LRUCache<string, Statement>,
  sql: string,
  prepare: () => Statement,
): Statement {
  let statement = cache.get(sql)
  if (!statement) {
    statement = prepare()
    cache.set(sql, statement)
  }
  return statement
}
