import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { coalesceResponses } from './routes.ts'

test('the first caller in a turn continues at once, the others together after the rest of the turn', async () => {
  const ended = coalesceResponses()
  const order: string[] = []
  const work = async (name: string) => {
    await ended()
    order.push(name)
  }
  const all = ['first', 'second', 'third'].map(work)
  for (let n = 0; n < 10; n++) await Promise.resolve()
  order.push('the turn goes on')
  await Promise.all(all)
  expect(order).toEqual(['first', 'the turn goes on', 'second', 'third'])
})

test('the first caller in each turn continues at once', async () => {
  const ended = coalesceResponses()
  expect(ended()).toBeUndefined()
  expect(ended()).toBeInstanceOf(Promise)
  await setImmediate()
  expect(ended()).toBeUndefined()
})
