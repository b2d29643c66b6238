import { subjects } from '@gantry/contracts'
import { administrator } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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
const eventsOf = (id: string) => identity.host.dependencies.eventStore.readStream(`token-${id}`)

describe('an access token', () => {
  test('cannot have scopes that its creator lacks, which the refusal names', async () => {
    const { token } = await create()
    const body = { name: 'wider', scopes: ['API_READ', 'API_WRITE', 'USER_WRITE'] }
    expect((await identity.as(token).post('/accessTokens', { body })).body).toMatchObject({
      status: 403,
      code: 'scopes-exceeded',
      detail: 'the caller does not have API_WRITE, USER_WRITE',
      scopes: ['API_WRITE', 'USER_WRITE'],
    })
  })

  test('is revoked at once, and this is broadcast to the processes that may have cached it', async () => {
    const received: unknown[] = []
    identity.host.dependencies.bus.listen(subjects.principalChanged, change => received.push(change))
    const { id, token } = await create()
    expect((await identity.as(token).delete(`/accessTokens/${id}`)).status).toBe(204)
    expect(received).toEqual([{ userId: ada.id, tokenId: id }])
    await expect(authenticate(token)).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { detail: 'the access token is unknown or revoked' },
    })
    expect((await identity.as(ada.token).delete(`/accessTokens/${id}`)).status).toBe(404)
    expect((await identity.as(ada.token).get('/accessTokens')).body.totalElements).toBe(0)
  })

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

  test('stays valid after a logout, but not without an active user', async () => {
    const { token } = await create()
    await identity.as(ada.token).post('/logout')
    expect((await authenticate(token)).username).toBe('ada')
    const inactive = { username: 'ada', status: 'INACTIVE' }
    await admin().put(`/users/${ada.id}`, { body: inactive })
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    await admin().put(`/users/${ada.id}`, { body: { ...inactive, status: 'ACTIVE' } })
    expect((await authenticate(token)).username).toBe('ada')
    await admin().delete(`/users/${ada.id}`)
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('shows its last use, accurate to ten minutes', async () => {
    const { id, token } = await create()
    const lastUsedAt = async () => (await identity.as(ada.token).get(`/accessTokens/${id}`)).body.lastUsedAt
    await Promise.all([authenticate(token), authenticate(token), authenticate(token)])
    await vi.waitFor(async () => expect(await lastUsedAt()).toBe('2026-11-21T10:00:00.000Z'))
    identity.pass(9 * MINUTE)
    await authenticate(token)
    identity.pass(MINUTE)
    await authenticate(token)
    await vi.waitFor(async () => expect(await lastUsedAt()).toBe('2026-11-21T10:10:00.000Z'))
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(['TokenCreated', 'TokenUsed', 'TokenUsed'])
  })

  test('is the same for the same Idempotency-Key, also if the first response was not stored', async () => {
    const sent = { body: input, headers: { 'idempotency-key': 'k-1' } }
    const { body } = await identity.as(ada.token).post('/accessTokens', sent)
    await identity.host.dependencies.readModels.drop({ name: 'identity.idempotency', version: 1 })
    expect((await identity.as(ada.token).post('/accessTokens', sent)).body).toEqual(body)
    expect((await identity.as(ada.token).get('/accessTokens')).body.totalElements).toBe(1)
    expect(JSON.stringify(await eventsOf(body.id))).not.toContain(body.token)
  })
})
