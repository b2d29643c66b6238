import { readFileSync } from 'node:fs'

/**
 * A query with the names of the APIs that answer it: g3 exactly, g2 mostly, g1 in part. A name can end with `*`, for all that
 * begin like it.
 */
export interface Judged {
  q: string
  g3?: string[]
  g2?: string[]
  g1?: string[]
}

/** The ranking is tuned on this many of the queries, the first ones. */
const TUNED = 100

/** The queries in judged-queries.ndjson: those that the ranking is tuned on, or the others, which are only measured. */
export function readJudged(which: 'tuned' | 'measured'): Judged[] {
  const lines = readFileSync(new URL('../judged-queries.ndjson', import.meta.url), 'utf8').split('\n')
  const judged = lines.filter(Boolean).map((line): Judged => JSON.parse(line))
  return which === 'tuned' ? judged.slice(0, TUNED) : judged.slice(TUNED)
}

const TOP = 10

/**
 * The normalized discounted cumulative gain of the first ten names: 1 for the best possible order.
 * @param names all names that could be found
 */
export function ndcg(judged: Judged, found: readonly string[], names: readonly string[]): number {
  const best = names.map(name => gradeOf(judged, name)).toSorted((a, b) => b - a)
  return gain(found.map(name => gradeOf(judged, name))) / gain(best)
}

const gain = (grades: readonly number[]) =>
  grades.slice(0, TOP).reduce((sum, grade, rank) => sum + (2 ** grade - 1) / Math.log2(rank + 2), 0)

function gradeOf({ g3 = [], g2 = [], g1 = [] }: Judged, name: string): number {
  const isIn = (patterns: readonly string[]) =>
    patterns.some(pattern =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    )
  return [g1, g2, g3].findLastIndex(isIn) + 1
}
