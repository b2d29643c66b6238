/** Maximum effect of Retry-After. */
const LONGEST_MS = 24 * 3_600_000

/**
 * The pause that a server requests with Retry-After (RFC 9110 §10.2.3), as seconds or as a date, limited to a day.
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
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_MS)
}
