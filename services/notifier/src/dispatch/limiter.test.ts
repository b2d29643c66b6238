import { expect, test } from 'vitest'
import type { Queue } from '../delivery/delivery.projection.ts'
import { Limiter, type Slot } from './limiter.ts'

const queue = (webhook: string, kind: Queue['kind'] = 'first'): Queue => ({ webhook, kind })
/** Takes a slot for a webhook with an owner of its own. @throws Error when none is granted */
const taken = (limits: Limiter, wanted: Queue, owner = wanted.webhook): Slot => {
  limits.know({ id: wanted.webhook, owner, url: 'http://a/' })
  const slot = limits.acquire(wanted)
  if (typeof slot === 'string') throw new Error(`no slot is granted: ${slot}`)
  return slot
}

test('a webhook holds at most an eighth of the free slots', () => {
  const limits = new Limiter({ overall: 32 })
  const [first] = [1, 2, 3, 4].map(() => taken(limits, queue('a')))
  expect(limits.acquire(queue('a'))).toBe('room')
  taken(limits, queue('b'))
  first?.release()
  taken(limits, queue('a'))
  expect(limits.acquire(queue('a'))).toBe('room')
})

test('all webhooks together hold at most the overall number of slots', () => {
  const limits = new Limiter({ overall: 3 })
  for (const name of ['a', 'b', 'c']) taken(limits, queue(name))
  expect(limits.acquire(queue('d'))).toBe('room')
  expect(limits.running).toBe(3)
})

test('when 300 webhooks of one owner release no slot, those of other owners share a quarter of the slots', () => {
  const limits = new Limiter({ overall: 256 })
  const greedy = Array.from({ length: 300 }, (_, n) => `greedy${n}`)
  for (const id of greedy) limits.know({ id, owner: 'greedy', url: 'http://a/' })
  for (let n = 0; n < 16; n++) for (const id of greedy) limits.acquire(queue(id))
  expect(limits.running).toBe(192)
  for (let n = 0; n < 8; n++) taken(limits, queue('late'))
  taken(limits, queue('later'))
})

test('when 100 webhooks of an owner release no slot, another one of the owner still gets one', () => {
  const limits = new Limiter({ overall: 256 })
  for (let n = 0; n < 16; n++) for (let id = 0; id < 100; id++) limits.acquire(queue(`greedy${id}`))
  expect(limits.acquire(queue('late'))).not.toBe('room')
})

test('the fewer slots are free, the fewer a webhook gets', () => {
  const limits = new Limiter({ overall: 80 })
  const slotsOf = (name: string) => {
    let count = 0
    while (typeof limits.acquire(queue(name)) !== 'string') count++
    return count
  }
  expect(['a', 'b', 'c', 'd', 'e'].map(slotsOf)).toEqual([9, 8, 7, 7, 6])
})

test('retries leave a quarter of the slots to first attempts and tests', () => {
  const limits = new Limiter({ overall: 64 })
  for (let n = 0; n < 6; n++) taken(limits, queue('a', 'retry'))
  expect(limits.acquire(queue('a', 'retry'))).toBe('room')
  taken(limits, queue('a'))

  const small = new Limiter({ overall: 8 })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) taken(small, queue(name, 'retry'))
  expect(small.acquire(queue('g', 'retry'))).toBe('room')
  taken(small, queue('g'))
  taken(small, queue('h', 'test'))
  expect(small.acquire(queue('i'))).toBe('room')
})

test('releasing a slot twice releases it once', () => {
  const limits = new Limiter({ overall: 100 })
  const slot = taken(limits, queue('a'))
  taken(limits, queue('a'))
  slot.release()
  slot.release()
  expect(limits.running).toBe(1)
})

test('the rate limit of a webhook allows bursts of at most one second', () => {
  let now = 0
  const limits = new Limiter({ overall: 1_000, perSecond: 10 }, { now: () => now })
  const begun = () => {
    let count = 0
    for (let slot = limits.acquire(queue('a')); typeof slot !== 'string'; slot = limits.acquire(queue('a'))) {
      slot.release(true)
      count++
    }
    return count
  }
  expect(begun()).toBe(10)
  expect(limits.acquire(queue('a'))).toBe('rate')
  expect(limits.delayMs(queue('a'))).toBe(100)
  expect(limits.delayMs(queue('b'))).toBe(0)
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
  const limits = new Limiter({ overall: 100 }, { now: () => now, rules })
  taken(limits, queue('a')).release(false)
  taken(limits, queue('a', 'retry')).release(false)
  expect(limits.acquire(queue('a'))).toBe('breaker')
  expect(limits.acquire(queue('a', 'retry'))).toBe('breaker')
  now = 40
  expect(limits.delayMs(queue('a', 'retry'))).toBe(60)
  expect(limits.delayMs(queue('a', 'manual'))).toBe(0)
  expect(limits.openBreakers()).toEqual([{ webhook: 'a', state: 'open', openMs: 40 }])
  taken(limits, queue('b')).release(true)
  taken(limits, queue('a', 'manual')).release(false)
  taken(limits, queue('a', 'test')).release(undefined)

  now = 100
  const probe = taken(limits, queue('a'))
  expect(limits.acquire(queue('a'))).toBe('breaker')
  expect(limits.delayMs(queue('a'))).toBe(0)
  probe.release(true)
  expect(limits.openBreakers()).toEqual([])
  taken(limits, queue('a'))
})

test('callers of halfFree resume one by one when half of the slots are free, or after the timeout', async () => {
  const limits = new Limiter({ overall: 4 })
  await limits.halfFree(60_000)
  const [first, second] = ['a', 'b', 'c'].map(name => taken(limits, queue(name)))
  const wentOn: string[] = []
  const waiting = ['x', 'y'].map(name => limits.halfFree(60_000).then(() => wentOn.push(name)))
  first?.release()
  await limits.halfFree(1)
  expect(wentOn).toEqual([])
  second?.release()
  await waiting[0]
  expect(wentOn).toEqual(['x'])
  taken(limits, queue('d')).release()
  await waiting[1]
  expect(wentOn).toEqual(['x', 'y'])
})

test('only another URL closes the breaker of a webhook, and attempts to the URL before do not count', () => {
  const rules = { failures: 1, firstPauseMs: 100, longestPauseMs: 1_000 }
  const limits = new Limiter({ overall: 100 }, { now: () => 0, rules })
  const running = taken(limits, queue('a'))
  taken(limits, queue('a')).release(false)
  limits.know({ id: 'a', owner: 'another', url: 'http://a/' })
  expect(limits.acquire(queue('a'))).toBe('breaker')
  limits.know({ id: 'a', owner: 'another', url: 'http://b/' })
  expect(limits.acquire(queue('a'))).not.toBe('breaker')
  running.release(false)
  expect(limits.acquire(queue('a'))).not.toBe('breaker')
})
