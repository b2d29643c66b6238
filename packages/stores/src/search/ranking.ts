import { isFiller, isPair, pairOf, VALUES } from './impacts.ts'
import { synonymsOf } from './synonyms.ts'
import { stemOf, wordsOf } from './words.ts'

/** A word that is sought. */
export interface Term {
  word: string
  stem: string
  /** Stems of other words for it. */
  synonyms: readonly string[]
  /** Whether it is the last word, which may be the beginning of a word. */
  isLast: boolean
  /** Whether it joins words that are sought as well: it ranks documents, but finds none. */
  joined: boolean
}

/** How a word matches a term. */
export type Match = 'same' | 'inflected' | 'begun' | 'synonym' | 'mistyped'

const MOST_TERMS = 16
/** Beginnings have at least two characters, and mistyped words at least five. */
const SHORTEST_BEGINNING = 2
const SHORTEST_MISTYPED = 5

/** The words of a query without repetitions, and without fillers unless it has only those; none without letter and digit. */
export function termsOf(q: string): Term[] {
  const words = wordsOf(q, { ofQuery: true })
  const last = words.findLast(({ joined }) => !joined)?.word
  const terms = new Map<string, Term>()
  for (const { word, joined, stem } of words)
    if (!terms.has(word))
      terms.set(word, { word, stem, synonyms: synonymsOf(stem), isLast: word === last, joined })
  const all = [...terms.values()]
  const meant = all.filter(({ word }) => !isFiller(word))
  return (meant.some(({ joined }) => !joined) ? meant : all).slice(0, MOST_TERMS)
}

export function matchOf(term: Term, word: string): Match | undefined {
  if (word === term.word) return 'same'
  if (term.joined || isPair(word)) return undefined
  if (term.isLast && term.word.length >= SHORTEST_BEGINNING && word.startsWith(term.word)) return 'begun'
  if (hasStem(word, term.stem)) return 'inflected'
  if (term.synonyms.some(stem => hasStem(word, stem))) return 'synonym'
  return mayBeMistyped(term) && isOneTypoAway(term.word, word) ? 'mistyped' : undefined
}

/** No inflection changes the first two characters. */
const hasStem = (word: string, stem: string) =>
  word[0] === stem[0] && word[1] === stem[1] && stemOf(word) === stem

export const mayBeMistyped = ({ word, joined }: Term): boolean =>
  !joined && word.length >= SHORTEST_MISTYPED && !/\d/.test(word)

/** Whether one character is added, missing or another one, or two neighbours are exchanged. */
function isOneTypoAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

/** Called with a document and the impact of a word in it. */
export type Posting = (document: number, impact: number) => void

/** The words of documents of one kind. Several of its documents can stand for one document of the ranking. */
export interface WordSource {
  /** Words that may match a term; others may be among them. */
  wordsLike(term: Term): Iterable<string>
  /** About how many of its documents have a word. */
  count(word: string): number
  /** Calls `each` with the documents that have a word or pair. A document may be repeated. */
  postings(word: string, each: Posting): void
}

export interface Ranking {
  /** The relevance of each document by its number; 0 if it is not found. */
  scores: Float32Array
  /** Number of documents found. */
  found: number
}

/** How much a match counts. */
const MATCHES: Record<Match, number> = {
  same: 1,
  inflected: 0.75,
  begun: 0.8,
  synonym: 0.5,
  mistyped: 0.8,
}
/** A document is found if its words weigh at least this part of those of the document with the heaviest words. */
const ENOUGH = 0.4
/** A mistyped word is another word only if so many times as many documents have that one. */
const MISTYPED = 10
const PAIRS = 1.2

/**
 * Ranks documents for a query as BM25 does, a rare word weighs more, with three additions: words next to each other in the
 * query count more if they are neighbours in the document, documents with more of the words come first, and those with too
 * little of them are not found.
 * @param documents number of all documents
 * @param size a number above those of all documents
 */
