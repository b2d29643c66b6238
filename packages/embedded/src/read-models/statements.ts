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
  run(...params: StoredValue[]): { changes: number | bigint }
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
  readonly #prepared = new LRUCache<string, ArrayStatement>({ max: KEPT })

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** @returns the number of changed rows */
  run(sql: string, params: readonly StoredValue[] = []): number {
    return Number(this.#prepare(sql).run(...params).changes)
  }

  /** The first row. */
  row(sql: string, params: readonly StoredValue[] = []): Values | undefined {
    return this.#prepare(sql).get(...params)
  }

  /** All rows, with the values of their columns in order. */
  rows(sql: string, params: readonly StoredValue[] = []): Values[] {
    return this.#prepare(sql).all(...params)
  }

  /** The first column of the first row; undefined without a row. */
  number(sql: string, params: readonly StoredValue[] = []): number | undefined {
    return this.row(sql, params)?.[0] as number | undefined
  }

  /** The first column of all rows. */
  numbers(sql: string, params: readonly StoredValue[] = []): number[] {
    return this.rows(sql, params).map(([first]) => first as number)
  }

  #prepare(sql: string): ArrayStatement {
    let statement = this.#prepared.get(sql)
    if (!statement) {
      statement = asArrays(this.#db.prepare(sql))
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}
