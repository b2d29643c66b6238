import {
  type Condition,
  type Filter,
  foldCase,
  type Query,
  type Scalar,
  type Search,
  type Sort,
  type ValueCount,
} from '@gantry/stores'
import { and, type Clause, isScalar, NEVER, readItems, rowCondition, storedItem } from './conditions.ts'
import type { Column, TrigramTables } from './index-tables.ts'
import { joining, type Kept, KeptColumn, KeptSelection, keyOfColumn } from './kept-values.ts'
import type { ListIndex } from './list-index.ts'
import { type Searched, Searches } from './searches.ts'
import { readScalar, type StoredValue, searchedText } from './statements.ts'

/** Maximum number of documents that are found anew for each query. Selections of more are kept. */
const FEW = 1_000
/** Maximum number of slots that are read at once. More are read in slices. */
const AT_ONCE = 50_000
/** In the order of a field with more values than this, few documents have the same value. */
const MANY_VALUES = 1_000
/** With more documents than this, those of a value are not sorted for a page. */
const MANY_DOCUMENTS = 5_000
/** Estimated costs for a slot, in steps of a walk along an index or of a scan of the rows. */
const COSTS = { readRow: 8, readText: 3, sortRow: 15 }

/** A part of a filter: its condition on a row, and a query of one index for the slots that can satisfy it. */
interface Part {
  condition: Clause
  source?: Clause
  /** Whether the source gives only slots that satisfy the condition. */
  exact?: boolean
  /** Whether the condition is about the text. Such a source gives ascending slots, whose rows are cheaper to read. */
  isText?: boolean
}

interface Selection {
  count: number
  /** As in KeptSelection; all documents without it. Can have slots of removed documents, which `count` leaves out. */
  bytes?: Uint8Array
}

/** Which documents of a selection a page has. */
interface Span {
  sort: readonly Sort[]
  /** The order of documents that `sort` does not distinguish, by id. */
  ties: Sort['direction']
  skip: number
  limit: number
}

/** The indexes of the collections that describe the documents of a search. */
export interface Describing {
  describing: readonly ListIndex[]
}

/** A page of a list: the sequence numbers of its documents, and the total if it was requested. */
export interface Page {
  seqs: number[]
  total: number
}

/**
 * Answers filters and sorts from an index in the file. Each method needs a transaction of the caller, in which the index is
 * current. It returns undefined when there are more rows to read: call again, also if the file has changed since.
 */
export class ListQueries {
  readonly #index: ListIndex
  readonly #kept: Kept
  /** Names of columns with more than MANY_VALUES. */
  readonly #varied = new Set<string>()
  readonly #searches: Searches

  /** @param kept shared by the collections of the file, and with former queries of this index */
  constructor(index: ListIndex, kept: Kept) {
    this.#index = index
    this.#kept = kept
    this.#searches = new Searches(index, kept)
  }

