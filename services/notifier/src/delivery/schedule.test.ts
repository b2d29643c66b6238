import { describe, expect, test } from 'vitest'
import { notifierSettings } from '../settings.ts'

const DAY = 86_400_000

describe('the schedule', () => {
  const { WEBHOOK_RETRY_SCHEDULE: schedule } = notifierSettings.parse({})

  test('defaults to the documented one, which ends before the tenth day', () => {
    expect(schedule.slice(0, 9)).toEqual([5e3, 3e5, 18e5, 72e5, 18e6, 36e6, 504e5, 72e6, DAY])
    const all = schedule.reduce((sum, pause) => sum + pause, 0)
    expect(all).toBeLessThanOrEqual(10 * DAY)
    expect(all + DAY).toBeGreaterThan(10 * DAY)
  })
})
