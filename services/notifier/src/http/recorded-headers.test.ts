import { expect, test } from 'vitest'
import { recordedHeaders } from './recorded-headers.ts'

test('headers are recorded by name in lower case, without credentials', () => {
  const headers = {
    'Content-Type': 'text/html',
    via: ['a', 'b'],
    'webhook-signature': 'v1,secret',
    'set-cookie': ['session=1', 'other=2'],
    'www-authenticate': 'Bearer realm="x"',
    'x-api-key': 'k',
    'x-amz-security-token': 't',
    __proto__x: 'odd',
    'a.b': 'dotted',
    absent: undefined,
  }
  expect(recordedHeaders(headers)).toEqual({
    'content-type': 'text/html',
    via: 'a, b',
    'webhook-signature': '***',
    'set-cookie': '***',
    'www-authenticate': '***',
    'x-api-key': '***',
    'x-amz-security-token': '***',
  })
})

test('long values are cut, and the size of all is bounded', () => {
  expect(recordedHeaders({ long: 'x'.repeat(10_000) }).long).toBe(`${'x'.repeat(255)}…`)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`header-${n}`, 'value']))
  expect(JSON.stringify(recordedHeaders(many)).length).toBeLessThan(4_096)
})
