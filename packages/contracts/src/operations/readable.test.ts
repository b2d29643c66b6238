import { expect, test } from 'vitest'
import { readableData } from './primitives.ts'

const mask = (data: Record<string, unknown>) => readableData('CONFIGURATION_CHANGED', data)

test.for([
  'password',
  'dbPassword',
  'CLIENT_SECRET',
  'client-secret',
  'accessToken',
  'api_key',
  'API-Key',
  'x-a_p-i-k_e-y',
  'credentials',
  'privateKey',
  'db_pwd',
  'SmtpPass',
  'passphrase',
  'Authorization',
  'proxy-authorization',
  'AWS_ACCESS_KEY',
  'dsn',
  'sentryDSN',
  'connectionString',
])('the value of %s is masked, whatever its type', key => {
  for (const value of ['hunter2', 7, null, true, ['hunter2'], { user: 'a', deep: 'hunter2' }])
    expect(mask({ [key]: value, setting: 'smtp' })).toEqual({ [key]: '***', setting: 'smtp' })
})

test('secrets are masked at every depth, also within arrays', () => {
  const data = { smtp: { hosts: [{ name: 'a', auth: { Pass_Word: 'hunter2' } }] }, retention: '30d' }
  expect(mask(data)).toEqual({
    smtp: { hosts: [{ name: 'a', auth: { Pass_Word: '***' } }] },
    retention: '30d',
  })
  const deep: Record<string, unknown> = { token: 'hunter2' }
  let outer = deep
  for (let n = 1; n < 1_000; n++) outer = { outer }
  expect(JSON.stringify(mask(outer))).toBe(JSON.stringify(outer).replace('hunter2', '***'))
})

test.for([
  ['postgres://ada:hunter2@db/gantry?ssl=1', 'postgres://***@db/gantry?ssl=1'],
  ['mongodb+srv://ada:hunter2@a,b/ and //bob:hunter2@c', 'mongodb+srv://***@a,b/ and //***@c'],
  ['a\n-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\nb', 'a\n***\nb'],
  ['-----BEGIN PRIVATE KEY-----\nhunter2', '***'],
] as const)('the secret in the text %j is masked', ([text, masked]) => {
  expect(mask({ list: [{ text }] })).toEqual({ list: [{ text: masked }] })
})

test('masking changes neither the original data nor other keys', () => {
  const data = {
    key: 'a',
    passthrough: 'b',
    public: 'c',
    list: [1, null, { a: {} }],
    url: 'https://a/b?c=@d',
  }
  expect(mask(data)).toEqual(data)
  const secret = { token: 'hunter2' }
  mask(secret)
  expect(secret).toEqual({ token: 'hunter2' })
})
