import { foldCase } from '@gantry/stores'
import { describe, expect, it } from 'vitest'
import { containing, searchableOf } from './text.ts'

const texts = [
  'Payment Gateway\nCharges cards; see https://pay.example/v2.1/docs?x=[a]*',
  'a\ttab and a-very-long-word-that-goes-on-and-on',
  'Rocket 🚀🚀 東京タワー ΟΔΟΣ',
  'a|b c\\|d \\|\\|e and-more\\|-of-it nul\0nul \0',
  '',
]

/** Evaluates a condition of `containing` as MongoDB does: one element equals or matches, and the text matches. */
const holds = ({ text, parts = [] }: { text: string; parts?: string[] }, condition: object): boolean =>
  Object.entries(condition).every(([field, wanted]) => {
    const values = field === 'parts' ? parts : [text]
    return values.some(value =>
      typeof wanted === 'string' ? value === wanted : new RegExp(wanted.$regex).test(value),
    )
  })

describe.each([true, false])('a text search with indexed parts: %s', indexed => {
  const stored = texts.map(text => searchableOf([text, null, undefined, 7], indexed))

  it('finds a text by each of its substrings without whitespace, and by nothing else', () => {
    const terms = new Set(['zz', 'yt', 'gatewaycharges', 'a-very-long-word-that-goes-off', '.*', '^', 'σ'])
    for (const text of texts)
      for (let from = 0; from < text.length; from++)
        for (const length of [1, 2, 3, 11, 12, 13, 30]) {
          const term = text.slice(from, from + length).toUpperCase()
          if (!/\s/.test(term) && term.isWellFormed()) terms.add(term)
        }
    for (const term of terms) {
      const condition = containing(term, indexed)
      for (const [index, text] of texts.entries())
        expect([term, holds(stored[index] ?? { text: '' }, condition)]).toEqual([
          term,
          foldCase(text).includes(foldCase(term)),
        ])
    }
  })
})

it('uses one range of the index, and checks the text only for terms that are longer than its parts', () => {
  expect(containing('V2', true)).toEqual({ parts: 'v2' })
  expect(containing('v2.', true)).toEqual({ parts: { $regex: '^v2\\.' } })
  expect(containing('payment-v2.0', true)).toEqual({ parts: { $regex: '^payment\\-v2\\.0' } })
  expect(containing('payment-v2.01', true)).toEqual({
    parts: { $regex: '^payment\\-v2\\.0' },
    text: { $regex: 'payment\\-v2\\.01' },
  })
})

it('uses no regular expression prefix that MongoDB does not accept', () => {
  expect(containing('a|b', true)).toEqual({ parts: { $regex: '^a\\|b' } })
  expect(containing('\\|x', true)).toEqual({ parts: '\\|', text: { $regex: '\\\\\\|x' } })
  expect(containing('and\\|or', true)).toEqual({
    parts: { $regex: '^and' },
    text: { $regex: 'and\\\\\\|or' },
  })
  expect(containing('a\0b', true)).toEqual({ parts: 'a\0', text: { $regex: 'a\\x00b' } })
})
