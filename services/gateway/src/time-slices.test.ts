import { expect, onTestFinished, test, vi } from 'vitest'
import { timeSlices } from './time-slices.ts'

/** Blocks the event loop. */
const work = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('one slice is given at a time, in the order of the calls, with takeFirst ahead of all waiting calls', async () => {
  const { take, takeFirst } = timeSlices()
  const order: string[] = []
  const use = async (name: string, taken: ReturnType<typeof take>) => {
    const slice = await taken
    order.push(`${name} begins`)
    await Promise.resolve()
    order.push(`${name} ends`)
    slice.end()
  }
  await Promise.all([use('a', take()), use('b', take()), use('c', take()), use('first', takeFirst())])
  expect(order.filter(line => line.endsWith('begins'))).toEqual([
    'a begins',
    'first begins',
    'b begins',
    'c begins',
  ])
  expect(order.map(line => line.split(' ')[0]).every((name, n, all) => name === all[n - (n % 2)])).toBe(true)
})

/** Works in 30 slices of 4 ms each. @returns the part of the time that they used */
async function partOfSlices() {
  const { take } = timeSlices()
  const startedAt = performance.now()
  let worked = 0
  const worker = async () => {
    for (let n = 0; n < 10; n++) {
      const slice = await take()
      const since = performance.now()
      while (!slice.over()) work(0.5)
      worked += performance.now() - since
      slice.end()
    }
  }
  await Promise.all([worker(), worker(), worker()])
  expect(worked).toBeGreaterThanOrEqual(30 * 3.9)
  return worked / (performance.now() - startedAt)
}

// Other processes interrupt slices and pauses too: slices that use a wrong part of the time do so in every pass.
const PASSES = { timeout: 15_000, interval: 10 }

test('a slice is over after 4 ms, and slices use at most about a third of the time beside other work', async () => {
  const other = setInterval(() => work(2), 1)
  onTestFinished(() => clearInterval(other))
  await vi.waitFor(async () => expect(await partOfSlices()).toBeLessThan(0.37), PASSES)
})

test('slices use most of the time while there is no other work', async () => {
  await vi.waitFor(async () => expect(await partOfSlices()).toBeGreaterThan(0.5), PASSES)
})

test('a slice that is never ended does not block later slices', async () => {
  const { take } = timeSlices()
  await take()
  const second = vi.fn()
  take().then(second)
  await vi.waitFor(() => expect(second).toHaveBeenCalled())
})
