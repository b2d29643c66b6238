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

test.for([
  'x-access-key',
  'x-functions-key',
  'Ocp-Apim-Subscription-Key',
  'x-jwt',
  'x-csrf',
  'x-sid',
  'x-signed',
  'x-amz-sig',
  'passwd',
  'x-pwd',
  'x-pass',
  'x-db-passphrase',
])('the value of %s is masked', name => {
  expect(Object.values(recordedHeaders({ [name]: 'hunter2' }))).toEqual(['***'])
})

test('URLs are recorded up to their query or fragment, without user', () => {
  const secrets = '?X-Amz-Signature=hunter2#access_token=hunter2'
  expect(
    recordedHeaders({
      location: `https://ada:hunter2@example.org/a${secrets}`,
      'content-location': '/b#hunter2',
      refresh: `5; url=/c${secrets}`,
      link: [`<d${secrets}>; rel="next"`, '<e>; rel="prev"'],
      'x-original': `https://example.org/f${secrets}`,
      server: 'a #1',
    }),
  ).toEqual({
    location: 'https://***@example.org/a…',
    'content-location': '/b…',
    refresh: '5; url=/c…',
    link: '<d…',
    'x-original': 'https://example.org/f…',
    server: 'a #1',
  })
})

test('long values are cut, and the size of all is bounded', () => {
  expect(recordedHeaders({ long: 'x'.repeat(10_000) }).long).toBe(`${'x'.repeat(255)}…`)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`header-${n}`, 'value']))
  expect(JSON.stringify(recordedHeaders(many)).length).toBeLessThan(4_096)
})
