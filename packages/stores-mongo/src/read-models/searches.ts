import {
  type CollectionDefinition,
  type Document,
  impactsOf,
  MemoryWords,
  matchOf,
  pairsOf,
  rank,
  type Search,
  type Term,
  termsOf,
  type WordSource,
} from '@gantry/stores'
import type { PreparedCollection } from './prepared-collection.ts'

type Prepared = PreparedCollection<Document>
/** Opens a collection that describes another one. */
// biome-ignore lint/suspicious/noExplicitAny: collections of different documents
export type Opening = (definition: CollectionDefinition<any>) => Prepared

/** Ids in one request. */
const MANY = 10_000

/**
 * Finds and ranks the documents of a collection. The server finds the documents that have one of the words, themselves or in
 * a document that describes them, and reads the impacts of the words. This process ranks them.
 * @returns the ids of the documents, the most relevant first, then by id
 */
export async function foundBy(
  prepared: Prepared,
  { q, described = [], named }: Search,
  opening: Opening,
): Promise<string[]> {
  const terms = termsOf(q)
  const numbers = new Numbers(prepared)
  const own = new ServerWords(prepared)
  const others = described.map(({ by, field }) => new ServerWords(opening(by), field))
  const all = [own, ...others]
  for (const words of all) await words.find(terms)
  const ofNames = named && (await wordsOfNames(prepared, named, terms))
  await numbers.give([...all, ...(ofNames ? [ofNames] : [])].flatMap(words => [...words.ids()]))
  const sources = (): WordSource[] =>
    [...all, ...(ofNames ? [ofNames] : [])].map(words => words.source(numbers))
  const pairs = pairsOf(terms, sources())
  for (const words of all) await words.read(pairs)
  await numbers.give(all.flatMap(words => [...words.ids()]))
  const documents = await prepared.documents.countDocuments({ live: true })
  const { scores } = rank(terms, sources(), { documents, size: numbers.size })
  return numbers.ids
    .map((id, number) => ({ id, score: scores[number] as number }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
}

/** The documents that exist, by numbers from 1 on. */
class Numbers {
  readonly ids: string[] = ['']
  readonly #prepared: Prepared
  readonly #numbers = new Map<string, number>()

  constructor(prepared: Prepared) {
    this.#prepared = prepared
  }

  get size(): number {
    return this.ids.length
  }

  /** Gives numbers to those of the ids that have a document, and 0 to the others. */
  async give(ids: readonly string[]): Promise<void> {
    const fresh = [...new Set(ids)].filter(id => !this.#numbers.has(id))
    for (let from = 0; from < fresh.length; from += MANY) {
      const some = fresh.slice(from, from + MANY)
      const filter = { _id: { $in: some }, live: true }
      const found = await this.#prepared.documents.find(filter, { projection: { _id: 1 } }).toArray()
      const existing = new Set(found.map(({ _id }) => _id))
      for (const id of some) this.#numbers.set(id, existing.has(id) ? this.ids.push(id) - 1 : 0)
    }
  }

  of(id: string): number {
    return this.#numbers.get(id) ?? 0
  }
}

type Impacts = Record<string, number>

/** The words of a query that documents of a collection have. */
class ServerWords {
  readonly #prepared: Prepared
  readonly #field: string | undefined
  /** Each with the id of the document that it is about. */
  readonly #found: [id: string, impacts: Impacts][] = []

  /** @param field has the ids of the described documents */
  constructor(prepared: Prepared, field?: string) {
    this.#prepared = prepared
    this.#field = field
  }

  async find(terms: readonly Term[]): Promise<void> {
    if (!this.#prepared.definition.search) return
    await this.#prepared.ready()
    const { vocabulary } = this.#prepared
    const like = await Promise.all(
      terms.map(async term => (await vocabulary.wordsLike(term)).filter(word => matchOf(term, word))),
    )
    await this.read(like.flat())
  }

  async read(words: readonly string[]): Promise<void> {
    const { documents, definition } = this.#prepared
    const sought = [...new Set(words)]
    if (sought.length === 0 || !definition.search) return
    const projection = Object.fromEntries(sought.map(word => [`impacts.${word}`, 1]))
    const about = this.#field && `doc.${this.#field}`
    const found = await documents
      .find(
        { words: { $in: sought }, live: true },
        { projection: { ...projection, ...(about && { [about]: 1 }) } },
      )
      .toArray()
    for (const { _id, doc, impacts = {} } of found) {
      const id = this.#field === undefined ? _id : (doc as unknown as Impacts | undefined)?.[this.#field]
      if (id !== undefined) this.#found.push([String(id), impacts])
    }
  }

  *ids(): Iterable<string> {
    for (const [id] of this.#found) yield id
  }

  source(numbers: Numbers): WordSource {
    const words = new MemoryWords()
    for (const [id, impacts] of this.#found) words.add(numbers.of(id), Object.entries(impacts))
    return words
  }
}

/** The words of texts that stand for values of a field. Only texts with a word of the query are looked up. */
async function wordsOfNames(
  { documents }: Prepared,
  { field, texts, as }: NonNullable<Search['named']>,
  terms: readonly Term[],
) {
  const impacts = new Map(
    Object.entries(texts).map(([value, text]) => [value, impactsOf({ fields: { text: as } }, { text })]),
  )
  const meant = [...impacts].filter(([, words]) =>
    [...words.keys()].some(word => terms.some(term => matchOf(term, word))),
  )
  const path = `doc.${field}`
  const values = meant.map(([value]) => value)
  const found =
    values.length === 0
      ? []
      : await documents.find({ [path]: { $in: values }, live: true }, { projection: { [path]: 1 } }).toArray()
  const having = found.map(
    ({ _id, doc }) => [_id, String((doc as unknown as Record<string, unknown>)[field])] as const,
  )
  return {
    ids: () => having.map(([id]) => id),
    source(numbers: Numbers): WordSource {
      const words = new MemoryWords()
      for (const [id, value] of having) words.add(numbers.of(id), impacts.get(value) ?? [])
      return words
    },
  }
}
