import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyWebhook, WebhookError } from './webhooks.ts'

const [SECRET, OTHER] = ['old', 'new'].map(
  key => `whsec_${Buffer.from(key.repeat(8)).toString('base64')}`,
) as [string, string]
const BODY = '{"id":"e-1","type":"TEST","data":{"message":"ä"}}'

const signature = (secret: string, signed: string) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(signed)
    .digest('base64')}`

/** The headers of a request that is signed with the secrets. @param age in seconds */
const headersOf = (secrets: string[], age = 0, body = BODY) => {
  const timestamp = `${Math.floor(Date.now() / 1_000) - age}`
  return {
    'webhook-id': 'd-1',
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(secret => signature(secret, `d-1.${timestamp}.${body}`)).join(' '),
  }
}
const reason = (received: Parameters<typeof verifyWebhook>[0]) =>
  verifyWebhook(received).then(
    () => 'accepted',
    error => (error instanceof WebhookError ? error.reason : error),
  )

test('a signed request gives the id of the delivery and the event, from text, bytes and both kinds of headers', async () => {
  const headers = headersOf([SECRET])
  const expected = { id: 'd-1', event: JSON.parse(BODY) }
  expect(await verifyWebhook({ headers, body: BODY, secret: SECRET })).toEqual(expected)
  const bytes = new TextEncoder().encode(BODY)
  expect(await verifyWebhook({ headers: new Headers(headers), body: bytes, secret: SECRET })).toEqual(
    expected,
  )
})

test('after a rotation either secret is enough, at the sender and at the receiver', async () => {
  const body = BODY
  expect(await reason({ headers: headersOf([OTHER, SECRET]), body, secret: SECRET })).toBe('accepted')
  expect(await reason({ headers: headersOf([OTHER]), body, secret: [SECRET, OTHER] })).toBe('accepted')
  expect(await reason({ headers: headersOf([OTHER]), body, secret: SECRET })).toBe('signature-wrong')
})

test('another body, signature, scheme or time is refused', async () => {
  const headers = headersOf([SECRET])
  const refused = (changed: object, body = BODY) =>
    reason({ headers: { ...headers, ...changed }, body, secret: SECRET })
  expect(await refused({}, `${BODY} `)).toBe('signature-wrong')
  expect(await refused({ 'webhook-id': 'd-2' })).toBe('signature-wrong')
  expect(await refused({ 'webhook-signature': 'v1,%%% v1,ab= v1, v1' })).toBe('signature-wrong')
  expect(await refused({ 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') })).toBe(
    'signature-wrong',
  )
  expect(await refused({ 'webhook-id': undefined })).toBe('header-missing')
  expect(await refused({ 'webhook-timestamp': 'soon' })).toBe('time-outside-tolerance')
})

test('a signed body that is not JSON is refused', async () => {
  const headers = headersOf([SECRET], 0, 'hello')
  expect(await reason({ headers, body: 'hello', secret: SECRET })).toBe('body-not-json')
})

test.for(['', 'whsec_', 'whsec_%', [], [SECRET, '']].map(secret => ({ secret })))(
  'what is no secret is an error of the receiver, not of the request: $secret',
  async ({ secret }) => {
    const error = await reason({ headers: {}, body: BODY, secret })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe('secret must be that of a webhook: whsec_, followed by base64')
  },
)

test('a request is accepted within the tolerance, earlier or later', async () => {
  const age = (seconds: number, toleranceSeconds?: number) =>
    reason({
      headers: headersOf([SECRET], seconds),
      body: BODY,
      secret: SECRET,
      ...(toleranceSeconds && { toleranceSeconds }),
    })
  expect(await age(290)).toBe('accepted')
  expect(await age(302)).toBe('time-outside-tolerance')
  expect(await age(-302)).toBe('time-outside-tolerance')
  expect(await age(302, 600)).toBe('accepted')
})
