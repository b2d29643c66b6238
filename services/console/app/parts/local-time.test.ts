import { expect, test } from 'vitest'
import { fromLocalInputs, toLocalInputs } from './local-time.ts'

test('a time of the service stays the same in the fields of the browser, to the second', () => {
  for (const at of ['2026-11-20T09:00:05.000Z', '2026-11-20T09:30:00.000Z', '2026-11-20T00:00:00.000Z'])
    expect(fromLocalInputs(toLocalInputs(at), true)).toBe(at)
  expect(toLocalInputs('2026-11-20T09:00:05.123Z').time).toMatch(/:05$/)
  expect(toLocalInputs(undefined)).toEqual({ date: '', time: '' })
})

test('a date alone is the start or the end of its day', () => {
  const only = { date: '2026-11-20', time: '' }
  expect(fromLocalInputs(only, false)).toBe(new Date(2026, 10, 20).toISOString())
  expect(fromLocalInputs(only, true)).toBe(new Date(2026, 10, 20, 23, 59, 59, 999).toISOString())
  expect(fromLocalInputs({ date: '', time: '10:00' }, false)).toBeUndefined()
})