  find(query: Query, { counting, describing }: Describing & { counting: boolean }): Page | undefined {
    const { sort = [], skip = 0, limit } = query
    const parts = this.#parts(query)
    const span: Span = { sort, skip, limit, ties: sort[0]?.direction ?? 'asc' }
    if (query.search) {
      const found = this.#searched(query.search, query, describing)
      if (!found) return undefined
      const seqs = sort.length > 0 ? this.#page(found, span) : this.#byRelevance(found, span)
      return seqs && { seqs, total: found.count }
    }
    const few = this.#few(query, parts)
    if (few) return { seqs: this.#sorted(few, span), total: few.length }
    if (!counting) return { seqs: this.#walk(parts, span), total: 0 }
    const selection = this.#selection(query, parts)
    const seqs = selection && this.#page(selection, span)
    return seqs && { seqs, total: selection.count }
  }

  count(filter: Filter, { describing }: Describing): number | undefined {
    if (filter.search) return this.#searched(filter.search, filter, describing)?.count
    const parts = this.#parts(filter)
    return this.#few(filter, parts)?.length ?? this.#selection(filter, parts)?.count
  }

  /** The most frequent values of a field among the documents that satisfy the filter, then by value. */
  facet(
    filter: Filter,
    { field, limit, describing }: Describing & { field: string; limit: number },
  ): ValueCount[] | undefined {
    const { name, kind } = this.#column(field)
    const parts = this.#parts(filter)
    const few = filter.search ? undefined : this.#few(filter, parts)
    const selection = filter.search
      ? this.#searched(filter.search, filter, describing)
      : few
        ? undefined
        : this.#selection(filter, parts)
    const column = this.#keptColumn(name)
    if (!(few || selection) || !column) return undefined
    const counts = new Map<Exclude<Scalar, null>, number>()
    for (const [stored, count] of column.counts(few ?? selection?.bytes)) {
      const values = kind === 'strings' ? readItems(String(stored)) : [readScalar(stored)]
      for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + count)
    }
    return [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, limit)
  }

  /** The documents that a search finds among those of the filter; undefined if there is more to read. */
  #searched(search: Search, filter: Filter, describing: readonly ListIndex[]): Searched | undefined {
    const found = this.#searches.find(search, describing)
    const { search: _, ...others } = filter
    const parts = this.#parts(others)
    if (!found || parts.length === 0) return found
    const selection = this.#selection(others, parts)
    if (!selection?.bytes) return selection && found
    const bytes = new Uint8Array(found.bytes.length)
    let count = 0
    for (let at = 0; at < bytes.length; at++) {
      if (found.bytes[at] !== 1 || selection.bytes[at] !== 1) continue
      bytes[at] = 1
      count++
    }
    return { scores: found.scores, bytes, count }
  }

