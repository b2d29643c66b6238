import {
  type Collection,
  type CollectionDefinition,
  type Document,
  DocumentTooLarge,
  type Filter,
  type Query,
  type Stored,
  UnknownField,
} from '@gantry/read-models'
import { BSON } from 'mongodb'
import { boundOf, conditionsOf, orderOf } from './conditions.ts'
import type { Connection } from './connection.ts'
import { type Change, changeOf, makeChanges, pauseWatch } from './guarded-writes.ts'
import { collectionName, dropFormerIndexes, prepare, searchableIn } from './prepare.ts'
import { PROGRESS, type Progress } from './progress.ts'
import { each, forgetRemoved, olderThan, removeOlder } from './removals.ts'
import type { Server } from './server.ts'
import type { StoredDocument } from './stored-document.ts'

/** A collection with methods for this adapter only, whose errors are not translated for callers yet. */
export interface OpenCollection<D extends Document> extends Collection<D> {
  /**
   * Applies changes of different documents.
   * @param confirm of a pauseWatch that was started before the lease was checked
   * @returns the number of changes that were applied
   */
  make(changes: readonly Change[], confirm?: () => void): Promise<number>
  /** To be called after the collection was dropped. */
  prepareAgain(): void
}

const MAX_LIMIT = 1_000
/** Maximum size of a stored document: MongoDB's 16 MiB without the overhead of a request. */
const MOST_BYTES = 16 * 1024 * 1024 - 16 * 1024
/** How often a process prepares its collections again: another process may have dropped them, or declare fewer fields. */
const PREPARE_AGAIN_MS = 60_000
const READ = { projection: { doc: 1, revision: 1, live: 1 } }

export interface CollectionOptions {
  /** Determines the capabilities of the server. */
  server(): Promise<Server>
  /** Reads a monotonic clock, in milliseconds. */
  elapsed(): number
  /** Reads the clock of the server. */
  time(): Promise<Date>
}

