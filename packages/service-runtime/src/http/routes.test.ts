import { setImmediate } from 'node:timers/promises'
import { downloadDocument, getApi, listDeliveries } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { checkParams, checkQuery, coalesceResponses, etag, matchesNone, revisionsOf } from './routes.ts'

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

const refusal = (call: () => unknown) => {
  try {
    call()
  } catch (error) {
    return error
  }
}

describe('a refused request', () => {
  test('says how a time is written', () => {
    expect(refusal(() => checkQuery(listDeliveries.query, { from: '2026-11-28' }))).toMatchObject({
      code: 'invalid-request',
      details: { detail: 'from must be a date and time with Z or an offset, e.g. 2026-11-21T09:30:00Z' },
    })
  })

  test('says which part of its path can name no record', () => {
    const notFound = (detail: string) => ({ code: 'not-found', details: { detail } })
    expect(refusal(() => checkParams(getApi.params, { api_id: 'payments' }))).toMatchObject(
      notFound('api_id must be a UUID'),
    )
    const place = { api_id: 'a', version_id: '1.0', name: '.hidden' }
    expect(refusal(() => checkParams(downloadDocument.params, place))).toMatchObject(
      notFound('api_id must be a UUID; name must be 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot'),
    )
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
