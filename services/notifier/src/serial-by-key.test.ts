import { Refusal } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { serialByKey } from './reactions.ts'

const recorder = () => {
  const done: string[] = []
  const run = serialByKey()
  /** A task that takes one iteration of the event loop, then fails if an error is given. */
  const work = (key: string, number: number, error?: Error) =>
    run(key, number, async () => {
      await new Promise(setImmediate)
      if (error) throw error
      done.push(`${key}${number}`)
    })
  return { done, work }
}

test('tasks of one key run serially, tasks of different keys concurrently', async () => {
  const { done, work } = recorder()
  await Promise.all([work('a', 1), work('a', 2), work('b', 3), work('a', 4)])
  expect(done).toEqual(['a1', 'b3', 'a2', 'a4'])
})

test('after a failure all later tasks of the key fail until the failed task is repeated', async () => {
  const { done, work } = recorder()
  const away = new Error('away')
  const settled = await Promise.allSettled([work('a', 1, away), work('a', 2), work('b', 3)])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  await expect(work('a', 4)).rejects.toBe(away)
  expect(done).toEqual(['b3'])
  await Promise.all([work('a', 1), work('a', 2), work('a', 4)])
  expect(done).toEqual(['b3', 'a1', 'a2', 'a4'])
})

test('a refusal does not affect later tasks', async () => {
  const { done, work } = recorder()
  const refused = work('a', 1, new Refusal('body-too-large'))
  const next = work('a', 2)
  await expect(refused).rejects.toThrow('body-too-large')
  await next
  await work('a', 3)
  expect(done).toEqual(['a2', 'a3'])
})
