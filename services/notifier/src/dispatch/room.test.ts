import { expect, test } from 'vitest'
import type { Lane } from '../delivery/lane.ts'
import { type Place, type Room, room } from './room.ts'

const lane = (webhook: string, kind: Lane['kind'] = 'first'): Lane => ({ webhook, kind })
/** Takes a slot. @throws Error when none is granted */
const taken = (space: Room, wanted: Lane): Place => {
  const place = space.take(wanted)
  if (typeof place === 'string') throw new Error(`no slot is granted: ${place}`)
  return place
}

test('a webhook holds at most an eighth of the free slots', () => {
  const space = room({ overall: 32 })
  const [first] = [1, 2, 3, 4].map(() => taken(space, lane('a')))
  expect(space.take(lane('a'))).toBe('room')
  taken(space, lane('b'))
  first?.giveBack()
  taken(space, lane('a'))
  expect(space.take(lane('a'))).toBe('room')
})

test('all webhooks together hold at most the overall number of slots', () => {
  const space = room({ overall: 3 })
  for (const name of ['a', 'b', 'c']) taken(space, lane(name))
  expect(space.take(lane('d'))).toBe('room')
  expect(space.taken).toBe(3)
})

test('when 200 webhooks release no slot, another webhook still gets one', () => {
  const space = room({ overall: 256 })
  const greedy = Array.from({ length: 200 }, (_, n) => lane(`greedy${n}`))
  for (let n = 0; n < 16; n++) for (const each of greedy) space.take(each)
  expect(space.taken).toBeLessThan(256)
  taken(space, lane('late'))
})

test('the fewer slots are free, the fewer a webhook gets', () => {
  const space = room({ overall: 80 })
  const placesOf = (name: string) => {
    let count = 0
    while (typeof space.take(lane(name)) !== 'string') count++
    return count
  }
  expect(['a', 'b', 'c', 'd', 'e'].map(placesOf)).toEqual([9, 8, 7, 7, 6])
})

test('retries leave a quarter of the slots to first attempts and tests', () => {
  const space = room({ overall: 64 })
  for (let n = 0; n < 6; n++) taken(space, lane('a', 'retry'))
  expect(space.take(lane('a', 'retry'))).toBe('room')
  taken(space, lane('a'))

  const small = room({ overall: 8 })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) taken(small, lane(name, 'retry'))
  expect(small.take(lane('g', 'retry'))).toBe('room')
  taken(small, lane('g'))
  taken(small, lane('h', 'test'))
  expect(small.take(lane('i'))).toBe('room')
})

test('releasing a slot twice releases it once', () => {
  const space = room({ overall: 100 })
  const place = taken(space, lane('a'))
  taken(space, lane('a'))
  place.giveBack()
  place.giveBack()
  expect(space.taken).toBe(1)
})

test('the rate limit of a webhook allows bursts of at most one second', () => {
  let now = 0
  const space = room({ overall: 1_000, perSecond: 10 }, { now: () => now })
  const begun = () => {
    let count = 0
    for (let place = space.take(lane('a')); typeof place !== 'string'; place = space.take(lane('a'))) {
      place.giveBack(true)
      count++
    }
    return count
  }
  expect(begun()).toBe(10)
  expect(space.take(lane('a'))).toBe('rate')
  expect(space.heldForMs(lane('a'))).toBe(100)
  expect(space.heldForMs(lane('b'))).toBe(0)
  now = 250
  expect(begun()).toBe(2)
  now = 300
  expect(begun()).toBe(1)
  now = 60_000
  expect(begun()).toBe(10)
})

test('an open breaker pauses its webhook only, except for attempts that a user requested', () => {
  let now = 0
  const rules = { failures: 2, firstPauseMs: 100, longestPauseMs: 1_000 }
  const space = room({ overall: 100 }, { now: () => now, rules })
  taken(space, lane('a')).giveBack(false)
  taken(space, lane('a', 'retry')).giveBack(false)
  expect(space.take(lane('a'))).toBe('breaker')
  expect(space.take(lane('a', 'retry'))).toBe('breaker')
  now = 40
  expect(space.heldForMs(lane('a', 'retry'))).toBe(60)
  expect(space.heldForMs(lane('a', 'manual'))).toBe(0)
  expect(space.troubled()).toEqual([{ webhook: 'a', state: 'open', troubledMs: 40 }])
  taken(space, lane('b')).giveBack(true)
  taken(space, lane('a', 'manual')).giveBack(false)
  taken(space, lane('a', 'test')).giveBack(undefined)

  now = 100
  const probe = taken(space, lane('a'))
  expect(space.take(lane('a'))).toBe('breaker')
  expect(space.heldForMs(lane('a'))).toBe(0)
  probe.giveBack(true)
  expect(space.troubled()).toEqual([])
  taken(space, lane('a'))
})

test('callers of halfFree resume one by one when half of the slots are free, or after the timeout', async () => {
  const space = room({ overall: 4 })
  await space.halfFree(60_000)
  const [first, second] = ['a', 'b', 'c'].map(name => taken(space, lane(name)))
  const wentOn: string[] = []
  const waiting = ['x', 'y'].map(name => space.halfFree(60_000).then(() => wentOn.push(name)))
  first?.giveBack()
  await space.halfFree(1)
  expect(wentOn).toEqual([])
  second?.giveBack()
  await waiting[0]
  expect(wentOn).toEqual(['x'])
  taken(space, lane('d')).giveBack()
  await waiting[1]
  expect(wentOn).toEqual(['x', 'y'])
})

test('a change of the webhook resets its breaker, and attempts from before the change do not count', () => {
  const rules = { failures: 1, firstPauseMs: 100, longestPauseMs: 1_000 }
  const space = room({ overall: 100 }, { now: () => 0, rules })
  const underWay = taken(space, lane('a'))
  taken(space, lane('a')).giveBack(false)
  expect(space.take(lane('a'))).toBe('breaker')
  space.forget('a')
  taken(space, lane('a')).giveBack(true)
  underWay.giveBack(false)
  taken(space, lane('a'))
})
