import type { Condition, Scalar } from '@gantry/stores'
import type { Column } from './index-tables.ts'
import { type StoredValue, storedScalar } from './statements.ts'

export interface Clause {
  sql: string
  params: StoredValue[]
}

type Range = Extract<Condition, { gt?: string | number }>

/** The stored form of an array: each item as JSON on its own line, so that an item can be found as a substring. */
export const storedItems = (items: readonly Scalar[]): string => `\n${items.map(storedItem).join('\n')}\n`
export const storedItem = (item: Scalar): string => JSON.stringify(item)

/** The items of a stored array. */
export const readItems = (stored: string): Scalar[] => {
  const lines = stored.slice(1, -1)
  return lines === '' ? [] : lines.split('\n').map(line => JSON.parse(line))
}

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

export const isScalar = (condition: Condition): condition is Scalar =>
  condition === null || typeof condition !== 'object'

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
