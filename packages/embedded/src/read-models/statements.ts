import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { StoredValue } from './stored-value.ts'

const KEPT = 200

/** Runs generated SQL and caches the prepared statements. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #prepared = new LRUCache<string, StatementSync>({ max: KEPT })

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

  /** The column `slot` of all rows. */
  slots(sql: string, params: readonly StoredValue[] = []): number[] {
    return this.#prepare(sql)
      .all(...params)
      .map(({ slot }) => slot as number)
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}
