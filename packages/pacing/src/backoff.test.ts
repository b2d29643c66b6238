import { expect, test } from 'vitest'
import { Backoff } from './backoff.ts'
import { sleep } from './sleep.ts'

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
