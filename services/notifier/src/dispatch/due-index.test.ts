import { describe, expect, test } from 'vitest'
import type { Queue } from '../delivery/delivery.projection.ts'
import { DueIndex, type Entry, type QueueIndex } from './due-index.ts'

const QUEUE: Queue = { webhook: 'w', kind: 'retry' }
const OTHER: Queue = { webhook: 'v', kind: 'first' }
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10) + seconds * 1_000).toISOString()
const entry = (id: string, seconds: number, queue = QUEUE): Entry => ({ id, queue, dueAt: at(seconds) })

/** An index in which every queue of the store was reported. */
const complete = (bound?: number) => {
  const index = new DueIndex(bound)
  index.markComplete()
  return index
}
const only = (due: QueueIndex[]): QueueIndex => {
  const [found] = due
  if (!found || due.length > 1) throw new Error(`${due.length} queues are due`)
  return found
}

describe('the due index', () => {
  test('returns deliveries in the order of their due times, and none before it is due', () => {
    const index = complete()
    for (const added of [entry('b', 2), entry('c', 3), entry('a', 1)]) index.add(added)
    expect(index.due(at(0))).toEqual([])
    expect(index.next(at(0))).toBe(at(1))
    const found = only(index.due(at(2)))
    expect([1, 2, 3].map(() => index.take(found, at(2))?.id)).toEqual(['a', 'b', undefined])
    expect(index.next(at(2))).toBe(at(3))
  })

  test('moves a queue to the end of the order after each taken delivery', () => {
    const index = complete()
    for (const added of [entry('a', 1), entry('b', 1), entry('x', 1, OTHER)]) index.add(added)
    const [first] = index.due(at(1))
    if (first) index.take(first, at(1))
    expect(index.due(at(1)).map(({ queue }) => queue)).toEqual([OTHER, QUEUE])
  })

  test('gives the next due time even if a due delivery is not taken', () => {
    const index = complete()
    index.add(entry('blocked', 1))
    index.add(entry('x', 5, OTHER))
    expect(index.next(at(2))).toBe(at(5))
  })
})

describe('a queue', () => {
  test('that a scan found is to be queried at the due time that was found', () => {
    const index = complete()
    index.addFirst(QUEUE, at(3))
    expect(index.due(at(2))).toEqual([])
    const found = only(index.due(at(3)))
    expect(found).toMatchObject({ entries: [], completeUntil: at(3) })
    index.merge(found, [entry('a', 3), entry('b', 9)])
    expect([index.take(found, at(3))?.id, index.take(found, at(3))?.id]).toEqual(['a', undefined])
    expect(index.next(at(3))).toBe(at(9))
  })

  test('is to be queried first while no scan is complete', () => {
    const index = new DueIndex()
    index.add(entry('late', 9))
    expect(only(index.due(at(0)))).toMatchObject({ entries: [], completeUntil: '' })
  })

  test('is not queried for deliveries that the index has', () => {
    const index = complete()
    index.add(entry('a', 1))
    index.addFirst(QUEUE, at(1))
    expect(only(index.due(at(1))).completeUntil).toBe('~')
  })

  test('is queried again after the last delivery of a partial result', () => {
    const index = complete()
    index.addFirst(QUEUE, at(1))
    const found = only(index.due(at(1)))
    index.merge(found, [entry('a', 1), entry('b', 2)], at(2))
    index.add(entry('beyond', 7))
    index.take(found, at(2))
    index.take(found, at(2))
    expect(only(index.due(at(2)))).toMatchObject({ entries: [], completeUntil: at(2) })
  })

  test('keeps deliveries that were reported during the query', () => {
    const index = complete()
    index.addFirst(QUEUE, at(1))
    const found = only(index.due(at(1)))
    found.querying = true
    index.add(entry('new', 5))
    index.add(entry('sooner', 2))
    index.merge(found, [entry('a', 1), entry('sooner', 8)])
    expect(found.entries.map(({ id, dueAt }) => [id, dueAt])).toEqual([
      ['a', at(1)],
      ['sooner', at(2)],
      ['new', at(5)],
    ])
  })

  test('without deliveries in the store is removed from the index', () => {
    const index = complete()
    index.addFirst(QUEUE, at(1))
    index.merge(only(index.due(at(1))), [])
    expect(index.next(at(0))).toBeUndefined()
  })
})

describe('the entries of a queue', () => {
  test('are bounded: the store is queried for those beyond the bound', () => {
    const index = complete(2)
    for (const added of [entry('c', 3), entry('a', 1), entry('b', 2), entry('d', 4)]) index.add(added)
    const found = only(index.due(at(9)))
    expect(found.entries.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(found.completeUntil).toBe(at(3))
    index.take(found, at(9))
    index.take(found, at(9))
    expect(only(index.due(at(9)))).toBe(found)
  })

  test('are not removed through a reference from before `reopen`', () => {
    const index = complete()
    index.add(entry('a', 1))
    const old = only(index.due(at(1)))
    index.reopen(QUEUE)
    index.close(old)
    const found = only(index.due(at(1)))
    expect(found).not.toBe(old)
    index.close(found)
    expect(index.due(at(9))).toEqual([])
  })
})
