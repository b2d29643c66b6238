import type { Condition, FieldKind, Filter, Sort } from '@gantry/stores'
import type { Document as Conditions } from 'mongodb'
import { containing } from './text.ts'

const pathOf = (field: string) => `doc.${field}`

/**
 * The MongoDB filter for existing documents that satisfy a filter. Its fields must be declared. MongoDB compares as the port
 * requires: ranges only match values of the type of their bound, and null also matches a missing field.
 */
export function conditionsOf(
  { where = {}, textAs }: Filter,
  terms: readonly string[],
  indexed: boolean,
): Conditions {
  const fields = Object.entries(where).map(([field, condition]) => [pathOf(field), operatorsOf(condition)])
  const conditions = { live: true, ...Object.fromEntries(fields.filter(([, operators]) => operators)) }
  const having = (term: string) => {
    const values = textAs?.values[term] ?? []
    const contained = containing(term, indexed)
    if (!textAs || values.length === 0) return contained
    return { $or: [contained, { [pathOf(textAs.field)]: { $in: values } }] }
  }
  return terms.length === 0 ? conditions : { ...conditions, $and: terms.map(having) }
}

/** @returns undefined when the condition restricts nothing */
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
 * A condition on the only sort field that every document satisfies. MongoDB considers an index only if the query has a
 * condition on its first field. No field contains an object, so `$ne: {}` is always true.
 */
export function boundOf(sort: readonly Sort[], fields: Readonly<Record<string, FieldKind>>): Conditions {
  const [field, ...others] = new Set(sort.map(({ field }) => field))
  if (field === undefined || others.length > 0 || fields[field] === 'strings') return {}
  return { [pathOf(field)]: { $ne: {} } }
}

/** The MongoDB sort. If a field is given twice, the first direction counts. */
export function orderOf(sort: readonly Sort[]): Record<string, 1 | -1> {
  const order: Record<string, 1 | -1> = {}
  for (const { field, direction } of sort) order[pathOf(field)] ??= direction === 'desc' ? -1 : 1
  return { ...order, _id: sort[0]?.direction === 'desc' ? -1 : 1 }
}
