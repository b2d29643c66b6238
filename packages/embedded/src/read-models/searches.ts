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
import { type Kept, KeptColumn, KeptSlots, keyOfColumn } from './kept-values.ts'
import type { ListIndex } from './list-index.ts'
import { readScalar } from './statements.ts'

/** The documents that a search finds, by slot. */
export interface Searched {
  /** By slot: the relevance; 0 if it is not found. */
  scores: Float32Array
  /** A byte for each slot, from 1: one if it is found. */
  bytes: Uint8Array
  count: number
}

/** Number of results that are kept: a page, its total and the facets are asked for one after the other. */
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
    const sources: WordSource[] = []
    const own = this.#index.words?.source()
    if (own) sources.push(own)
    for (const [at, index] of describing.entries()) {
      const mapping = this.#mapping(index, described[at]?.field ?? '')
      if (!mapping) return undefined
      if (index.words) sources.push(mapped(index.words.source(), mapping))
    }
    if (named && this.#index.tables.columns.has(named.field)) {
      const column = this.#column(this.#index, named.field)
      if (!column) return undefined
      sources.push(namesOf(column, named))
    }
    return sources
  }

  /** The slots of the documents that those of another index describe, by the slots of that one. */
  #mapping(describing: ListIndex, field: string): Int32Array | undefined {
    const column = this.#column(describing, field)
    const key = `${this.#index.tables.number} slots`
    const slots = (this.#kept.get(key) as KeptSlots | undefined) ?? new KeptSlots()
    const isComplete = slots.update(this.#index, this.#index.position())
    this.#kept.keep(key, slots)
    if (!isComplete || !column) return undefined
    const ofValue = Int32Array.from(column.values, value => slots.of(value))
    return column.numbers.map(number => ofValue[number] as number)
  }

  #column(index: ListIndex, field: string): KeptColumn | undefined {
    const { name } = index.tables.columns.get(field) ?? { name: 'id' }
    const key = keyOfColumn(index, name)
    const column = (this.#kept.get(key) as KeptColumn | undefined) ?? new KeptColumn(name)
    const isComplete = column.update(index, index.position())
    this.#kept.keep(key, column)
    return isComplete ? column : undefined
  }
}

/** The words of documents as those of the documents that they describe. */
const mapped = (source: WordSource, mapping: Int32Array): WordSource => ({
  wordsLike: term => source.wordsLike(term),
  count: word => source.count(word),
  postings: (word, each) =>
    source.postings(word, (slot, impact) => {
      const of = mapping[slot - 1]
      if (of) each(of, impact)
    }),
})

/** The words of texts that stand for values of a column, as words of the documents with those values. */
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
