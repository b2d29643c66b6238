import { START } from '@gantry/event-sourcing'
import { expect, it } from 'vitest'
import { decode, encode, ForeignPosition } from './position.ts'

const last = 2n ** 64n - 1n

it('positions have the same order as strings as in the log', () => {
  const inOrder = [
    { commit: 0n, prepare: 0n },
    { commit: 9n, prepare: 9n },
    { commit: 10n, prepare: 0n },
    { commit: 10n, prepare: 9n },
    { commit: 10n, prepare: 10n },
    { commit: 3_363_381n, prepare: 3_363_381n },
    { commit: last, prepare: last },
  ]
  const positions = inOrder.map(encode)
  expect(positions.toSorted()).toEqual(positions)
  expect(new Set(positions.map(position => position.length)).size).toBe(1)
  expect(positions.every(position => position > START)).toBe(true)
})

it.each([
  { commit: 4_848_141n, prepare: 0n },
  { commit: last, prepare: last },
])('a position is decoded as it was encoded: $commit, $prepare', position => {
  expect(decode(encode(position))).toEqual(position)
})

it('the start is decoded as the start', () => {
  expect(decode(START)).toBe('start')
})

it.each(['0000000000000042', 'x', '1-2'])('refuses a position of another log: %s', position => {
  expect(() => decode(position)).toThrow(ForeignPosition)
  expect(() => decode(position)).toThrow('built from another event store')
})
