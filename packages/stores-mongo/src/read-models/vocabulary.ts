import { isPair, mayBeMistyped, stemOf, type Term } from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { type AnyBulkWriteOperation, type Db, type Filter, MongoBulkWriteError } from 'mongodb'

/** A word that a document has or had. */
interface VocabularyWord {
  _id: string
  stem: string
  /** The word in reverse order. */
  tail: string
}

/** How many words a process remembers to have stored, and for how long: another one can have dropped them. */
const KNOWN = 50_000
const KNOWN_MS = 60_000
/** Words that are read for one term, and that a beginning or a stem stands for, the shortest ones first. */
const MOST_READ = 2_000
const MOST_WORDS = 200

/**
 * The words of a collection, for typos, beginnings and inflections. A word is stored before the first document that has it,
 * and stays after the last one.
 */
export class Vocabulary {
  readonly #words
  // With `max`, the cache of each collection would allocate memory for all words at once.
  readonly #known = new LRUCache<string, true>({ maxSize: KNOWN, sizeCalculation: () => 1, ttl: KNOWN_MS })

  constructor(db: Db, collection: string) {
    this.#words = db.collection<VocabularyWord>(vocabularyOf(collection))
  }

  /** To be called after it was dropped. */
  forget(): void {
    this.#known.clear()
  }

  /** @param indexed whether the server uses indexes */
  async prepare(indexed: boolean): Promise<void> {
    if (indexed) await this.#words.createIndexes([{ key: { stem: 1 } }, { key: { tail: 1 } }])
  }

  async add(words: Iterable<string>): Promise<void> {
    const fresh = [...new Set(words)].filter(word => !isPair(word) && !this.#known.has(word))
    if (fresh.length === 0) return
    // Not one query for all of them first: the substitute for MongoDB would read the whole collection for it.
    const upserts = fresh.map((word): AnyBulkWriteOperation<VocabularyWord> => {
      const update = { $setOnInsert: { stem: stemOf(word), tail: tailOf(word) } }
      return { updateOne: { filter: { _id: word }, update, upsert: true } }
    })
    await this.#words.bulkWrite(upserts, { ordered: false }).catch(exceptDuplicates)
    for (const word of fresh) this.#known.set(word, true)
  }

  /** The words that may match a term. */
  async wordsLike(term: Term): Promise<string[]> {
    const { word, stem, synonyms, isLast, joined } = term
    if (joined) return [word]
    const read = async (filter: Filter<VocabularyWord>) => {
      const found = await this.#words.find(filter, { projection: { _id: 1 }, limit: MOST_READ }).toArray()
      return found.map(({ _id }) => _id)
    }
    const end = Math.floor((word.length - 1) / 2)
    const near = mayBeMistyped(term)
      ? read({
          $or: [
            { _id: beginningWith(word.slice(0, end)) },
            { tail: beginningWith(tailOf(word).slice(0, end)) },
          ],
        })
      : []
    const [inflected, begun, mistyped] = await Promise.all([
      read({ stem: { $in: [stem, ...synonyms] } }),
      isLast ? read({ _id: beginningWith(word) }) : [],
      near,
    ])
    return [word, ...shortest(inflected), ...shortest(begun), ...mistyped]
  }
}

/** The name of the vocabulary of a collection of the database. */
export const vocabularyOf = (collection: string): string => `${collection}.words`

const beginningWith = (beginning: string) => ({ $gte: beginning, $lt: `${beginning}\u{10ffff}` })

const tailOf = (word: string) => [...word].reverse().join('')

const shortest = (words: readonly string[]) =>
  words.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST_WORDS)

/** Another process has stored the same word. */
function exceptDuplicates(error: unknown): void {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const failures = [error.writeErrors].flat()
  if (!failures.every(failure => failure.code === 11_000)) throw error
}
