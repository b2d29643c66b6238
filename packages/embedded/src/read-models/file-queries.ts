import {
  type Condition,
  type Filter,
  foldCase,
  type Query,
  type Scalar,
  type ValueCount,
} from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import {
  and,
  type Clause,
  type FileIndex,
  isRange,
  isScalar,
  NEVER,
  requiredItems,
  rowCondition,
  storedItem,
} from './file-index.ts'
import type { Column } from './index-tables.ts'
import { readScalar, searchedText } from './statements.ts'

/** Maximum number of filters with cached counts. */
const COUNTS = 200
/**
 * Maximum number of slots that are cached for a filter, and sorted for a page. With more, the index of the order is walked.
 */
const FEW = 2_000
/** Maximum number of documents that are counted in an index at once. More are counted in slices of the rows. */
const AT_ONCE = 100_000
/** Maximum number of documents that are valid at a time or later for a count in the index of the validity. */
const VALID_AT_ONCE = 250_000
/** Rows per slice: a few milliseconds of work between two turns of the event loop. */
const SLICE = 5_000

/** The cached count of a filter: documents in slots up to `done`, as of the change `at`. */
interface CachedCount {
  at: number
  /** The value of `forgotten` when it was counted: see IndexPosition. */
  forgotten: number
  done: number
  count: number
  /** The slots of these documents; undefined once there are more than FEW. */
  slots: Set<number> | undefined
}

/**
 * Answers filters and sorts from an index in the file. Each method needs a transaction of the caller, in which the index is
 * current.
 *
 * A filter is counted once. Afterwards the count is kept up to date: rows that were replaced or removed since are
 * subtracted, and new ones are added.
 */
export class FileQueries {
  readonly #index: FileIndex
  readonly #counts = new LRUCache<string, CachedCount>({ max: COUNTS })

  constructor(index: FileIndex) {
    this.#index = index
  }

  /**
   * Counts the documents that satisfy the filter.
   * @returns undefined when there are more rows to count: call again, also if the file has changed since
   */
  count(filter: Filter): number | undefined {
    const { cursor, documents } = this.#index.position()
    if (restrictsNothing(filter)) return documents
    const cached = this.#cachedCountOf(filter, cursor)
    this.#subtractGone(cached, filter, cursor)
    if (cached.done < cursor) this.#addSlice(cached, filter, cursor)
    return cached.done === cursor ? cached.count : undefined
  }

