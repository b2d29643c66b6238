import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Backoff } from './backoff.ts'
import { retryAfterMs } from './retry-after.ts'
import { atMostEvery, sleep } from './sleep.ts'

const next = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next())

test('pauses double up to the longest, and begin again after a reset', () => {
  const backoff = new Backoff({ firstMs: 100, longestMs: 500 })
  expect(next(backoff, 5)).toEqual([100, 200, 400, 500, 500])
  backoff.reset()
  expect(next(backoff, 2)).toEqual([100, 200])
})

test('jitter leaves out up to its part of a pause', () => {
  const pauses = next(new Backoff({ firstMs: 100, longestMs: 100, jitter: 0.5 }), 200)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(50)
  expect(Math.min(...pauses)).toBeLessThan(60)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(100)
  expect(Math.max(...pauses)).toBeGreaterThan(90)
})

test('an abort ends a sleep without an error', async () => {
  const stopping = new AbortController()
  const sleeping = sleep(60_000, { signal: stopping.signal })
  stopping.abort()
  await expect(sleeping).resolves.toBeUndefined()
  await expect(sleep(60_000, { signal: stopping.signal })).resolves.toBeUndefined()
})

test('work is done at most once in a time, never twice at once, and once for all calls until it begins', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const runs: PromiseWithResolvers<number>[] = []
  const work = atMostEvery(1_000, () => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  })
  const first = Promise.all([work(), work()])
  await vi.advanceTimersByTimeAsync(0)
  const second = Promise.all([work(), work()])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(runs).toHaveLength(1)
  runs[0]?.resolve(1)
  expect(await first).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(0)
  runs[1]?.reject(new Error('2'))
  await expect(second).rejects.toThrow('2')
  const third = work()
  await vi.advanceTimersByTimeAsync(999)
  expect(runs).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  runs[2]?.resolve(3)
  expect(await third).toBe(3)
})

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
