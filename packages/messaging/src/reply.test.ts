import { expect, test } from 'vitest'
import { RequestFailed } from './bus.ts'
import { isReply, resultOf } from './reply.ts'

test('the requester gets the result, or the error of the responder', () => {
  expect(resultOf({ ok: null })).toBe(null)
  const failed = { code: 'name-taken', message: 'taken', details: { name: 'a' } }
  expect(() => resultOf({ failed })).toThrow(RequestFailed)
  expect(() => resultOf({ failed })).toThrow(expect.objectContaining(failed))
})

test('only a result or a complete failure is a reply', () => {
  for (const value of [{ ok: null }, { ok: false }, { failed: { code: 'a', message: 'b', details: {} } }])
    expect(isReply(value)).toBe(true)
  for (const value of [
    null,
    'ok',
    {},
    { status: 503 },
    { failed: {} },
    { failed: { code: 'a', message: 'b' } },
  ])
    expect(isReply(value)).toBe(false)
})