  /** The slots of a page, in order. Faster after the filter was counted. */
  page(query: Query): number[] {
    const { sort = [], skip = 0, limit } = query
    const known = this.#counts.peek(keyOf(query))
    const { cursor, forgotten } = this.#index.position()
    const isComplete = known?.done === cursor && known.at === cursor && known.forgotten === forgotten
    const cached = isComplete ? known : undefined
    if (cached && skip >= cached.count) return []
    const { sql, params } = this.#pageSource(query, cached)
    const order = [...sort.map(({ field, direction }) => `${this.#column(field).name} ${direction}`), 'id']
    return this.#slots({
      sql: `${sql} ORDER BY ${order.join(', ')} LIMIT ? OFFSET ?`,
      params: [...params, limit, skip],
    })
  }

  /** The most frequent values of a field among the documents that satisfy the filter, then by value. Reads all of them. */
  facet(filter: Filter, field: string, limit: number): ValueCount[] {
    const { rows, items } = this.#index.tables
    const { name, number, kind } = this.#column(field)
    const source = this.#sources(filter).at(-1)?.clause
    const candidates = source && { sql: `slot IN (${source.sql})`, params: source.params }
    const { sql, params } = and([...(candidates ? [candidates] : []), this.#matching(filter)])
    const matching = `FROM ${rows} WHERE gone IS NULL AND ${sql}`
    const most = 'GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?'
    const found =
      kind === 'strings'
        ? `SELECT value, count(*) FROM ${items} WHERE field = ${number} AND slot IN (SELECT slot ${matching}) ${most}`
        : `SELECT ${name}, count(*) ${matching} AND ${name} IS NOT NULL ${most}`
    const values = this.#index.statements.rows(found, [...params, limit])
    const read = kind === 'strings' ? (item: unknown) => JSON.parse(String(item)) : readScalar
    return values.map(([value, count]) => ({ value: read(value), count: Number(count) }))
  }

  #cachedCountOf(filter: Filter, cursor: number): CachedCount {
    const key = keyOf(filter)
    let cached = this.#counts.get(key)
    const { purged, forgotten } = this.#index.position()
    if (cached && cached.forgotten === forgotten && purged <= cached.at) return cached
    cached = {
      ...(this.#fromOneIndex(filter, cursor) ?? { at: cursor, done: 0, count: 0, slots: new Set() }),
      forgotten,
    }
    this.#counts.set(key, cached)
    return cached
  }

  #subtractGone(cached: CachedCount, filter: Filter, cursor: number) {
    if (cached.at === cursor) return
    const { rows } = this.#index.tables
    const { sql, params } = this.#matching(filter)
    const gone = this.#slots({
      sql: `SELECT slot FROM ${rows} INDEXED BY ${rows}_gone WHERE gone > ? AND slot <= ? AND ${sql}`,
      params: [cached.at, cached.done, ...params],
    })
    cached.count -= gone.length
    for (const slot of gone) cached.slots?.delete(slot)
    cached.at = cursor
  }

  #addSlice(cached: CachedCount, filter: Filter, cursor: number) {
    const { rows } = this.#index.tables
    const { sql, params } = this.#matching(filter)
    const end = Math.min(cursor, cached.done + SLICE)
    const slice: Clause = {
      sql: `FROM ${rows} NOT INDEXED WHERE gone IS NULL AND slot > ? AND slot <= ? AND ${sql}`,
      params: [cached.done, end, ...params],
    }
    if (cached.slots) {
      for (const slot of this.#slots({ ...slice, sql: `SELECT slot ${slice.sql}` })) cached.slots.add(slot)
      cached.count = cached.slots.size
      if (cached.count > FEW) cached.slots = undefined
    } else cached.count += this.#index.statements.number(`SELECT count(*) ${slice.sql}`, slice.params)
    cached.done = end
  }

  /** Counts by one index, if that gives few candidates or exactly the requested documents; otherwise undefined. */
  #fromOneIndex(filter: Filter, cursor: number): Omit<CachedCount, 'forgotten'> | undefined {
    const sources = this.#sources(filter)
    for (const source of sources) {
      const candidates = this.#slots({ ...source.clause, sql: `${source.clause.sql} LIMIT ${FEW + 1}` })
      if (candidates.length > FEW) continue
      const slots = new Set(this.#slots(narrowed(this.#among(candidates), this.#matching(filter))))
      return { at: cursor, done: cursor, count: slots.size, slots }
    }
    const valid = this.#fromValidity(filter, cursor)
    if (valid) return valid
    const conditions = Object.keys(filter.where ?? {}).length + (filter.text?.length ?? 0)
    const [only] = sources
    if (conditions !== 1 || !only?.exact) return undefined
    const { sql, params } = only.clause
    const count = this.#index.statements.number(`SELECT count(*) FROM (${sql} LIMIT ${AT_ONCE + 1})`, params)
    if (count > AT_ONCE) return undefined
    return { at: cursor, done: cursor, count, slots: undefined }
  }

  /**
   * Counts in the index of the end of the validity, for a filter with a time and without texts. The cost is that of the
   * documents that are valid at that time or later, however many were valid only earlier.
   */
  #fromValidity(
    { where = {}, text = [] }: Filter,
    cursor: number,
  ): Omit<CachedCount, 'forgotten'> | undefined {
    const { rows, validity } = this.#index.tables
    const end = validity && where[validity.to]
    if (end === undefined || !isRange(end) || text.length > 0) return undefined
    const column = this.#column(validity?.to ?? '')
    const source = `FROM ${rows} INDEXED BY ${rows}_${column.name} WHERE gone IS NULL`
    const later = rowCondition(column, end)
    const candidates = this.#index.statements.number(
      `SELECT count(*) FROM (SELECT 1 ${source} AND ${later.sql} LIMIT ${VALID_AT_ONCE + 1})`,
      later.params,
    )
    if (candidates > VALID_AT_ONCE) return undefined
    const { sql, params } = this.#matching({ where })
    const slots = this.#slots({ sql: `SELECT slot ${source} AND ${sql} LIMIT ${FEW + 1}`, params })
    if (slots.length <= FEW) return { at: cursor, done: cursor, count: slots.length, slots: new Set(slots) }
    const count = this.#index.statements.number(`SELECT count(*) ${source} AND ${sql}`, params)
    return { at: cursor, done: cursor, count, slots: undefined }
  }

  /**
   * Queries of one index each. Each result includes all slots that satisfy the filter. With `exact` it is all slots
   * that satisfy one condition of the filter.
   */
  #sources({ where = {}, text = [] }: Filter): { clause: Clause; exact: boolean }[] {
    const conditions = Object.entries(where).flatMap(([field, condition]) => {
      const column = this.#column(field)
      if (column.kind !== 'strings')
        return 'not' in Object(condition) ? [] : [{ clause: this.#withValue(column, condition), exact: true }]
      const items = requiredItems(condition)
      return items.map(item => ({ clause: this.#withItem(column, item), exact: items.length === 1 }))
    })
    const { texts } = this.#index.tables
    const terms = text.flatMap(term => {
      const trigrams = trigramsOf(searchedText(foldCase(term)))
      if (!texts || trigrams.length === 0) return []
      const clause = {
        sql: `SELECT rowid AS slot FROM ${texts} WHERE ${texts} MATCH ?`,
        params: [trigrams.join(' ')],
      }
      return [{ clause, exact: false }]
    })
    return [...conditions, ...terms]
  }

  #withValue(column: Column, condition: Condition): Clause {
    const { rows } = this.#index.tables
    const { sql, params } = rowCondition(column, condition)
    const by = isScalar(condition) || isRange(condition) ? `INDEXED BY ${rows}_${column.name}` : ''
    return { sql: `SELECT slot FROM ${rows} ${by} WHERE gone IS NULL AND ${sql}`, params }
  }

  #withItem({ number }: Column, item: Scalar): Clause {
    return {
      sql: `SELECT slot FROM ${this.#index.tables.items} WHERE field = ${number} AND value = ?`,
      params: [storedItem(item)],
    }
  }

  #matching({ where = {}, text = [] }: Filter): Clause {
    if (text.length > 0 && !this.#index.tables.texts) return NEVER
    return and([
      ...Object.entries(where).map(([field, condition]) => rowCondition(this.#column(field), condition)),
      ...text.map(term => ({ sql: 'instr(text, ?) > 0', params: [searchedText(foldCase(term))] })),
    ])
  }

  #pageSource(query: Query, counted: CachedCount | undefined): Clause {
    const inOrder = counted?.slots ? undefined : this.#inOrder(query)
    if (inOrder) return inOrder
    const slots = (counted ?? this.#fromOneIndex(query, 0))?.slots
    if (slots) return this.#among([...slots])
    const { rows } = this.#index.tables
    const [first] = query.sort ?? []
    const { sql, params } = this.#matching(query)
    const column = first && this.#column(first.field)
    const by = `${rows}_${column && column.kind !== 'strings' ? column.name : 'id'}`
    return { sql: `SELECT slot FROM ${rows} INDEXED BY ${by} WHERE gone IS NULL AND ${sql}`, params }
  }

  /**
   * A query of an index that gives exactly the documents of the filter, in the order of the query; undefined if none does.
   */
  #inOrder({ where = {}, text = [], sort = [] }: Query): Clause | undefined {
    const [condition, ...others] = Object.entries(where)
    if (!condition || others.length > 0 || text.length > 0 || sort.length > 1) return undefined
    const column = this.#column(condition[0])
    if (column.kind === 'strings') return undefined
    const sorted = sort[0] && this.#column(sort[0].field)
    const ordered = sorted ? sorted === column : isScalar(condition[1])
    return ordered ? this.#withValue(column, condition[1]) : undefined
  }

  #among(slots: readonly number[]): Clause {
    return {
      sql: `SELECT slot FROM ${this.#index.tables.rows} WHERE slot IN (SELECT value FROM json_each(?))`,
      params: [JSON.stringify(slots)],
    }
  }

  #column(field: string): Column {
    return this.#index.tables.columns.get(field) as Column
  }

  #slots({ sql, params }: Clause): number[] {
    return this.#index.statements.slots(sql, params)
  }
}

const narrowed = (source: Clause, condition: Clause): Clause => ({
  sql: `${source.sql} AND ${condition.sql}`,
  params: [...source.params, ...condition.params],
})

const restrictsNothing = ({ where = {}, text = [] }: Filter) => Object.keys(where).length + text.length === 0

const keyOf = ({ where = {}, text = [] }: Filter) => JSON.stringify([where, text])

/**
 * The trigrams of a term as phrases of FTS5, https://sqlite.org/fts5.html §3.1; none for a term of fewer than three
 * characters.
 */
function trigramsOf(term: string): string[] {
  const characters = [...term]
  return [
    ...new Set(
      characters.slice(2).map(
        (_, at) =>
          `"${characters
            .slice(at, at + 3)
            .join('')
            .replaceAll('"', '""')}"`,
      ),
    ),
  ]
}
