import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { formatSecret, parseSecret, signedHeaders } from './standard-webhooks.ts'

// The example of the specification's reference libraries.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const KEY = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const TIMESTAMP = 1614265330

const now = () => Math.floor(Date.now() / 1_000)

describe('a signature', () => {
  test('equals the example of the specification', () => {
    expect(signedHeaders(ID, TIMESTAMP, Buffer.from('{"test": 2432232314}'), [KEY])).toEqual({
      'webhook-id': ID,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  test('is made with each secret during a rotation, and each verifies', () => {
    const next = Buffer.alloc(24, 3)
    const headers = signedHeaders(ID, now(), Buffer.from('{}'), [next, KEY])
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
    for (const secret of [SECRET, formatSecret(next)])
      expect(() => new Webhook(secret).verify('{}', headers)).not.toThrow()
    expect(() => new Webhook(formatSecret(Buffer.alloc(24, 4))).verify('{}', headers)).toThrow()
  })
})

test('a secret has the format of the specification', () => {
  expect(formatSecret(KEY)).toBe(SECRET)
})

test.each([SECRET.slice(6), `whsec_${Buffer.alloc(23).toString('base64')}`, `${SECRET}!`, 'whsec_'])(
  'the text %j is no secret',
  text => {
    expect(parseSecret(SECRET)).toEqual(KEY)
    expect(parseSecret(text)).toBeUndefined()
  },
)
