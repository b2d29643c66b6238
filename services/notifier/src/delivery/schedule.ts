/** Maximum effect of Retry-After. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000
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

/**
 * The pause that the receiver requests with Retry-After (RFC 9110 §10.2.3), as seconds or as a date, limited to a day.
 * @returns milliseconds; undefined when the status is neither 429 nor 503, or the header is absent or invalid
 */
export function retryAfterMs(
  status: number | null,
  header: string | undefined,
  now: Date,
): number | undefined {
  if (header === undefined || (status !== 429 && status !== 503)) return undefined
  const value = header.trim()
  const ms = /^\d{1,10}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS)
}
