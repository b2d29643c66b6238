import { expect, test } from 'vitest'
import { fromLocalInput, toLocalInput } from './local-time.ts'

test('a time of the service stays the same in a field of the browser, to the second', () => {
  const at = '2026-11-20T09:00:05.123Z'
  expect(fromLocalInput(toLocalInput(at))).toBe('2026-11-20T09:00:05.000Z')
  expect([toLocalInput(undefined), fromLocalInput(''), fromLocalInput('2026-13')]).toEqual([
    '',
    undefined,
    undefined,
  ])
})
