import { isFiller } from './impacts.ts'
import { matchOf, type Term } from './ranking.ts'
import { wordsOf } from './words.ts'

/** A place in a text, in UTF-16 code units; the end is exclusive. */
export type Range = [start: number, end: number]

/** Where a text has the words of a query, in order, without overlaps. */
export function highlightsIn(text: string, terms: readonly Term[]): Range[] {
  const sought = terms.filter(({ word }) => !isFiller(word))
  const ranges: Range[] = []
  const found = wordsOf(text)
    .flatMap(({ word, start, end }): Range[] => {
      const matches = (sought.length > 0 ? sought : terms).flatMap(term => {
        const match = matchOf(term, word)
        return match ? [{ match, term }] : []
      })
      return matches.length > 0 ? [[start, end]] : []
    })
    .toSorted(([a, b], [c, d]) => a - c || d - b)
  for (const range of found) {
    const last = ranges.at(-1)
    if (last && range[0] <= last[1] - 1) last[1] = Math.max(last[1], range[1])
    else ranges.push(range)
  }
  return ranges
}
