import { expect, test } from 'vitest'
import { foldCase } from './fold-case.ts'

test.each([
  ['Weather', 'weather'],
  ['ÉCOLE', 'école'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
])('%s and %s are the same without case', (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other))
})

test('folding twice changes nothing more', () => {
  for (const text of ['Straße', 'İstanbul', 'ﬁne', 'plain 😀'])
    expect(foldCase(foldCase(text))).toBe(foldCase(text))
})