  /** The sequence numbers of a page, the most relevant documents first, then by id. */
  #byRelevance({ scores, bytes, count }: Searched, { skip, limit }: Span): number[] {
    if (skip >= count) return []
    const slots = [...slotsOf(bytes)]
    const sorted = Float32Array.from(slots, slot => scores[slot] as number)
      .sort()
      .reverse()
    const [first, last] = [sorted[skip] as number, sorted[Math.min(skip + limit, count) - 1] as number]
    const better = sorted.findIndex(score => score <= first)
    const shown = slots.filter(slot => (scores[slot] as number) <= first && (scores[slot] as number) >= last)
    const { tables, statements } = this.#index
    const ids = `SELECT slot, seq FROM ${tables.rows} WHERE slot IN (SELECT value FROM json_each(?)) ORDER BY id`
    return statements
      .rows(ids, [JSON.stringify(shown)])
      .map(([slot, seq]) => ({ seq: seq as number, score: scores[slot as number] as number }))
      .toSorted((a, b) => b.score - a.score)
      .slice(skip - better, skip - better + limit)
      .map(({ seq }) => seq)
  }

  #parts({ where = {}, text = [], textAs }: Filter): Part[] {
    const { texts, trigrams } = this.#index.tables
    return [
      ...Object.entries(where).flatMap(([field, condition]) => this.#partsOf(this.#column(field), condition)),
      ...text.map(term => {
        const part = texts ? textPart(texts, trigrams, term) : NOTHING
        const values = textAs?.values[term] ?? []
        return textAs && values.length > 0 ? this.#orAny(part, textAs.field, values) : part
      }),
    ]
  }

  /** Also lets through the rows with one of the values in a `strings` field. */
  #orAny({ condition, source, ...part }: Part, field: string, values: readonly string[]): Part {
    const any = {
      sql: `SELECT slot FROM ${this.#index.tables.items} WHERE field = ${this.#column(field).number}
            AND value IN (SELECT value FROM json_each(?))`,
      params: [JSON.stringify(values.map(storedItem))],
    }
    const either = {
      sql: `${condition.sql} OR slot IN (${any.sql})`,
      params: [...condition.params, ...any.params],
    }
    if (!source) return { ...part, condition: either }
    const both = { sql: `${source.sql} UNION ${any.sql}`, params: [...source.params, ...any.params] }
    return { ...part, condition: either, source: both }
  }

  #partsOf(column: Column, condition: Condition): Part[] {
    const { rows, items } = this.#index.tables
    const row = rowCondition(column, condition)
    const required = column.kind === 'strings' ? requiredItems(condition) : []
    if (required.length > 0) {
      const sql = `SELECT slot FROM ${items} WHERE field = ${column.number} AND value = ?`
      return required.map(item => ({
        condition: rowCondition(column, item),
        source: { sql, params: [storedItem(item)] },
        exact: true,
      }))
    }
    if (!column.indexed || 'not' in Object(condition)) return [{ condition: row }]
    const by = isScalar(condition) || isRange(condition) ? `INDEXED BY ${rows}_${column.name}` : ''
    const sql = `SELECT slot FROM ${rows} ${by} WHERE ${IS_LIVE.sql} AND ${row.sql}`
    return [{ condition: row, source: { sql, params: row.params }, exact: true }]
  }

  /** The slots that satisfy the filter, in no order, if one index gives only few candidates. */
  #few(filter: Filter, parts: readonly Part[]): number[] | undefined {
    if (this.#kept.get(this.#keyOfSelection(filter))) return undefined
    for (const part of parts) {
      if (!part.source) continue
      const { sql, params } = part.source
      const candidates = this.#index.statements.numbers(`${sql} LIMIT ${FEW + 1}`, params)
      if (candidates.length > FEW) continue
      if (candidates.length === 0) return []
      const given = { sql: 'SELECT value AS slot FROM json_each(?)', params: [JSON.stringify(candidates)] }
      const narrowed = this.#narrowed(given, othersThan(part, parts))
      return this.#index.statements.numbers(narrowed.sql, narrowed.params)
    }
    return undefined
  }

  /** The kept selection of a filter, without bytes if that selects everything; undefined if there is more to read. */
  #selection(filter: Filter, parts: readonly Part[]): Selection | undefined {
    const position = this.#index.position()
    if (parts.length === 0) return { count: position.documents }
    const key = this.#keyOfSelection(filter)
    const known = this.#kept.get(key) as KeptSelection | undefined
    const selection = known ?? new KeptSelection(and([IS_LIVE, conditionOf(parts)]), this.#textsOf(parts))
    const complete = selection.update(this.#index, position, known ? undefined : this.#bestSource(parts))
    this.#kept.keep(key, selection)
    return complete ? selection : undefined
  }

  #keptColumn(name: string): KeptColumn | undefined {
    const position = this.#index.position()
    const key = keyOfColumn(this.#index, name)
    let column = this.#kept.get(key) as KeptColumn | undefined
    // Values that no document has any more are dropped with the column.
    if (!column || column.values.length > 2 * position.documents + 1_000) column = new KeptColumn(name)
    const complete = column.update(this.#index, position)
    this.#kept.keep(key, column)
    return complete ? column : undefined
  }

  /** A kept column that has few values; undefined if there is more to read. */
  #columnOfFew(name: string): KeptColumn | undefined | 'many values' {
    if (this.#varied.has(name)) return 'many values'
    const column = this.#keptColumn(name)
    const key = keyOfColumn(this.#index, name)
    const { values } = this.#kept.get(key) as KeptColumn
    if (values.length <= MANY_VALUES) return column
    this.#varied.add(name)
    this.#kept.drop(key)
    return 'many values'
  }

  #keyOfSelection({ where = {}, text = [], textAs }: Filter): string {
    return `${this.#index.tables.number} ${JSON.stringify([where, text, textAs])}`
  }

  /** The query for exactly the slots of the filter that starts from one index, unless a scan of the rows is faster. */
  #bestSource(parts: readonly Part[]): Clause | undefined {
    const { documents } = this.#index.position()
    let cost = documents * (this.#textsOf(parts) ? COSTS.readText : 1)
    let best: Clause | undefined
    for (const part of parts) {
      const { source, isText } = part
      if (!source) continue
      const others = othersThan(part, parts)
      const each = others.length === 0 ? 1 : isText ? COSTS.readText : COSTS.readRow
      const most = Math.min(AT_ONCE, Math.floor(cost / each))
      const sql = `SELECT count(*) FROM (${source.sql} LIMIT ${most + 1})`
      const candidates = this.#index.statements.number(sql, source.params) ?? 0
      if (candidates > most) continue
      cost = candidates * each
      best = this.#narrowed(source, others)
    }
    return best
  }

  #narrowed(source: Clause, others: readonly Part[]): Clause {
    if (others.length === 0) return source
    const { sql, params } = conditionOf(others)
    const join = `CROSS JOIN ${this.#index.tables.rows} USING (slot) ${joining(this.#textsOf(others))}`
    return {
      sql: `SELECT slot FROM (${source.sql}) ${join} WHERE ${sql}`,
      params: [...source.params, ...params],
    }
  }

  /** The sequence numbers of a page; undefined if there is more to read. */
  #page(selection: Selection, span: Span): number[] | undefined {
    const { count, bytes } = selection
    const { sort, skip, limit } = span
    if (skip >= count) return []
    const { documents } = this.#index.position()
    if (bytes && count * COSTS.sortRow < documents * Math.min(1, (skip + limit) / count))
      return this.#sorted([...slotsOf(bytes)], span)
    if (sort[0] && documents > MANY_DOCUMENTS) {
      const column = this.#columnOfFew(this.#column(sort[0].field).name)
      if (column !== 'many values') return column && this.#inBlocks(column, selection, span)
    }
    const selected = bytes ? { sql: "substr(?, slot, 1) = x'01'", params: [bytes] } : and([])
    const start = skip > FEW ? this.#startOf(selected, span) : undefined
    const parts = [selected, ...(start ? [start.condition] : [])].map(condition => ({ condition }))
    return this.#walk(parts, { ...span, skip: start?.skip ?? skip })
  }

  /**
   * Skips in the index of the first field alone, up to the value that the page begins with. A walk in the order of the page
   * would read each row that it skips, for its id.
   */
  #startOf(selected: Clause, { sort, skip }: Span): { condition: Clause; skip: number } | undefined {
    const [first] = sort
    const { name, indexed } = first ? this.#column(first.field) : { name: '', indexed: false }
    if (!first || !indexed) return undefined
    const { tables, statements } = this.#index
    const { rows } = tables
    const { direction } = first
    const skipped = {
      sql: `SELECT ${name} AS value FROM ${rows} INDEXED BY ${rows}_${name} WHERE ${IS_LIVE.sql} AND ${selected.sql}
        ORDER BY value ${direction} LIMIT ?`,
      params: [...selected.params, skip],
    }
    // LIMIT with two numbers: the first one is the offset.
    const value = (statements.row(`${skipped.sql}, 1`, skipped.params)?.[0] ?? null) as StoredValue
    const others = `SELECT count(*) FROM (${skipped.sql}) WHERE value IS NOT ?`
    const isReached = direction === 'asc' ? `${name} >= ?` : `${name} <= ? OR ${name} IS NULL`
    const isNull = direction === 'asc' ? 'TRUE' : `${name} IS NULL`
    return {
      condition: value === null ? { sql: isNull, params: [] } : { sql: isReached, params: [value] },
      skip: skip - (statements.number(others, [...skipped.params, value]) ?? 0),
    }
  }

  /**
   * A page in the order of a field of few values. The documents of a value are found along the index of the next field, or of
   * the id, because the index of a field has the documents of a value in no order.
   */
  #inBlocks(column: KeptColumn, { count, bytes }: Selection, span: Span): number[] | undefined {
    const [{ direction } = { direction: 'asc' }, ...sort] = span.sort
    const slots = this.#index.statements.number(`SELECT max(slot) FROM ${this.#index.tables.rows}`) ?? 0
    const blocks = column.blocks(count, bytes)
    if (direction === 'desc') blocks.reverse()
    const seqs: number[] = []
    let { skip } = span
    for (const [value, size] of blocks) {
      const limit = Math.min(size - skip, span.limit - seqs.length)
      if (limit > 0) {
        const block = { count: size, bytes: column.slotsWith(value, slots, bytes) }
        const page = this.#page(block, { ...span, sort, skip, limit })
        if (!page) return undefined
        seqs.push(...page)
      }
      skip = Math.max(0, skip - size)
    }
    return seqs
  }

  /** The sequence numbers of a page of these documents. */
  #sorted(slots: readonly number[], { skip, limit, ...order }: Span): number[] {
    const { tables, statements } = this.#index
    return statements.numbers(
      `SELECT seq FROM ${tables.rows} WHERE slot IN (SELECT value FROM json_each(?)) AND ${IS_LIVE.sql}
       ORDER BY ${this.#order(order)} LIMIT ? OFFSET ?`,
      [JSON.stringify(slots), limit, skip],
    )
  }

  /** The sequence numbers of a page, found along the index of the first field of the order. */
  #walk(parts: readonly Part[], { skip, limit, ...order }: Span): number[] {
    const { tables, statements } = this.#index
    const { rows } = tables
    const first = order.sort[0] && this.#column(order.sort[0].field)
    const { sql, params } = conditionOf(parts)
    const slots = statements.numbers(
      `SELECT slot FROM ${rows} INDEXED BY ${rows}_${first?.indexed ? first.name : 'id'} ${joining(this.#textsOf(parts))}
       WHERE ${IS_LIVE.sql} AND ${sql} ORDER BY ${this.#order(order)} LIMIT ? OFFSET ?`,
      [...params, limit, skip],
    )
    // Read apart, so that SQLite does not read the rows that it skips.
    return slots.map(slot => Number(statements.number(`SELECT seq FROM ${rows} WHERE slot = ?`, [slot])))
  }

  #order({ sort, ties }: Pick<Span, 'sort' | 'ties'>): string {
    const fields = sort.map(({ field, direction }) => `${this.#column(field).name} ${direction}`)
    return [...fields, `id ${ties}`].join(', ')
  }

  /** The table of texts, if one of the conditions is about them. */
  #textsOf(parts: readonly Part[]): string | undefined {
    return parts.some(({ isText }) => isText) ? this.#index.tables.texts : undefined
  }

  #column(field: string): Column {
    return this.#index.tables.columns.get(field) as Column
  }
}

