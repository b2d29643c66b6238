import { setImmediate } from 'node:timers/promises'
import {
  type Collection,
  type CollectionDefinition,
  type Document,
  type Found,
  type Query,
  queryChecks,
  type Stored,
} from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import type { DocumentTable, Row } from './document-table.ts'
import type { Page } from './list-queries.ts'
import type { FileAccess, Lists } from './lists.ts'

/** The parts of a file that a collection uses. */
export interface CollectionFile extends Pick<FileAccess, 'read' | 'write'> {
  table: DocumentTable
  /** Time in milliseconds since 1970, for the age of tombstones. */
  now(): number
  lists(): Lists
}

/** Size of the cache of parsed documents per collection, in characters of JSON. */
const KEPT_CHARACTERS = 8_000_000
/** Number of ids, or of tombstones, that are read or forgotten together. */
const AT_ONCE = 1_000

/**
 * Parsed documents are cached by sequence number. A sequence number never refers to another document, so that the cache
 * needs no invalidation. Readers share the documents, so they are frozen.
 */
export function sqliteCollection<D extends Document>(
  definition: CollectionDefinition<D>,
  { table, lists, read, write, now }: CollectionFile,
): Collection<D> {
  const kept = new LRUCache<number, Stored<D>>({ maxSize: KEPT_CHARACTERS })
  const checks = queryChecks(definition)

  const parsed = (row: Row | undefined): Stored<D> | undefined => {
    if (!row || row.doc === null) return undefined
    const stored = freeze({ doc: JSON.parse(row.doc) as D, revision: row.revision })
    kept.set(row.seq, stored, { size: row.doc.length })
    return stored
  }

  const get = (id: string): Stored<D> | undefined => {
    const seq = table.seqOf(id)
    return seq === undefined ? undefined : (kept.get(seq) ?? parsed(table.get(id)))
  }

  /** How the documents of a page are read. With `parts`, only one whole document is in memory at a time. */
  const readerOf = ({ once, parts }: Query): ((seq: number) => Stored<D>) => {
    if (parts) return seq => partial(kept.peek(seq) ?? fromRow(table.at(seq)), parts)
    if (once) return seq => fromRow(table.at(seq))
    return seq => kept.get(seq) ?? (parsed(table.at(seq)) as Stored<D>)
  }

  const page = async (query: Query, counting: boolean) => {
    checks.page(query)
    const take = ({ seqs, total }: Page): Found<D> => ({ items: seqs.map(readerOf(query)), total })
    return lists().find({ ...query, ...checks.filter(query) }, { counting, take })
  }

  return {
    get: async id => read(() => get(id)),
    latest: async id =>
      read(() => {
        const row = table.get(id)
        return row && (parsed(row) ?? { doc: null, revision: row.revision })
      }),
    getMany: async ids => read(() => [...new Set(ids)].map(get).filter(stored => stored !== undefined)),
    existing: async ids => read(() => new Set(ids.filter(table.exists))),
    find: query => page(query, true),
    list: async query => (await page(query, false)).items,
    count: async filter => lists().count(checks.filter(filter)),
    facet: async (filter, field, limit) => {
      checks.field(field)
      return lists().facet(checks.filter(filter), field, limit)
    },
    ids: () => idsOf(table, read),
    put: async (doc, revision) => {
      const json = JSON.stringify(doc)
      return write(() => table.store({ id: doc.id, revision, doc: json, overSame: false, incomplete: false }))
    },
    remove: async (id, revision) =>
      write(() => table.store({ id, revision, doc: null, overSame: true, incomplete: false })),
    forgetRemoved: async ageMs => write(() => table.forgetRemoved(now(), ageMs, AT_ONCE)),
  }
}

async function* idsOf(table: DocumentTable, read: FileAccess['read']) {
  let after = ''
  for (;;) {
    const ids = read(() => table.idsAfter(after, AT_ONCE))
    yield* ids
    after = ids.at(-1) ?? ''
    if (ids.length < AT_ONCE) return
    await setImmediate()
  }
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part)
  return Object.freeze(value)
}

const fromRow = <D>(row: Row | undefined): Stored<D> => ({
  doc: JSON.parse(row?.doc ?? 'null') as D,
  revision: row?.revision ?? 0,
})

const partial = <D>({ doc, revision }: Stored<D>, parts: readonly string[]): Stored<D> => {
  const paths = ['id', ...parts].map(part => part.split('.'))
  return { doc: partsOf(doc, paths) as D, revision }
}

/** What a value has at these paths; of an array, what its items have there. */
function partsOf(value: unknown, paths: readonly string[][]): unknown {
  if (Array.isArray(value)) return value.map(item => partsOf(item, paths))
  if (typeof value !== 'object' || value === null) return value
  const inner = Map.groupBy(paths, ([name]) => name)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) => {
      const rest = inner.get(name)?.map(([, ...path]) => path)
      if (!rest) return []
      return [[name, rest.some(path => path.length === 0) ? part : partsOf(part, rest)]]
    }),
  )
}
