import {
  impactsOf,
  MemoryWords,
  type Posting,
  rank,
  type Search,
  type Term,
  termsOf,
  type WordSource,
} from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { KeptReferences, KeptSlots } from './kept-references.ts'
import { type Kept, KeptColumn, type KeptValues, keyOfColumn } from './kept-values.ts'
import type { ListIndex } from './list-index.ts'
import type { RecentWords } from './recent-words.ts'
import { readScalar } from './statements.ts'

/** The documents that a search finds. A slot is the number of a document in the index. */
export interface Searched {
  /** By slot: the relevance of the document; 0 if it is not found. */
  scores: Float32Array
  /** One byte for each slot, the first for slot 1: 1 if the document is found. */
  bytes: Uint8Array
  count: number
}

/** Number of cached results. A page, its total and the facets are separate calls. */
const KEPT = 4

/** Finds and ranks the documents of an index. Each call needs a transaction in which the indexes are current. */
export class Searches {
  readonly #index: ListIndex
  readonly #found = new LRUCache<string, { at: string; searched: Searched }>({ max: KEPT })
  readonly #kept: Kept

  constructor(index: ListIndex, kept: Kept) {
    this.#index = index
    this.#kept = kept
  }

  /**
   * @param describing the indexes of the collections of `described`
   * @returns undefined if there is more to read: call again
   */
  find(search: Search, describing: readonly ListIndex[]): Searched | undefined {
    const { q, described, named } = search
    const key = JSON.stringify([q, described?.map(({ field }) => field), named])
    const at = JSON.stringify([this.#index, ...describing].map(index => index.position()))
    const known = this.#found.get(key)
    if (known?.at === at) return known.searched
    const sources = this.#sources(search, describing)
    if (!sources) return undefined
    const { documents } = this.#index.position()
    const size = (this.#index.statements.number(`SELECT max(slot) FROM ${this.#index.tables.rows}`) ?? 0) + 1
    const { scores, found } = rank(termsOf(q), sources, { documents, size })
    const bytes = new Uint8Array(size)
    for (let slot = 1; slot < size; slot++) if ((scores[slot] as number) > 0) bytes[slot - 1] = 1
    const searched = { scores, bytes, count: found }
    this.#found.set(key, { at, searched })
    return searched
  }

  /** undefined if there is more to read. */
  #sources({ described = [], named }: Search, describing: readonly ListIndex[]): WordSource[] | undefined {
    const sources = [this.#words(this.#index)]
    for (const [at, index] of describing.entries()) {
      const words = this.#words(index)
      const references = words && this.#references(index, described[at]?.field ?? '')
      sources.push(references && mapped(words, references))
    }
    if (named && this.#index.tables.columns.has(named.field)) {
      const column = this.#column(this.#index, named.field)
      sources.push(column && namesOf(column, named))
    }
    return sources.every(source => source !== undefined) ? sources : undefined
  }

  /** The words of an index; undefined if there is more to read. */
  #words(index: ListIndex): WordSource | undefined {
    const { words, tables } = index
    if (!words) return new MemoryWords()
    const key = `${tables.number} recent words`
    const recent = words.recent(index.position(), this.#kept.get(key) as RecentWords | undefined)
    return this.#updated(key, recent, index) && words.source(recent)
  }

  /** The slots of the documents that those of another index describe; undefined if there is more to read. */
  #references(describing: ListIndex, field: string): KeptReferences | undefined {
    const documents = this.#index.position().documents + describing.position().documents
    const keyOfSlots = `${this.#index.tables.number} slots`
    let slots = this.#kept.get(keyOfSlots) as KeptSlots | undefined
    // Ids of removed documents are dropped with the slots. Each document of both indexes has or names one id.
    if (!slots || slots.size > 2 * documents + 1_000) slots = new KeptSlots()
    const { name } = describing.tables.columns.get(field) ?? { name: 'id' }
    const key = `${keyOfColumn(describing, name)} to ${this.#index.tables.number}`
    let references = this.#kept.get(key) as KeptReferences | undefined
    if (references?.to !== slots) references = new KeptReferences(name, slots)
    // Both, so that the references of this slice stay valid for the next one.
    const updated = [
      this.#updated(key, references, describing),
      this.#updated(keyOfSlots, slots, this.#index),
    ]
    return updated.includes(undefined) ? undefined : references
  }

  #column(index: ListIndex, field: string): KeptColumn | undefined {
    const { name } = index.tables.columns.get(field) ?? { name: 'id' }
    const key = keyOfColumn(index, name)
    return this.#updated(key, (this.#kept.get(key) as KeptColumn | undefined) ?? new KeptColumn(name), index)
  }

  /** undefined if there is more to read. */
  #updated<Values extends KeptValues>(key: string, values: Values, index: ListIndex): Values | undefined {
    const isComplete = values.update(index, index.position())
    this.#kept.keep(key, values)
    return isComplete ? values : undefined
  }
}

/** Attributes the words of describing documents to the documents that they describe. */
const mapped = (source: WordSource, references: KeptReferences): WordSource => ({
  wordsLike: term => source.wordsLike(term),
  count: word => source.count(word),
  postings: (word, each) =>
    source.postings(word, (slot, impact) => {
      const of = references.of(slot)
      if (of > 0) each(of, impact)
    }),
})

/** Attributes the words of a name to the documents that have the named value in a column. */
function namesOf(column: KeptColumn, { texts, as }: NonNullable<Search['named']>): WordSource {
  const words = new MemoryWords()
  for (const [number, value] of column.values.entries()) {
    const text = texts[String(value === null ? '' : readScalar(value))]
    if (text !== undefined) words.add(number, impactsOf({ fields: { text: as } }, { text }))
  }
  const impacts = new Uint8Array(column.values.length)
  return {
    wordsLike: (term: Term) => words.wordsLike(term),
    count: word => words.count(word),
    postings(word: string, each: Posting) {
      if (words.count(word) === 0) return
      impacts.fill(0)
      words.postings(word, (number, impact) => {
        impacts[number] = impact
      })
      for (const [at, number] of column.numbers.entries()) {
        const impact = impacts[number] as number
        if (impact > 0) each(at + 1, impact)
      }
    },
  }
}
