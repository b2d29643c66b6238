import { expect, test, vi } from 'vitest'
import { timeSlices } from './time-slices.ts'

/** An event loop whose time passes only in slices and pauses. @param load part of each pause that other work uses */
function eventLoop(load: number) {
  let time = 0
  const pauses: number[] = []
  return {
    pauses,
    work(ms: number) {
      time += ms
    },
    now: () => time,
    async pause(ms: number) {
      pauses.push(ms)
      time += ms
      return load
    },
  }
}

test('one slice is given at a time, in the order of the calls, with takeFirst ahead of all waiting calls', async () => {
  const { take, takeFirst } = timeSlices(eventLoop(0))
  const order: string[] = []
  const use = async (name: string, taken: ReturnType<typeof take>) => {
    const slice = await taken
    order.push(`${name} begins`)
    await Promise.resolve()
    order.push(`${name} ends`)
    slice.end()
  }
  await Promise.all([use('a', take()), use('b', take()), use('c', take()), use('first', takeFirst())])
  const names = ['a', 'first', 'b', 'c']
  expect(order).toEqual(names.flatMap(name => [`${name} begins`, `${name} ends`]))
})

test.each([
  ['twice as long beside other work', 0.5, [8, 8, 8]],
  ['a quarter as long while there is none', 0.1, [8, 1, 1]],
])('a slice is over after 4 ms, and a pause follows that is %s', async (_, load, pauses) => {
  const loop = eventLoop(load)
  const { take } = timeSlices(loop)
  for (let n = 0; n < 3; n++) {
    const slice = await take()
    loop.work(3.9)
    expect(slice.over()).toBe(false)
    loop.work(0.1)
    expect(slice.over()).toBe(true)
    slice.end()
    await vi.waitFor(() => expect(loop.pauses).toHaveLength(n + 1))
  }
  expect(loop.pauses.map(ms => Math.round(ms))).toEqual(pauses)
})

test('a slice that is never ended does not block later slices', async () => {
  const { take } = timeSlices()
  await take()
  expect(await take()).toMatchObject({ over: expect.any(Function) })
})
