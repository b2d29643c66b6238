import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { StoredValue } from './stored-value.ts'

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
