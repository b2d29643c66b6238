import { expect, test } from 'vitest'
import { isReply } from './reply.ts'

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
