import { expect, test } from 'vitest'
import { RequestFailed } from './bus.ts'
import { isReply, replyOf, resultOf } from './reply.ts'

class Refusal extends Error {
  readonly code = 'name-taken'
  readonly details = { name: 'a' }
}

test('a reply has the bytes that the release before exchanges', async () => {
  expect(JSON.stringify(await replyOf(async () => ({ id: 1 })))).toBe('{"ok":{"id":1}}')
  const refused = await replyOf(() => Promise.reject(new Refusal('taken')))
  expect(JSON.stringify(refused)).toBe(
    '{"failed":{"code":"name-taken","message":"taken","details":{"name":"a"}}}',
  )
  const thrown = await replyOf(() => Promise.reject(new TypeError('x')))
  expect(JSON.stringify(thrown)).toBe('{"failed":{"code":"internal-error","message":"x","details":{}}}')
})

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
