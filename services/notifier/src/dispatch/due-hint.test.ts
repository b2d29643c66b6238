import { expect, test } from 'vitest'
import { dueHint, entryOfHint } from './due-hint.ts'

test('a hint has the fields that replicas of earlier releases send and expect', () => {
  const hint = { id: 'd1', lane: { webhook: 'w1', kind: 'first' }, dueAt: '2026-11-21T10:00:00.000Z' }
  expect(entryOfHint(hint)).toEqual({ id: 'd1', queue: hint.lane, dueAt: hint.dueAt })
  expect(dueHint(entryOfHint(hint))).toEqual(hint)
})
