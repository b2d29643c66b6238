import { isPair } from './impacts.ts'
import { matchOf, mayBeMistyped, type Posting, type Term, type WordSource } from './ranking.ts'

/** Number of letters at each end of a word. A typo or an inflection changes one of the two ends, but not both. */
const END = 2

/** The words of documents, in memory. Those of the document 0 are only counted. */
export class MemoryWords implements WordSource {
  readonly #postings = new Map<string, [document: number, impact: number][]>()
  readonly #byBeginning = new Map<string, string[]>()
  readonly #byEnd = new Map<string, string[]>()

  /** @param impacts as of `impactsOf` */
  add(document: number, impacts: Iterable<readonly [word: string, impact: number]>): void {
    for (const [word, impact] of impacts) {
      const postings = this.#postings.get(word)
      if (postings) postings.push([document, impact])
      else {
        this.#postings.set(word, [[document, impact]])
        if (!isPair(word)) {
          listed(this.#byBeginning, beginningOf(word)).push(word)
          listed(this.#byEnd, endOf(word)).push(word)
        }
      }
    }
  }

  *wordsLike(term: Term): Iterable<string> {
    if (this.#postings.has(term.word)) yield term.word
    for (const beginning of new Set([term.word, ...term.synonyms].map(beginningOf)))
      for (const word of this.#byBeginning.get(beginning) ?? []) if (matchOf(term, word)) yield word
    if (!mayBeMistyped(term)) return
    for (const word of this.#byEnd.get(endOf(term.word)) ?? []) if (matchOf(term, word)) yield word
  }

  count(word: string): number {
    return this.#postings.get(word)?.length ?? 0
  }

  postings(word: string, each: Posting): void {
    for (const [document, impact] of this.#postings.get(word) ?? []) if (document > 0) each(document, impact)
  }
}

const beginningOf = (word: string) => word.slice(0, END)

const endOf = (word: string) => word.slice(-END)

function listed(words: Map<string, string[]>, end: string): string[] {
  let list = words.get(end)
  if (!list) {
    list = []
    words.set(end, list)
  }
  return list
}
