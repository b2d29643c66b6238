import { describe, expect, test } from 'vitest'
import type { Lane } from '../delivery/lane.ts'
import { agenda, type Entry, type Line } from './agenda.ts'

const LANE: Lane = { webhook: 'w', kind: 'retry' }
const OTHER: Lane = { webhook: 'v', kind: 'first' }
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10) + seconds * 1_000).toISOString()
const entry = (id: string, seconds: number, lane = LANE): Entry => ({ id, lane, dueAt: at(seconds) })

/** One that knows all there is. */
const surveyed = (bound?: number) => {
  const plan = agenda(bound)
  plan.surveyed()
  return plan
}
const only = (lines: Line[]): Line => {
  const [line] = lines
  if (!line || lines.length > 1) throw new Error(`${lines.length} lines are due`)
  return line
}

describe('what is due', () => {
  test('is taken in order of time, and not before', () => {
    const plan = surveyed()
    for (const noted of [entry('b', 2), entry('c', 3), entry('a', 1)]) plan.note(noted)
    expect(plan.due(at(0))).toEqual([])
    expect(plan.next(at(0))).toBe(at(1))
    const line = only(plan.due(at(2)))
    expect([1, 2, 3].map(() => plan.take(line, at(2))?.id)).toEqual(['a', 'b', undefined])
    expect(plan.next(at(2))).toBe(at(3))
  })

  test('is taken of each lane in turn', () => {
    const plan = surveyed()
    for (const noted of [entry('a', 1), entry('b', 1), entry('x', 1, OTHER)]) plan.note(noted)
    const [first] = plan.due(at(1))
    if (first) plan.take(first, at(1))
    expect(plan.due(at(1)).map(({ lane }) => lane)).toEqual([OTHER, LANE])
  })

  test('and cannot begin does not hide when others become due', () => {
    const plan = surveyed()
    plan.note(entry('blocked', 1))
    plan.note(entry('x', 5, OTHER))
    expect(plan.next(at(2))).toBe(at(5))
  })

  test('is nothing once all was taken', () => {
    const plan = surveyed()
    plan.note(entry('a', 1))
    plan.take(only(plan.due(at(1))), at(1))
    expect(plan.due(at(9))).toEqual([])
    expect(plan.next(at(1))).toBeUndefined()
  })
})

describe('the store', () => {
  test('is asked about a lane that a survey found, by the time that is due', () => {
    const plan = surveyed()
    plan.found(LANE, at(3))
    expect(plan.due(at(2))).toEqual([])
    const line = only(plan.due(at(3)))
    expect(line).toMatchObject({ known: [], knownUntil: at(3) })
    plan.learn(line, [entry('a', 3), entry('b', 9)])
    expect([plan.take(line, at(3))?.id, plan.take(line, at(3))?.id]).toEqual(['a', undefined])
    expect(plan.next(at(3))).toBe(at(9))
  })

  test('is asked before anything is believed, until it was surveyed', () => {
    const plan = agenda()
    plan.note(entry('late', 9))
    expect(only(plan.due(at(0)))).toMatchObject({ known: [], knownUntil: '' })
  })

  test('is not asked about what is known', () => {
    const plan = surveyed()
    plan.note(entry('a', 1))
    plan.found(LANE, at(1))
    expect(only(plan.due(at(1))).knownUntil).toBe('~')
  })

  test('is asked again when it had more than it told', () => {
    const plan = surveyed()
    plan.found(LANE, at(1))
    const line = only(plan.due(at(1)))
    plan.learn(line, [entry('a', 1), entry('b', 2)], at(2))
    plan.note(entry('beyond', 7))
    plan.take(line, at(2))
    plan.take(line, at(2))
    expect(only(plan.due(at(2)))).toMatchObject({ known: [], knownUntil: at(2) })
  })

  test('does not undo what was noted while it was asked', () => {
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

  test('that has nothing closes the lane', () => {
    const plan = surveyed()
    plan.found(LANE, at(1))
    plan.learn(only(plan.due(at(1))), [])
    expect(plan.next(at(0))).toBeUndefined()
  })
})

describe('memory', () => {
  test('is bounded: beyond it the store is asked again', () => {
    const plan = surveyed(2)
    for (const noted of [entry('c', 3), entry('a', 1), entry('b', 2), entry('d', 4)]) plan.note(noted)
    const line = only(plan.due(at(9)))
    expect(line.known.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(line.knownUntil).toBe(at(3))
    plan.take(line, at(9))
    plan.take(line, at(9))
    expect(only(plan.due(at(9)))).toBe(line)
  })

  test('of a lane that was opened anew is not closed by who knew the old one', () => {
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
