import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { notifierSettings } from '../settings.ts'
import { pauseAfter, retryAfterMs } from './schedule.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const DAY = 86_400_000

describe('the schedule', () => {
  const { WEBHOOK_RETRY_SCHEDULE: schedule } = notifierSettings.parse({})

  test('defaults to the documented one, which ends before the tenth day', () => {
    expect(schedule.slice(0, 9)).toEqual([5e3, 3e5, 18e5, 72e5, 18e6, 36e6, 504e5, 72e6, DAY])
    const all = schedule.reduce((sum, pause) => sum + pause, 0)
    expect(all).toBeLessThanOrEqual(10 * DAY)
    expect(all + DAY).toBeGreaterThan(10 * DAY)
  })
  test('gives one pause for each failure, up to a fifth shorter or longer', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.nat(schedule.length - 1), random, (failures, at) => {
        const ratio = (pauseAfter(schedule, failures, at) ?? Number.NaN) / (schedule[failures] ?? Number.NaN)
        expect(ratio).toBeGreaterThanOrEqual(0.8)
        expect(ratio).toBeLessThanOrEqual(1.2)
      }),
    )
    expect(pauseAfter(schedule, schedule.length, 0.5)).toBeUndefined()
  })
})

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
