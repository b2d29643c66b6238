import { describe, expect, test } from 'vitest'
import { etag, matchesNone, revisionsOf } from './routes.ts'

describe('an entity tag', () => {
  test('contains the revision, and changes with the variant', () => {
    expect(etag(3)).toBe('"3"')
    expect(etag(3, 'Grace')).toMatch(/^"3-[\w-]{8}"$/)
    expect(etag(3, 'Grace')).not.toBe(etag(3, 'Ada'))
  })
})

describe('If-Match', () => {
  test.each([
    [undefined, undefined],
    ['*', undefined],
    ['"3"', [3]],
    ['"3-abcdefgh"', [3]],
    ['"1", "2"', [1, 2]],
    ['W/"3"', []],
    ['"x"', []],
    ['3', []],
    ['', []],
  ])('%s names the revisions %j', (header, revisions) => {
    expect(revisionsOf(header)).toEqual(revisions)
  })
})

describe('If-None-Match', () => {
  test.each([
    [undefined, false],
    ['*', true],
    ['"3"', true],
    ['W/"3"', true],
    ['"2", "3"', true],
    ['"2"', false],
    ['3', false],
  ])('%s: %s', (header, matches) => {
    expect(matchesNone(header, '"3"')).toBe(matches)
  })
})
