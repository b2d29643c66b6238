import { administrator } from '@gantry/service-runtime/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'

const DAY = 24 * 60 * MINUTE
let identity: IdentityHost
let ada: { id: string; token: string }
beforeEach(async () => {
  identity = await hostIdentity()
  const { body } = await admin().post('/users', {
    body: { username: 'ada', role: 'USER', password: PASSWORD },
  })
  ada = { id: body.id, token: await identity.loginToken('ada') }
})
afterEach(() => identity.close())

const admin = () => identity.as(administrator)
const authenticate = (token: string) => identity.host.service.authenticate(token)
const input = { name: 'pipeline', scopes: ['API_READ', 'ACCESS_TOKEN_MANAGE'] }
const create = async (fields: object = {}) => {
  const { status, body } = await identity
    .as(ada.token)
    .post('/accessTokens', { body: { ...input, ...fields } })
  expect(status).toBe(201)
  return body as { id: string; token: string }
}

describe('an access token', () => {
  test('expires at validUntil and stays listed', async () => {
    const { id, token } = await create({ validityDays: 1 })
    identity.pass(DAY - 1)
    expect(await authenticate(token)).toEqual({
      userId: ada.id,
      username: 'ada',
      role: 'USER',
      scopes: input.scopes,
      kind: 'accessToken',
      tokenId: id,
      credentialId: id,
      expiresAt: identity.now().getTime() + 1,
    })
    identity.pass(1)
    await expect(authenticate(token)).rejects.toMatchObject({
      details: { detail: 'the access token has expired' },
    })
    const again = await identity.loginToken('ada')
    expect((await identity.as(again).get('/accessTokens')).body.content).toMatchObject([{ id }])
  })
})
