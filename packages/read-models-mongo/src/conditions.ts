import type { Condition, FieldKind, Filter, Sort } from '@gantry/read-models'
import type { Document as Conditions } from 'mongodb'
import { containing } from './text.ts'

const pathOf = (field: string) => `doc.${field}`

/**
 * MongoDB's filter for documents that are there and satisfy a filter whose fields are known to exist. Its comparisons
 * are those of the port: ranges keep to the kind of their bound, and null is also what is missing.
 */
export function conditionsOf({ where = {} }: Filter, terms: readonly string[], indexed: boolean): Conditions {
  const fields = Object.entries(where).map(([field, condition]) => [pathOf(field), operatorsOf(condition)])
  const conditions = { live: true, ...Object.fromEntries(fields.filter(([, operators]) => operators)) }
  return terms.length === 0
    ? conditions
    : { ...conditions, $and: terms.map(term => containing(term, indexed)) }
}

/** Undefined when the condition restricts nothing. */
function operatorsOf(condition: Condition): Conditions | undefined {
  if (condition === null || typeof condition !== 'object') return { $eq: condition }
  if ('in' in condition) return { $in: condition.in }
  if ('not' in condition) return { $ne: condition.not }
  if ('all' in condition) return condition.all.length > 0 ? { $all: condition.all } : undefined
  const bounds = Object.entries(condition).filter(([, bound]) => bound !== undefined)
  return bounds.length > 0
    ? Object.fromEntries(bounds.map(([name, bound]) => [`$${name}`, bound]))
    : undefined
}

/**
 * A condition that every document satisfies, on the one field that a list is sorted by: an index is considered for a
 * query only if the query has a condition on the index's first field. Fields hold no objects.
 */
export function boundOf(sort: readonly Sort[], fields: Readonly<Record<string, FieldKind>>): Conditions {
  const [field, ...others] = new Set(sort.map(({ field }) => field))
  if (field === undefined || others.length > 0 || fields[field] === 'strings') return {}
  return { [pathOf(field)]: { $ne: {} } }
}

/** MongoDB's order, in which ties are broken by id. Of two sorts by one field the first counts. */
export function orderOf(sort: readonly Sort[]): Record<string, 1 | -1> {
  const order: Record<string, 1 | -1> = {}
  for (const { field, direction } of sort) order[pathOf(field)] ??= direction === 'desc' ? -1 : 1
  return { ...order, _id: 1 }
}
