import { describe, expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const DAY = 86_400_000

describe('Retry-After', () => {
  test.for<[string, number]>([
    ['0', 0],
    [' 120 ', 120_000],
    ['86400', DAY],
    ['86401', DAY],
    ['9999999999', DAY],
    ['Sat, 21 Nov 2026 10:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['Fri, 01 Jan 2999 00:00:00 GMT', DAY],
  ])('"%s" gives a pause within bounds', ([header, ms]) => {
    expect(retryAfterMs(503, header, NOW)).toBe(ms)
    expect(retryAfterMs(429, header, NOW)).toBe(ms)
  })
  test.for(['soon', '', '-1x', '99999999999999999999'])('"%s" is ignored', header => {
    expect(retryAfterMs(503, header, NOW)).toBeUndefined()
  })
  test('is ignored unless the status is 429 or 503', () => {
    expect(retryAfterMs(500, '60', NOW)).toBeUndefined()
    expect(retryAfterMs(503, undefined, NOW)).toBeUndefined()
  })
})
