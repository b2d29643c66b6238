import { subjects } from '@gantry/contracts'
import { administrator } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'

const DAY = 24 * 60 * MINUTE
let identity: IdentityHost
let ada: { id: string; token: string }
beforeEach(async () => {
  identity = await hostIdentity()
  ada = await user('ada', 'USER')
})
afterEach(() => identity.close())

const admin = () => identity.as(administrator)
const user = async (username: string, role: string) => {
  const { body } = await admin().post('/users', { body: { username, role, password: PASSWORD } })
  return { id: body.id as string, token: await identity.loginToken(username) }
}
const authenticate = (token: string) => identity.host.service.authenticate(token)
const input = { name: 'pipeline', scopes: ['API_READ', 'ACCESS_TOKEN_MANAGE'] }
const create = async (fields: object = {}, as = ada.token) => {
  const { status, body } = await identity.as(as).post('/accessTokens', { body: { ...input, ...fields } })
  expect(status).toBe(201)
  return body as { id: string; token: string }
}

describe('an access token', () => {
  test('is shown with its secret once, and later without', async () => {
    const { status, headers, body } = await identity.as(ada.token).post('/accessTokens', { body: input })
    expect(status).toBe(201)
    expect(headers.location).toBe(`/accessTokens/${body.id}`)
    const { token, ...record } = body
    expect(token).toMatch(/^pat_[0-9A-Za-z]{49}$/)
    expect(record).toEqual({
      id: body.id,
      ...input,
      createdAt: '2026-11-21T10:00:00.000Z',
      validUntil: '2027-02-19T10:00:00.000Z',
      lastUsedAt: null,
    })
    expect((await identity.as(ada.token).get(`/accessTokens/${body.id}`)).body).toEqual(record)
    expect((await identity.as(ada.token).get('/accessTokens')).body).toMatchObject({
      content: [record],
      totalElements: 1,
    })
    const log = await identity.host.dependencies.eventStore.readStream(`token-${body.id}`)
    expect(JSON.stringify(log)).not.toContain(token)
  })

  test('has its scopes as far as the role has them', async () => {
    const { id, token } = await create({ validityDays: 1 })
    expect(await authenticate(token)).toEqual({
      userId: ada.id,
      username: 'ada',
      role: 'USER',
      scopes: ['API_READ', 'ACCESS_TOKEN_MANAGE'],
      kind: 'accessToken',
      tokenId: id,
      credentialId: id,
      expiresAt: identity.now().getTime() + DAY,
    })
    await admin().put(`/users/${ada.id}`, { body: { username: 'ada', role: 'NO_ACCESS' } })
    expect((await authenticate(token)).scopes).toEqual([])
  })

  test('cannot be created with scopes beyond those of the creating token or role', async () => {
    const { token } = await create()
    const wider = await identity.as(token).post('/accessTokens', {
      body: { name: 'wider', scopes: ['API_READ', 'API_WRITE', 'USER_WRITE'] },
    })
    expect(wider.body).toMatchObject({
      status: 403,
      code: 'scopes-exceeded',
      detail: 'the caller does not have API_WRITE, USER_WRITE',
      scopes: ['API_WRITE', 'USER_WRITE'],
    })
    const beyondRole = await identity.as(ada.token).post('/accessTokens', {
      body: { name: 'beyond', scopes: ['USER_WRITE'] },
    })
    expect(beyondRole.body.code).toBe('scopes-exceeded')
    expect((await create({ scopes: ['API_READ'] }, token)).token).toMatch(/^pat_/)
  })

  test('is returned again under its Idempotency-Key to the same credential, and not to a narrower one', async () => {
    const { token } = await create({ scopes: ['ACCESS_TOKEN_MANAGE'] })
    const sent = { body: input, headers: { 'idempotency-key': 'k-1' } }
    const first = await identity.as(ada.token).post('/accessTokens', sent)
    const again = await identity.as(ada.token).post('/accessTokens', sent)
    expect(again.body).toEqual(first.body)
    const narrow = await identity.as(token).post('/accessTokens', sent)
    expect(narrow.body).toMatchObject({ status: 403, code: 'scopes-exceeded' })
  })

  test('is returned again to another login of its user without the secret, with secretWithheld set', async () => {
    const sent = { body: input, headers: { 'idempotency-key': 'k-1' } }
    const first = await identity.as(ada.token).post('/accessTokens', sent)
    const otherLogin = await identity.loginToken('ada')
    const other = await identity.as(otherLogin).post('/accessTokens', sent)
    expect(other.status).toBe(201)
    expect(other.headers['idempotency-replayed']).toBe('true')
    expect(other.body).toEqual({ ...first.body, token: null, secretWithheld: true })
    expect((await identity.as(ada.token).post('/accessTokens', sent)).body).toEqual(first.body)
  })

  test('can be read and revoked by its owner only; other users get 404', async () => {
    const { id } = await create()
    const grace = identity.as((await user('grace', 'GLOBAL_ADMIN')).token)
    expect((await grace.get(`/accessTokens/${id}`)).body).toMatchObject({
      status: 404,
      code: 'access-token-not-found',
    })
    expect((await grace.delete(`/accessTokens/${id}`)).status).toBe(404)
    expect((await grace.get('/accessTokens')).body.content).toEqual([])
    expect((await identity.as(ada.token).get(`/accessTokens/${id}`)).status).toBe(200)
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
    expect((await authenticate(token)).tokenId).toBe(id)
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
    const events = await identity.host.dependencies.eventStore.readStream(`token-${id}`)
    expect(events.map(({ type }) => type)).toEqual(['TokenCreated', 'TokenUsed', 'TokenUsed'])
  })

  test('is the same for the same Idempotency-Key, also if the first response was not stored', async () => {
    const sent = { body: input, headers: { 'idempotency-key': 'k-1' } }
    const first = await identity.as(ada.token).post('/accessTokens', sent)
    expect((await identity.as(ada.token).post('/accessTokens', sent)).body).toEqual(first.body)
    await identity.host.dependencies.readModels.drop({ name: 'identity.idempotency', version: 1 })
    expect((await identity.as(ada.token).post('/accessTokens', sent)).body).toEqual(first.body)
    expect((await identity.as(ada.token).get('/accessTokens')).body.totalElements).toBe(1)
  })

  test.each([
    ['no scopes', { scopes: [] }],
    ['an unknown scope', { scopes: ['ALL'] }],
    ['no day', { validityDays: 0 }],
    ['too many days', { validityDays: 366 }],
    ['no name', { name: ' ' }],
  ])('with %s is refused', async (_, fields) => {
    const { body } = await identity.as(ada.token).post('/accessTokens', { body: { ...input, ...fields } })
    expect(body).toMatchObject({ status: 400, code: 'invalid-request' })
  })

  test('is listed in pages and in the requested order', async () => {
    for (const name of ['b', 'c', 'a']) {
      await create({ name })
      identity.pass(1)
    }
    const names = async (query: string) =>
      (await identity.as(ada.token).get(`/accessTokens?${query}`)).body.content.map(
        ({ name }: { name: string }) => name,
      )
    expect(await names('')).toEqual(['b', 'c', 'a'])
    expect(await names('sort=name,desc&size=2')).toEqual(['c', 'b'])
    expect(await names('sort=name,desc&size=2&page=2')).toEqual(['a'])
  })
})
