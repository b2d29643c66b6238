import { expect, test } from 'vitest'
import type { Lane } from '../delivery/lane.ts'
import { room } from './room.ts'

const lane = (webhook: string, kind: Lane['kind'] = 'first'): Lane => ({ webhook, kind })

test('a webhook has so many places and no more, whatever the others need', () => {
  const { take } = room({ overall: 10, perWebhook: 4 })
  const taken = [1, 2, 3, 4].map(() => take(lane('a')))
  expect(taken).not.toContain(undefined)
  expect(take(lane('a'))).toBeUndefined()
  expect(take(lane('b'))).toBeDefined()
  taken[0]?.()
  expect(take(lane('a'))).toBeDefined()
  expect(take(lane('a'))).toBeUndefined()
})

test('all together have so many places', () => {
  const space = room({ overall: 3, perWebhook: 2 })
  for (const name of ['a', 'b', 'c']) expect(space.take(lane(name))).toBeDefined()
  expect(space.take(lane('d'))).toBeUndefined()
  expect(space.taken).toBe(3)
})

test('retries leave a quarter to first attempts and tests', () => {
  const { take } = room({ overall: 8, perWebhook: 4 })
  for (const name of ['a', 'a', 'a', 'b', 'b', 'b']) expect(take(lane(name, 'retry'))).toBeDefined()
  expect(take(lane('a', 'retry'))).toBeUndefined()
  expect(take(lane('c', 'retry'))).toBeUndefined()
  expect(take(lane('a'))).toBeDefined()
  expect(take(lane('c', 'test'))).toBeDefined()
  expect(take(lane('c'))).toBeUndefined()
})

test('a place is given back once', () => {
  const space = room({ overall: 2, perWebhook: 2 })
  const giveBack = space.take(lane('a'))
  space.take(lane('a'))
  giveBack?.()
  giveBack?.()
  expect(space.taken).toBe(1)
})
