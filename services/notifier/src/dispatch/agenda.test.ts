import { describe, expect, test } from 'vitest'
import type { Lane } from '../delivery/lane.ts'
import { agenda, type Entry, type Line } from './agenda.ts'

const LANE: Lane = { webhook: 'w', kind: 'retry' }
const OTHER: Lane = { webhook: 'v', kind: 'first' }
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10) + seconds * 1_000).toISOString()
const entry = (id: string, seconds: number, lane = LANE): Entry => ({ id, lane, dueAt: at(seconds) })

/** An index in which every lane of the store was reported. */
const surveyed = (bound?: number) => {
  const plan = agenda(bound)
  plan.surveyed()
  return plan
}
const only = (lines: Line[]): Line => {
  const [line] = lines
  if (!line || lines.length > 1) throw new Error(`${lines.length} lanes are due`)
  return line
}

describe('the due index', () => {
  test('returns deliveries in the order of their due times, and none before it is due', () => {
    const plan = surveyed()
    for (const noted of [entry('b', 2), entry('c', 3), entry('a', 1)]) plan.note(noted)
    expect(plan.due(at(0))).toEqual([])
    expect(plan.next(at(0))).toBe(at(1))
    const line = only(plan.due(at(2)))
    expect([1, 2, 3].map(() => plan.take(line, at(2))?.id)).toEqual(['a', 'b', undefined])
    expect(plan.next(at(2))).toBe(at(3))
  })

  test('moves a lane to the end of the order after each taken delivery', () => {
    const plan = surveyed()
    for (const noted of [entry('a', 1), entry('b', 1), entry('x', 1, OTHER)]) plan.note(noted)
    const [first] = plan.due(at(1))
    if (first) plan.take(first, at(1))
    expect(plan.due(at(1)).map(({ lane }) => lane)).toEqual([OTHER, LANE])
  })

  test('gives the next due time even if a due delivery is not taken', () => {
    const plan = surveyed()
    plan.note(entry('blocked', 1))
    plan.note(entry('x', 5, OTHER))
    expect(plan.next(at(2))).toBe(at(5))
  })

  test('is empty once all deliveries are taken', () => {
    const plan = surveyed()
    plan.note(entry('a', 1))
    plan.take(only(plan.due(at(1))), at(1))
    expect(plan.due(at(9))).toEqual([])
    expect(plan.next(at(1))).toBeUndefined()
  })
})

describe('a lane', () => {
  test('that a survey found is to be queried at the due time that was found', () => {
    const plan = surveyed()
    plan.found(LANE, at(3))
    expect(plan.due(at(2))).toEqual([])
    const line = only(plan.due(at(3)))
    expect(line).toMatchObject({ known: [], knownUntil: at(3) })
    plan.learn(line, [entry('a', 3), entry('b', 9)])
    expect([plan.take(line, at(3))?.id, plan.take(line, at(3))?.id]).toEqual(['a', undefined])
    expect(plan.next(at(3))).toBe(at(9))
  })

  test('is to be queried first while no survey is complete', () => {
    const plan = agenda()
    plan.note(entry('late', 9))
    expect(only(plan.due(at(0)))).toMatchObject({ known: [], knownUntil: '' })
  })

  test('is not queried for deliveries that the index has', () => {
    const plan = surveyed()
    plan.note(entry('a', 1))
    plan.found(LANE, at(1))
    expect(only(plan.due(at(1))).knownUntil).toBe('~')
  })

  test('is queried again after the last delivery of a partial result', () => {
    const plan = surveyed()
    plan.found(LANE, at(1))
    const line = only(plan.due(at(1)))
    plan.learn(line, [entry('a', 1), entry('b', 2)], at(2))
    plan.note(entry('beyond', 7))
    plan.take(line, at(2))
    plan.take(line, at(2))
    expect(only(plan.due(at(2)))).toMatchObject({ known: [], knownUntil: at(2) })
  })

  test('keeps deliveries that were reported during the query', () => {
    const plan = surveyed()
    plan.found(LANE, at(1))
    const line = only(plan.due(at(1)))
    line.looking = true
    plan.note(entry('new', 5))
    plan.note(entry('sooner', 2))
    plan.learn(line, [entry('a', 1), entry('sooner', 8)])
    expect(line.known.map(({ id, dueAt }) => [id, dueAt])).toEqual([
      ['a', at(1)],
      ['sooner', at(2)],
      ['new', at(5)],
    ])
  })

  test('without deliveries in the store is removed from the index', () => {
    const plan = surveyed()
    plan.found(LANE, at(1))
    plan.learn(only(plan.due(at(1))), [])
    expect(plan.next(at(0))).toBeUndefined()
  })
})

describe('the entries of a lane', () => {
  test('are bounded: the store is queried for those beyond the bound', () => {
    const plan = surveyed(2)
    for (const noted of [entry('c', 3), entry('a', 1), entry('b', 2), entry('d', 4)]) plan.note(noted)
    const line = only(plan.due(at(9)))
    expect(line.known.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(line.knownUntil).toBe(at(3))
    plan.take(line, at(9))
    plan.take(line, at(9))
    expect(only(plan.due(at(9)))).toBe(line)
  })

  test('are not removed through a reference from before `reopen`', () => {
    const plan = surveyed()
    plan.note(entry('a', 1))
    const old = only(plan.due(at(1)))
    plan.reopen(LANE)
    plan.close(old)
    const line = only(plan.due(at(1)))
    expect(line).not.toBe(old)
    plan.close(line)
    expect(plan.due(at(9))).toEqual([])
  })
})
