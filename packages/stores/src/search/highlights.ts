import { matchOf, type Term } from './ranking.ts'
import { wordsOf } from './words.ts'

/** A place in a text, in UTF-16 code units; the end is exclusive. */
export type Range = [start: number, end: number]

/** Where a text has the words of a query, in order, without overlaps. */
export function highlightsIn(text: string, terms: readonly Term[]): Range[] {
  const ranges: Range[] = []
  const found = wordsOf(text)
    .filter(({ word }) => terms.some(term => matchOf(term, word) !== undefined))
    .map(({ start, end }): Range => [start, end])
    .toSorted(([a, b], [c, d]) => a - c || d - b)
  for (const range of found) {
    const last = ranges.at(-1)
    if (last && range[0] <= last[1] - 1) last[1] = Math.max(last[1], range[1])
    else ranges.push(range)
  }
  return ranges
}
