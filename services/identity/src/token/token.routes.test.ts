import { ROLE_SCOPES, requests } from '@gantry/contracts'
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

  test('is listed and revoked by administrators, unless their role is below that of its user', async () => {
    const { id } = await create()
    const path = `/users/${ada.id}/accessTokens`
    const above = { ...administrator, role: 'BILLING_CONTACT' as const }
    for (const url of [path, `${path}/${id}`]) {
      expect((await identity.as(above).get(url)).body.code).toBe('role-missing')
      expect((await identity.as(above).delete(url)).body.code).toBe('role-missing')
    }
    expect((await admin().get(path)).body).toMatchObject({ content: [{ id }], totalElements: 1 })
    expect((await admin().get(`${path}/${id}`)).body).toMatchObject({ id, name: 'pipeline' })
    expect((await admin().delete(`${path}/${id}`)).status).toBe(204)
    expect((await admin().delete(`${path}/${id}`)).body.code).toBe('access-token-not-found')
    const others = await Promise.all([create(), create()])
    expect((await admin().delete(path)).status).toBe(204)
    for (const { token } of others)
      await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    const own = (await admin().get('/users?username=admin')).body.content[0].id
    expect((await admin().get(`/users/${own}/accessTokens/${id}`)).body.code).toBe('access-token-not-found')
    expect((await admin().get(`/users/${id}/accessTokens`)).body.code).toBe('user-not-found')
  })

  test('limits what its user may do now, in a job, until it is revoked or the user is inactive', async () => {
    const { peers } = identity.host.dependencies.process
    const scopesNow = async (token: string | null) =>
      (await peers.ask(requests.scopesNow, { user: ada.id, token })).scopes
    const { id } = await create()
    expect((await scopesNow(id)).toSorted()).toEqual(input.scopes.toSorted())
    expect(await scopesNow(null)).toEqual(ROLE_SCOPES.USER)
    expect((await identity.as(ada.token).delete(`/accessTokens/${id}`)).status).toBe(204)
    await expect(scopesNow(id)).rejects.toMatchObject({ code: 'unauthenticated' })
    const user = { username: 'ada', role: 'USER', status: 'INACTIVE' }
    expect((await admin().put(`/users/${ada.id}`, { body: user })).status).toBe(200)
    await expect(scopesNow(null)).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { detail: 'the user of the credential is inactive' },
    })
  })
})