export function rank(
  terms: readonly Term[],
  sources: readonly WordSource[],
  { documents, size }: { documents: number; size: number },
): Ranking {
  const scores = new Float32Array(size)
  const weights = new Float32Array(size)
  const values = new ValuesOfTerm(size)
  const rarity = (count: number) => Math.log(1 + (Math.max(documents, count) - count + 0.5) / (count + 0.5))
  const stems: string[] = []
  for (const term of terms) {
    values.clear()
    const { words, stem } = meaningOf(term, sources)
    for (const source of sources) values.add(source, words)
    const weight = rarity(values.documents.length)
    for (const document of values.documents) {
      scores[document] = (scores[document] as number) + weight * (values.of[document] as number)
      if (!term.joined) weights[document] = (weights[document] as number) + weight
    }
    if (!term.joined) stems.push(stem)
  }
  for (const pair of neighbours(stems)) {
    values.clear()
    for (const source of sources) values.add(source, [[pair, PAIRS]])
    const weight = rarity(values.documents.length)
    for (const document of values.documents)
      scores[document] = (scores[document] as number) + weight * (values.of[document] as number)
  }
  return selected(scores, weights)
}

/** The pairs of words that `rank` looks for. */
export function pairsOf(terms: readonly Term[], sources: readonly WordSource[]): string[] {
  const meant = terms.filter(({ joined }) => !joined)
  return neighbours(meant.map(term => meaningOf(term, sources).stem))
}

const neighbours = (stems: readonly string[]) =>
  stems.slice(1).map((stem, before) => pairOf(stems[before] as string, stem))

/** The words that match a term, each with its weight, and the stem of the term or else of the most frequent one. */
function meaningOf(term: Term, sources: readonly WordSource[]) {
  const matches = new Map<string, Match>()
  for (const source of sources)
    for (const word of source.wordsLike(term)) {
      const match = matches.has(word) ? undefined : matchOf(term, word)
      if (match) matches.set(word, match)
    }
  const counts = new Map([...matches.keys()].map(word => [word, countOf(word, sources)]))
  const count = (word: string) => counts.get(word) ?? 0
  const { meant, synonym, mistyped } = {
    meant: [] as string[],
    synonym: [] as string[],
    mistyped: [] as string[],
    ...Object.groupBy(matches.keys(), word => {
      const match = matches.get(word)
      return match === 'synonym' || match === 'mistyped' ? match : 'meant'
    }),
  }
  const frequency = meant.reduce((sum, word) => sum + count(word), 0)
  const alike = [...meant, ...mistyped.filter(word => count(word) > MISTYPED * frequency)]
  const words = [...alike, ...synonym].map((word): [string, number] => {
    const match = matches.get(word) as Match
    const part = match === 'begun' ? 0.2 + 0.8 * (term.word.length / word.length) : 1
    return [word, MATCHES[match] * part]
  })
  const best = alike.reduce<string | undefined>(
    (best, word) => (best === undefined || count(word) > count(best) ? word : best),
    undefined,
  )
  return { words, stem: count(term.word) > 0 || best === undefined ? term.stem : stemOf(best) }
}

const countOf = (word: string, sources: readonly WordSource[]) =>
  sources.reduce((sum, source) => sum + source.count(word), 0)

/** For each document the sum of the values from all sources; from one source its greatest value. */
class ValuesOfTerm {
  readonly of: Float32Array
  documents: number[] = []
  readonly #best: Float32Array

  constructor(size: number) {
    this.of = new Float32Array(size)
    this.#best = new Float32Array(size)
  }

  add(source: WordSource, words: readonly (readonly [word: string, weight: number])[]) {
    const touched: number[] = []
    const best = this.#best
    for (const [word, weight] of words)
      source.postings(word, (document, impact) => {
        const value = (VALUES[impact] as number) * weight
        const known = best[document] as number
        if (known === 0) touched.push(document)
        if (value > known) best[document] = value
      })
    for (const document of touched) {
      const before = this.of[document] as number
      if (before === 0) this.documents.push(document)
      this.of[document] = before + (best[document] as number)
      best[document] = 0
    }
  }

  clear() {
    for (const document of this.documents) this.of[document] = 0
    this.documents = []
  }
}

/** Leaves out the documents whose words weigh too little, and puts those first whose words weigh more. */
function selected(scores: Float32Array, weights: Float32Array): Ranking {
  let heaviest = 0
  for (const weight of weights) if (weight > heaviest) heaviest = weight
  let found = 0
  for (let document = 0; document < scores.length; document++) {
    const part = (weights[document] as number) / heaviest
    if (heaviest === 0 || part < ENOUGH) scores[document] = 0
    else {
      scores[document] = (scores[document] as number) * part
      found++
    }
  }
  return { scores, found }
}