const IS_LIVE: Clause = { sql: 'id IS NOT NULL', params: [] }
const NOTHING: Part = {
  condition: NEVER,
  source: { sql: 'SELECT 0 AS slot WHERE FALSE', params: [] },
  exact: true,
}

const conditionOf = (parts: readonly Part[]) => and(parts.map(({ condition }) => condition))

/** The parts whose conditions remain to be checked on the slots of the source of one. */
const othersThan = (part: Part, parts: readonly Part[]) =>
  parts.filter(other => other !== part || !part.exact)

/** Items that an array must contain to satisfy the condition. */
function requiredItems(condition: Condition): readonly Scalar[] {
  if (condition === null) return []
  if (isScalar(condition)) return [condition]
  return 'all' in condition ? condition.all : []
}

/** Whether the condition has a bound. */
const isRange = (condition: Condition) =>
  !isScalar(condition) && ['gt', 'gte', 'lt', 'lte'].some(name => condition?.[name as never] !== undefined)

/**
 * FTS5 finds the texts with all trigrams of a term (https://sqlite.org/fts5.html §4.3.4), which may be apart unless there
 * is only one. A term of fewer than three characters has none.
 */
function textPart(texts: string, trigrams: TrigramTables | undefined, term: string): Part {
  const sought = searchedText(foldCase(term))
  const condition = { sql: 'instr(text, ?) > 0', params: [sought] }
  const phrases = trigramsOf(sought)
  if (!trigrams || phrases.length === 0) return { condition, isText: true }
  const { table, added } = trigrams
  const source = {
    sql: `SELECT rowid AS slot FROM ${table} WHERE ${table} MATCH ?
          UNION ALL SELECT slot FROM ${added} CROSS JOIN ${texts} USING (slot) WHERE instr(text, ?) > 0`,
    params: [phrases.join(' '), sought],
  }
  return { condition, source, exact: phrases.length === 1, isText: true }
}

/** The different trigrams of a term as phrases of FTS5. */
function trigramsOf(term: string): string[] {
  const characters = [...term]
  const trigrams = characters.slice(2).map((_, at) => characters.slice(at, at + 3).join(''))
  return [...new Set(trigrams)].map(trigram => `"${trigram.replaceAll('"', '""')}"`)
}

function* slotsOf(bytes: Uint8Array): Generator<number> {
  for (let at = bytes.indexOf(1); at >= 0; at = bytes.indexOf(1, at + 1)) yield at + 1
}
