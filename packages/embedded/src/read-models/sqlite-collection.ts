import { setImmediate } from 'node:timers/promises'
import {
  type Collection,
  type CollectionDefinition,
  type Document,
  type Filter,
  type Query,
  type Stored,
  UnknownField,
} from '@gantry/read-models'
import { LRUCache } from 'lru-cache'
import type { Bits } from './bits.ts'
import { CollectionIndex } from './collection-index.ts'
import type { DocumentTable, Row } from './document-table.ts'

/** What a collection is given of the file. */
export interface CollectionFile {
  table: DocumentTable
  /** Runs the job in a transaction of its own or with others, and waits until it is committed. */
  write<T>(job: () => T): Promise<T>
  /** Runs the job, which reads. @throws ReadModelsUnavailable */
  read<T>(job: () => T): T
  /** The same, and the job sees one state of the file. */
  snapshot<T>(job: () => T): T
  /** Milliseconds since 1970 by the clock of the host. */
  now(): number
}

/** Characters of JSON whose documents are kept parsed, for each collection. */
const KEPT_CHARACTERS = 8_000_000
const MAX_LIMIT = 1_000
const UNMARKED = { incomplete: false, generation: 0 }

/**
 * Documents are kept parsed by the place where they were stored, which never holds another: what is kept needs no
 * checking. Readers share them, so they are frozen.
 */
export function sqliteCollection<D extends Document>(
  definition: CollectionDefinition<D>,
  { table, read, snapshot, write, now }: CollectionFile,
): Collection<D> {
  const kept = new LRUCache<number, Stored<D>>({ maxSize: KEPT_CHARACTERS })
  const newIndex = (searchable: boolean) => new CollectionIndex(table, definition, searchable)
  let index = newIndex(false)
  let renewal: Promise<void> | undefined

  /** Makes a new index beside the one in use, a slice at a time. */
  const renew = (searchable: boolean) => {
    renewal ??= (async () => {
      try {
        const next = newIndex(searchable)
        while (!read(() => next.follow())) await setImmediate()
        index = next
      } finally {
        renewal = undefined
      }
    })()
    return renewal
  }

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

  /** Asks an index that has everything that is in the file, in one state of it. */
  const ask = async <T>(
    filter: Filter,
    question: (index: CollectionIndex, selected: Bits) => T,
  ): Promise<T> => {
    const text = checked(filter)
    const searching = text.length > 0
    while (searching && !index.searchable) await renew(true)
    // A failure leaves the old one in use, and the next question tries again.
    if (index.worn) renew(index.searchable).catch(() => {})
    for (;;) {
      const answer = snapshot(() =>
        index.follow() ? { value: question(index, index.select({ where: filter.where, text })) } : undefined,
      )
      if (answer) return answer.value
      await setImmediate()
    }
  }

  /** @returns the terms that need searching */
  const checked = ({ where = {}, text = [] }: Filter): string[] => {
    for (const name of Object.keys(where)) requireField(name)
    if (text.some(term => /\s/.test(term))) throw new RangeError('a search term has no whitespace')
    return text.filter(term => term !== '')
  }

  const requireField = (name: string) => {
    if (!Object.hasOwn(definition.fields, name)) throw new UnknownField(definition.name, name)
  }

  const find = async (query: Query) => {
    const { sort = [], skip = 0, limit } = query
    for (const { field } of sort) requireField(field)
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT && skip >= 0))
      throw new RangeError(`a page has 1 to ${MAX_LIMIT} documents and skips 0 or more`)
    return ask(query, (index, selected) => {
      const total = selected.count()
      const items = index
        .page(selected, total, query)
        .map(seq => kept.get(seq) ?? (parsed(table.at(seq)) as Stored<D>))
      return { items, total }
    })
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
    find,
    list: async query => (await find(query)).items,
    count: filter => ask(filter, (_, selected) => selected.count()),
    async *ids() {
      let after = ''
      for (;;) {
        const ids = read(() => table.idsAfter(after, MAX_LIMIT))
        yield* ids
        after = ids.at(-1) ?? ''
        if (ids.length < MAX_LIMIT) return
        await setImmediate()
      }
    },
    put: async (doc, revision) => {
      const json = JSON.stringify(doc)
      return write(() => table.store({ ...UNMARKED, id: doc.id, revision, doc: json, overSame: false }))
    },
    remove: async (id, revision) =>
      write(() => table.store({ ...UNMARKED, id, revision, doc: null, overSame: true })),
    async *olderThan(generation) {
      const through = read(() => table.last())
      for (let after = 0; after < through; ) {
        const marked = read(() => table.marksAfter(after, through, generation, MAX_LIMIT))
        for (const { id, revision, older } of marked) if (older) yield { id, revision }
        after = marked.at(-1)?.seq ?? through
        await setImmediate()
      }
    },
    removeOlder: async (generation, documents) =>
      write(() => documents.filter(({ id, revision }) => table.removeOlder(generation, id, revision)).length),
    forgetRemoved: async ageMs => write(() => table.forgetRemoved(now(), ageMs, MAX_LIMIT)),
  }
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part)
  return Object.freeze(value)
}
