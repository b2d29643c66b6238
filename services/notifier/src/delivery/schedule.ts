const JITTER = 0.2

/**
 * The pause after a failed attempt.
 * @param schedule pauses in milliseconds
 * @param failures number of failed attempts before this one
 * @param random from 0 (inclusive) to 1 (exclusive); makes the pause up to a fifth shorter or longer
 * @param retryAfterMs minimum pause that the receiver requested, in milliseconds
 * @returns milliseconds; undefined when the schedule is exhausted
 */
export function pauseAfter(
  schedule: readonly number[],
  failures: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pause = schedule[failures]
  if (pause === undefined) return undefined
  return Math.max(Math.round(pause * (1 - JITTER + 2 * JITTER * random)), retryAfterMs)
}
