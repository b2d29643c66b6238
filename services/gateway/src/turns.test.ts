import { expect, test, vi } from 'vitest'
import { turns } from './turns.ts'

/** Blocks the event loop. */
const work = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('one turn is given at a time, in the order of the calls, with takeFirst ahead of all waiting calls', async () => {
  const { take, takeFirst } = turns()
  const order: string[] = []
  const use = async (name: string, taken: ReturnType<typeof take>) => {
    const turn = await taken
    order.push(`${name} begins`)
    await Promise.resolve()
    order.push(`${name} ends`)
    turn.end()
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

test('a turn is over after 4 ms, and work in turns uses at most about a third of the time', async () => {
  const { take } = turns()
  const startedAt = performance.now()
  let worked = 0
  const worker = async () => {
    for (let n = 0; n < 10; n++) {
      const turn = await take()
      expect(turn.over()).toBe(false)
      const since = performance.now()
      while (!turn.over()) work(0.5)
      worked += performance.now() - since
      turn.end()
    }
  }
  await Promise.all([worker(), worker(), worker()])
  expect(worked).toBeGreaterThanOrEqual(30 * 3.9)
  expect(worked).toBeLessThan((performance.now() - startedAt) * 0.37)
})

test('a turn that is never ended does not block later turns', async () => {
  const { take } = turns()
  await take()
  const second = vi.fn()
  take().then(second)
  await vi.waitFor(() => expect(second).toHaveBeenCalled())
})
