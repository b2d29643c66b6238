import { expect, test } from 'vitest'
import { readable } from './json-lines.ts'
import { compared, foldPairs, type Pair, pairLines } from './line-pairs.ts'

const told = (pairs: readonly Pair[]) =>
  pairs.map(({ before, after, same }) =>
    [before?.text, same ? '=' : '≠', after?.text, before?.number, after?.number].join(' '),
  )
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join('\n')

test('equal lines are paired, and replaced, removed and added ones in their order', () => {
  expect(told(pairLines('a\r\nb\nc\nd', 'a\nB\nd\ne'))).toEqual([
    'a = a 1 1',
    'b ≠ B 2 2',
    'c ≠  3 ',
    'd = d 4 3',
    ' ≠ e  4',
  ])
})

test('lines that were moved are paired once, and large documents with differences everywhere are aligned', () => {
  expect(told(pairLines('a\nb\nc\n}', 'c\na\nb\n}'))).toEqual([
    ' ≠ c  1',
    'a = a 1 2',
    'b = b 2 3',
    'c ≠  3 ',
    '} = } 4 4',
  ])
  const large = (date: string) =>
    Array.from({ length: 50_000 }, (_, at) => `"/path/${at}": {\n"date": "${date}"\n}`).join('\n')
  const pairs = pairLines(large('2025'), `first\n${large('2026')}`)
  expect(pairs).toHaveLength(150_001)
  expect(pairs.filter(({ same }) => !same)).toHaveLength(50_001)
})

test('equal lines far from others and from notes are folded until they are opened', () => {
  const pairs = pairLines(lines(1, 30), lines(1, 30).replace('line 10', 'other'))
  const shown = (open: number[]) =>
    foldPairs(pairs, new Map([[25, ['a note']]]), new Set(open)).map(row =>
      'note' in row ? row.note : 'folded' in row ? row.folded.length : row.pair.after?.number,
    )
  expect(shown([])).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 9, 23, 24, 25, 26, 'a note', 27, 28, 29, 30])
  expect(shown([0, 13])).toEqual([...Array.from({ length: 26 }, (_, n) => n + 1), 'a note', 27, 28, 29, 30])
})

test('JSON on one line has a line for each value, and places have those lines', () => {
  const value = { paths: { '/a/b': { get: {}, tags: ['x', { y: [] }] } }, more: 'x'.repeat(2_000) }
  const [spread, yaml] = readable([JSON.stringify(value), 'paths: {}'])
  expect(yaml).toMatchObject({ text: 'paths: {}' })
  expect(yaml?.lineOf('/paths', 1)).toBe(1)
  const line = (pointer: string) => spread?.text.split('\n')[(spread.lineOf(pointer, 1) ?? 0) - 1]?.trim()
  expect(line('')).toBe('{')
  expect(line('/paths/~1a~1b')).toBe('"/a/b": {')
  expect(line('/paths/~1a~1b/tags/1/y')).toBe('"y": []')
  expect(line('/paths/~1a~1b/missing/z')).toBe('"/a/b": {')
  expect(line('/more')).toMatch(/^"more"/)
  const inLines = '{\n "a": [1, 2] }'
  expect(readable([inLines])[0]).toMatchObject({ text: inLines })
  expect(readable(['{"a":1}', inLines]).map(({ text }) => text)).toEqual([
    '{\n  "a": 1\n}',
    '{\n  "a": [\n    1,\n    2\n  ]\n}',
  ])
})

test('a removed operation is noted where it was, although its lines occur elsewhere', () => {
  const document = (path: string) =>
    JSON.stringify({ paths: { '/a': { get: {} }, [path]: { get: { x: 1 } } } })
  const removed = { pointer: '/paths/~1b~1{id}/get', line: 1, fromLine: 1 }
  const { pairs, notes } = compared(document('/b/{id}'), document('/c'), [removed])
  expect([...notes.keys()].map(index => pairs[index]?.before?.text.trim())).toEqual(['"/b/{id}": {'])
})
