import {
  type Collection,
  type Document,
  type Filter,
  type Query,
  queryChecks,
  type Stored,
  type ValueCount,
} from '@gantry/stores'
import { each } from '../connection/connection.ts'
import { boundOf, conditionsOf, orderOf } from './conditions.ts'
import type { PreparedCollection } from './prepared-collection.ts'
import { foundBy, type Opening } from './searches.ts'
import type { StoredDocument } from './stored-document.ts'

const READ = { projection: { doc: 1, revision: 1, live: 1 } }

/** A projection of these parts of the documents. */
const readOf = (parts: readonly string[]) => ({
  projection: { revision: 1, ...Object.fromEntries(['id', ...parts].map(part => [`doc.${part}`, 1])) },
})

export function readsById<D extends Document>(
  prepared: PreparedCollection<D>,
): Pick<Collection<D>, 'get' | 'latest' | 'getMany' | 'existing' | 'ids'> {
  const { documents, run } = prepared
  return {
    get: id =>
      run(async () => {
        const found = await documents.findOne({ _id: id }, READ)
        return found?.live ? given<D>(found) : undefined
      }),
    latest: id =>
      run(async () => {
        const found = await documents.findOne({ _id: id }, READ)
        if (!found) return undefined
        return found.live ? given<D>(found) : { doc: null, revision: found.revision }
      }),
    getMany: ids =>
      run(async () => {
        const found = await documents.find({ _id: { $in: [...new Set(ids)] }, live: true }, READ).toArray()
        return found.map(given<D>)
      }),
    existing: ids =>
      run(async () => {
        const those = { _id: { $in: [...new Set(ids)] }, live: true }
        const found = await documents.find(those, { projection: { _id: 1 } }).toArray()
        return new Set(found.map(({ _id }) => _id))
      }),
    async *ids() {
      await run(() => prepared.ready())
      // Sorted by id, so that concurrent changes do not move documents.
      const found = documents.find(
        { live: true },
        { projection: { _id: 1 }, sort: { _id: 1 }, allowDiskUse: true },
      )
      for await (const { _id } of each(found, run)) yield _id
    },
  }
}

/** Checks the filters of a collection and translates them. */
function selecting<D extends Document>(prepared: PreparedCollection<D>, opening: Opening) {
  const { definition } = prepared
  const checks = queryChecks(definition)

  /** The filter for MongoDB; undefined when no document can satisfy it. */
  const selection = async (filter: Filter) => (await selectionInOrder(filter))?.conditions

  /** Also returns the ids that a search has found, the most relevant first. */
  const selectionInOrder = async (filter: Filter) => {
    const { text: terms } = checks.filter(filter)
    if (terms.length > 0 && !definition.text?.length) return undefined
    const conditions = conditionsOf(filter, terms, (await prepared.ready()).usesIndexes)
    if (!filter.search) return { conditions }
    const ids = await foundBy(prepared as unknown as PreparedCollection<Document>, filter.search, opening)
    return ids.length > 0 ? { conditions: { ...conditions, _id: { $in: ids } }, ids } : undefined
  }

  return { checks, selection, selectionInOrder }
}

/** Conditions for MongoDB, and the ids that a search has found, the most relevant first. */
interface Selected {
  conditions: object
  ids?: readonly string[]
}

