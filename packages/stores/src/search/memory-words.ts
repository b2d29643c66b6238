import { matchOf, type Posting, type Term, type WordSource } from './ranking.ts'

/** The words of documents, in memory. Those of the document 0 are only counted. */
export class MemoryWords implements WordSource {
  readonly #postings = new Map<string, [document: number, impact: number][]>()

  /** @param impacts as of `impactsOf` */
  add(document: number, impacts: Iterable<readonly [word: string, impact: number]>): void {
    for (const [word, impact] of impacts) {
      const postings = this.#postings.get(word)
      if (postings) postings.push([document, impact])
      else this.#postings.set(word, [[document, impact]])
    }
  }

  *wordsLike(term: Term): Iterable<string> {
    for (const word of this.#postings.keys()) if (matchOf(term, word)) yield word
  }

  count(word: string): number {
    return this.#postings.get(word)?.length ?? 0
  }

  postings(word: string, each: Posting): void {
    for (const [document, impact] of this.#postings.get(word) ?? []) if (document > 0) each(document, impact)
  }
}