export function mongoCollection<D extends Document>(
  definition: CollectionDefinition<D>,
  { db, run }: Connection,
  { server, elapsed, time }: CollectionOptions,
): OpenCollection<D> {
  const collection = db.collection<StoredDocument>(collectionName(definition))
  const progress = db.collection<Progress>(PROGRESS)
  let prepared: Promise<Server> | undefined
  let preparedAt = 0
  /**
   * Former indexes are dropped once per process: during an upgrade, processes of the previous version create them every
   * minute.
   */
  let tidied = false

  const prepareOnce = async () => {
    const found = await server()
    await prepare(db, definition, found)
    if (found.usesIndexes && !tidied) await dropFormerIndexes(collection)
    tidied ||= found.usesIndexes
    return found
  }

  const ready = (): Promise<Server> => {
    if (!prepared) {
      preparedAt = elapsed()
      prepared = prepareOnce().catch(error => {
        prepared = undefined
        throw error
      })
    } else if (elapsed() - preparedAt > PREPARE_AGAIN_MS) {
      preparedAt = elapsed()
      run(prepareOnce).catch(() => {})
    }
    return prepared
  }

  const make = async (changes: readonly Change[], confirm = pauseWatch(elapsed)) => {
    const { usesIndexes, changesPerRequest } = await ready()
    let tooLarge: DocumentTooLarge | undefined
    const stored = ({ id, revision, doc, incomplete, generation }: Change): StoredDocument => {
      const mark = { ...(incomplete && { incomplete }), generation }
      if (!doc) return { _id: id, revision, live: false, ...mark }
      return { _id: id, revision, live: true, ...mark, doc, ...searchableIn(definition, doc, usesIndexes) }
    }
    const fits = (change: Change) => {
      const bytes = change.doc ? BSON.calculateObjectSize(stored(change)) : 0
      if (bytes > MOST_BYTES)
        tooLarge ??= new DocumentTooLarge(definition.name, change.id, { bytes, most: MOST_BYTES })
      return bytes <= MOST_BYTES
    }
    const made = await makeChanges(collection, changes.filter(fits), {
      stored,
      changesPerRequest,
      confirm,
    })
    if (tooLarge) throw tooLarge
    return made
  }

  /** Checks a filter. @returns its non-empty terms */
  const checked = ({ where = {}, text = [] }: Filter): string[] => {
    for (const name of Object.keys(where)) requireField(name)
    if (text.some(term => /\s/.test(term))) throw new RangeError('a search term must not contain whitespace')
    return text.filter(term => term !== '')
  }

  const requireField = (name: string) => {
    if (!Object.hasOwn(definition.fields, name)) throw new UnknownField(definition.name, name)
  }

  /** The filter for MongoDB; undefined when no document can satisfy it. */
  const selection = async (filter: Filter) => {
    const terms = checked(filter)
    if (terms.length > 0 && !definition.text?.length) return undefined
    return conditionsOf(filter, terms, (await ready()).usesIndexes)
  }

  const page = async (conditions: object, { sort = [], skip = 0, limit }: Query) => {
    const found = collection.find(
      { ...boundOf(sort, definition.fields), ...conditions },
      {
        ...READ,
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

  const checkPage = ({ sort = [], skip = 0, limit }: Query) => {
    for (const { field } of sort) requireField(field)
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT && skip >= 0))
      throw new RangeError(`a page has 1 to ${MAX_LIMIT} documents and skips 0 or more`)
  }

  return {
    make,
    prepareAgain: () => {
      prepared = undefined
    },
    get: id =>
      run(async () => {
        const found = await collection.findOne({ _id: id }, READ)
        return found?.live ? given<D>(found) : undefined
      }),
    latest: id =>
      run(async () => {
        const found = await collection.findOne({ _id: id }, READ)
        if (!found) return undefined
        return found.live ? given<D>(found) : { doc: null, revision: found.revision }
      }),
    getMany: ids =>
      run(async () => {
        const found = await collection.find({ _id: { $in: [...new Set(ids)] }, live: true }, READ).toArray()
        return found.map(given<D>)
      }),
    existing: ids =>
      run(async () => {
        const those = { _id: { $in: [...new Set(ids)] }, live: true }
        const found = await collection.find(those, { projection: { _id: 1 } }).toArray()
        return new Set(found.map(({ _id }) => _id))
      }),
    find: query =>
      run(async () => {
        checkPage(query)
        const conditions = await selection(query)
        if (!conditions) return { items: [], total: 0 }
        const items = await page(conditions, query)
        const { skip = 0, limit } = query
        const end = skip + items.length
        // The last page determines the total. A count that is made after the page is adjusted so that it does not contradict
        // it.
        if (items.length < limit && (items.length > 0 || skip === 0)) return { items, total: end }
        const counted = await collection.countDocuments(conditions)
        return { items, total: items.length > 0 ? Math.max(counted, end) : Math.min(counted, skip) }
      }),
    list: query =>
      run(async () => {
        checkPage(query)
        const conditions = await selection(query)
        return conditions ? page(conditions, query) : []
      }),
    count: filter =>
      run(async () => {
        const conditions = await selection(filter)
        return conditions ? collection.countDocuments(conditions) : 0
      }),
    async *ids() {
      await run(ready)
      // Sorted by id, so that concurrent changes do not move documents.
      const found = collection.find(
        { live: true },
        { projection: { _id: 1 }, sort: { _id: 1 }, allowDiskUse: true },
      )
      for await (const { _id } of each(found, run)) yield _id
    },
    put: async (doc, revision) => {
      const change = changeOf({ id: doc.id, doc, revision })
      return (await run(() => make([change]))) === 1
    },
    remove: async (id, revision) => (await run(() => make([changeOf({ id, doc: null, revision })]))) === 1,
    async *olderThan(generation) {
      await run(ready)
      yield* olderThan(collection, generation, run)
    },
    removeOlder: (generation, documents) =>
      run(async () => removeOlder(collection, { generation, documents, server: await ready() })),
    forgetRemoved: ageMs =>
      run(async () => {
        const prepared = await ready()
        return forgetRemoved(collection, { now: (await time()).getTime(), ageMs, server: prepared, progress })
      }),
  }
}

const given = <D>({ doc, revision }: StoredDocument): Stored<D> => ({ doc: doc as D, revision })