/** Answers filters, searches and sorts. */
export function queries<D extends Document>(
  prepared: PreparedCollection<D>,
  opening: Opening,
): Pick<Collection<D>, 'find' | 'list' | 'count'> {
  const { definition, documents, run } = prepared
  const { checks, selection, selectionInOrder } = selecting(prepared, opening)

  const page = async ({ conditions, ids }: Selected, query: Query) => {
    const { sort = [], skip = 0, limit, parts } = query
    if (ids && sort.length === 0) return pageByRelevance({ conditions, ids }, query)
    const found = documents.find(
      { ...boundOf(sort, definition.fields), ...conditions },
      {
        ...(parts ? readOf(parts) : READ),
        sort: orderOf(sort),
        skip,
        limit,
        batchSize: limit + 1,
        // Deep in a list that no index sorts, the preceding documents can exceed the memory limit of a sort.
        allowDiskUse: true,
      },
    )
    return (await found.toArray()).map(given<D>)
  }

  const pageByRelevance = async (
    { conditions, ids }: Required<Selected>,
    { skip = 0, limit, parts }: Query,
  ) => {
    const found = await documents.find(conditions, { projection: { _id: 1 } }).toArray()
    const existing = new Set(found.map(({ _id }) => _id))
    const shown = ids.filter(id => existing.has(id)).slice(skip, skip + limit)
    const read = await documents
      .find({ _id: { $in: shown }, live: true }, parts ? readOf(parts) : READ)
      .toArray()
    const byId = new Map(read.map(stored => [stored._id, stored]))
    return shown.flatMap(id => byId.get(id) ?? []).map(given<D>)
  }

  return {
    find: query =>
      run(async () => {
        checks.page(query)
        const selected = await selectionInOrder(query)
        if (!selected) return { items: [], total: 0 }
        const { conditions } = selected
        const items = await page(selected, query)
        const { skip = 0, limit } = query
        const end = skip + items.length
        // The last page determines the total. A count that is made after the page is adjusted so that it does not contradict
        // it.
        if (items.length < limit && (items.length > 0 || skip === 0)) return { items, total: end }
        const counted = await documents.countDocuments(conditions)
        return { items, total: items.length > 0 ? Math.max(counted, end) : Math.min(counted, skip) }
      }),
    list: query =>
      run(async () => {
        checks.page(query)
        const selected = await selectionInOrder(query)
        return selected ? page(selected, query) : []
      }),
    count: filter =>
      run(async () => {
        const conditions = await selection(filter)
        return conditions ? documents.countDocuments(conditions) : 0
      }),
  }
}

/** Counts the documents by the values of a field. */
export function facets<D extends Document>(
  prepared: PreparedCollection<D>,
  opening: Opening,
): Pick<Collection<D>, 'facet'> {
  const { definition, documents, run } = prepared
  const { checks, selection } = selecting(prepared, opening)

  /** The items of a field of all documents that satisfy the conditions. */
  const itemsIn = async (conditions: object, field: string): Promise<ValueCount['value'][]> => {
    const found = await documents.find(conditions, { projection: { doc: 1 } }).toArray()
    return found.flatMap(
      ({ doc }) => (doc as unknown as Record<string, ValueCount['value'][] | null>)[field] ?? [],
    )
  }

  return {
    facet: (filter, field, limit) =>
      run(async () => {
        checks.field(field)
        const conditions = await selection(filter)
        if (!conditions) return []
        const ofItems = definition.fields[field] === 'strings'
        if (ofItems && !(await prepared.ready()).unwindsFields)
          return countedHere(await itemsIn(conditions, field), limit)
        const value = `$doc.${field}`
        const pipeline = [
          { $match: conditions },
          ...(ofItems ? [{ $unwind: value }] : []),
          { $group: { _id: value, count: { $sum: 1 } } },
          { $match: { _id: { $ne: null } } },
          { $sort: { count: -1, _id: 1 } },
          { $limit: limit },
        ]
        const found = documents.aggregate<{ _id: ValueCount['value']; count: number }>(pipeline)
        return (await found.toArray()).map(({ _id, count }) => ({ value: _id, count }))
      }),
  }
}

/** Counts values in this process. */
function countedHere(values: readonly ValueCount['value'][], limit: number): ValueCount[] {
  const all = [...Map.groupBy(values, value => value)].map(([value, same]) => ({ value, count: same.length }))
  return all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, limit)
}

const given = <D>({ doc, revision }: StoredDocument): Stored<D> => ({ doc: doc as D, revision })
