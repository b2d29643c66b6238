import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { turnsEnd } from './turns-end.ts'

test('those of one turn go on together, after everything else of the turn', async () => {
  const ended = turnsEnd()
  const order: string[] = []
  const work = async (name: string) => {
    order.push(`${name} begins`)
    await ended()
    order.push(`${name} ends`)
  }
  const both = [work('a'), work('b')]
  await Promise.resolve().then(() => order.push('the turn goes on'))
  await Promise.all(both)
  expect(order).toEqual(['a begins', 'b begins', 'the turn goes on', 'a ends', 'b ends'])
})

test('those of the next turn wait for its end', async () => {
  const ended = turnsEnd()
  const first = ended()
  await first
  const second = ended()
  expect(second).not.toBe(first)
  let over = false
  second.then(() => (over = true))
  await Promise.resolve()
  expect(over).toBe(false)
  await setImmediate()
  expect(over).toBe(true)
})
