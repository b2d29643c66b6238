import { expect, test } from 'vitest'
import { foldCase } from './fold-case.ts'

test.each([
  ['Weather', 'weather'],
  ['ÉCOLE', 'école'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
])('%s and %s are equal after folding', (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other))
})

test('folding is idempotent', () => {
  for (const text of ['Straße', 'İstanbul', 'ﬁne', 'plain 😀'])
    expect(foldCase(foldCase(text))).toBe(foldCase(text))
})
