import type { Schemas } from '../http/schemas.ts'

const DAY_MS = 86_400_000
/** Time before its end in which a token is marked. */
const SOON_MS = 14 * DAY_MS

/** Whether a token has expired, expires within two weeks, or neither. */
export function expiryOf(
  { validUntil }: Pick<Schemas['AccessToken'], 'validUntil'>,
  now = Date.now(),
): 'expired' | 'soon' | 'valid' {
  const left = Date.parse(validUntil) - now
  if (left <= 0) return 'expired'
  return left <= SOON_MS ? 'soon' : 'valid'
}

/** The day on which a token made now ends. */
export const endOf = (days: number, now = Date.now()): string =>
  new Intl.DateTimeFormat('sv', { dateStyle: 'short' }).format(now + days * DAY_MS)
