import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { notifierSettings } from '../settings.ts'
import { pauseAfter } from './schedule.ts'

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
