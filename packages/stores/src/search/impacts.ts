import { forEachWord } from './words.ts'

/** How much a word counts in a field. */
export interface SearchedField {
  weight: number
  /** The usual number of words. In a longer text a word counts less. */
  words: number
}

/** The fields of documents that searches find words in: texts, or arrays of texts. */
export interface SearchedFields {
  fields: Readonly<Record<string, SearchedField>>
}

/** Increase it when `impactsOf` changes: what is stored of its results is then made again. */
export const WORDING = 2

/** The k1 and b of BM25. */
const SATURATION = 1.2
const LENGTH = 0.6
/** The greatest sum of weights that is distinguished. */
const MOST = 40
const STEPS = 255
const FINE = 24

/** What an impact of 0 to 255 stands for. */
export const VALUES = Float32Array.from({ length: STEPS + 1 }, (_, impact) =>
  impact === 0 ? 0 : ((1 + MOST * FINE) ** (impact / STEPS) - 1) / FINE,
)

const STEPS_PER_UNIT = STEPS / Math.log(1 + MOST * FINE)

const impactOf = (value: number) =>
  Math.max(1, Math.min(STEPS, Math.round(Math.log(1 + value * FINE) * STEPS_PER_UNIT)))

/** Words that queries have only beside others. Pairs leave them out. */
const FILLERS = new Set(
  'a an and are as at be by can do does for from how i in into is it its me my of on or that the their this to via was what when where which who with your'.split(
    ' ',
  ),
)

export const isFiller = (word: string): boolean => FILLERS.has(word)

/** Stands for two words next to each other, in either order. No word begins like it. */
export const pairOf = (stem: string, other: string): string =>
  stem < other ? `~${stem}~${other}` : `~${other}~${stem}`

export const isPair = (word: string): boolean => word[0] === '~'

/**
 * The words of a document and the pairs of neighbouring words, each with its impact, 1 to 255: how much it says that the
 * document is about it. It depends on the document alone.
 */
export function impactsOf({ fields }: SearchedFields, document: object): Map<string, number> {
  const values = new Map<string, number>()
  for (const [name, { weight, words }] of Object.entries(fields)) {
    const value = (document as Record<string, unknown>)[name]
    const texts = Array.isArray(value) ? value : [value]
    const { counts, length } = countsOf(texts.filter(text => typeof text === 'string'))
    const norm = SATURATION * (1 - LENGTH + LENGTH * Math.sqrt(length / words))
    for (const [word, count] of counts)
      values.set(word, (values.get(word) ?? 0) + (weight * count) / (count + norm))
  }
  return new Map([...values].map(([word, value]) => [word, impactOf(value)]))
}

/** The words of texts, and the pairs of words that only fillers separate. */
function countsOf(texts: readonly string[]) {
  const counts = new Map<string, number>()
  const count = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1)
  let length = 0
  for (const text of texts) {
    let before: string | undefined
    forEachWord(text, ({ word, kind, stem }) => {
      length++
      count(word)
      if (kind === 'joined' || isFiller(word)) return
      if (before !== undefined && before !== stem) count(pairOf(before, stem))
      before = stem
    })
  }
  return { counts, length }
}
