import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { coalesceResponses, etag, matchesNone, revisionsOf } from './routes.ts'

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
  ])('%s names the revisions %j', (header, revisions) => {
    expect(revisionsOf(header)).toEqual(revisions)
  })

  test.each(['3', '', '"1" "2"', '"1'])('%s is refused', header => {
    expect(() => revisionsOf(header)).toThrow('invalid-request')
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

test('the first caller in a turn continues at once, the others together after the rest of the turn', async () => {
  const ended = coalesceResponses()
  const order: string[] = []
  const work = async (name: string) => {
    await ended()
    order.push(name)
  }
  const all = ['first', 'second', 'third'].map(work)
  for (let n = 0; n < 10; n++) await Promise.resolve()
  order.push('the turn goes on')
  await Promise.all(all)
  expect(order).toEqual(['first', 'the turn goes on', 'second', 'third'])
})

test('the first caller in each turn continues at once', async () => {
  const ended = coalesceResponses()
  expect(ended()).toBeUndefined()
  expect(ended()).toBeInstanceOf(Promise)
  await setImmediate()
  expect(ended()).toBeUndefined()
})
