import { administrator } from '@gantry/service-runtime/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'

const NEW = 'another long password'
let identity: IdentityHost
let id: string
let login: string
beforeEach(async () => {
  identity = await hostIdentity()
  id = await create({ username: 'ada' })
  login = await identity.loginToken('ada')
})
afterEach(() => identity.close())

const create = async (fields: object): Promise<string> => {
  const body = { role: 'USER', password: PASSWORD, ...fields }
  return (await identity.as(administrator).post('/users', { body })).body.id
}
const change = (credential: string, password = PASSWORD) =>
  identity.as(credential).put('/session/password', { body: { password, newPassword: NEW } })
const authenticate = (token: string) => identity.host.service.authenticate(token)
const revoked = { code: 'unauthenticated', details: { detail: 'the login token is revoked' } }
const wrong = {
  status: 400,
  body: {
    code: 'invalid-request',
    errors: [{ field: 'password', message: expect.stringContaining('is wrong') }],
  },
}

describe('a change of the own password', () => {
  test('ends the other sessions of the user, and goes on with a new login token', async () => {
    const other = await identity.loginToken('ada')
    const pat = await identity.as(login).post('/accessTokens', { body: { name: 'ci', scopes: ['API_READ'] } })
    const { status, headers } = await change(login)
    expect(status).toBe(204)
    expect(headers['cache-control']).toBe('no-store')
    for (const ended of [login, other]) await expect(authenticate(ended)).rejects.toMatchObject(revoked)
    const own = String(headers.authorization).replace(/^Bearer /, '')
    expect(await authenticate(own)).toMatchObject({ userId: id, kind: 'login' })
    expect(await authenticate(pat.body.token)).toMatchObject({ userId: id, kind: 'accessToken' })
    expect([(await identity.logIn('ada')).status, (await identity.logIn('ada', NEW)).status]).toEqual([
      401, 200,
    ])
    const again = await change(pat.body.token, NEW)
    expect(again).toMatchObject({ status: 204 })
    expect(again.headers).not.toHaveProperty('authorization')
    await expect(authenticate(own)).rejects.toMatchObject(revoked)
  })

  test('counts wrong passwords as logins do, and tells a locked user nothing', async () => {
    expect(await identity.logIn('ada', 'wrong')).toMatchObject({ status: 401 })
    for (let time = 0; time < 4; time++) expect(await change(login, 'wrong')).toMatchObject(wrong)
    expect((await identity.as(administrator).get(`/users/${id}`)).body.lockedUntil).not.toBeNull()
    expect(await change(login)).toMatchObject(wrong)
    identity.pass(15 * MINUTE)
    expect((await change(login)).status).toBe(204)
  })

  test('is refused to a user of single sign-on, and with a short password', async () => {
    const body = { password: PASSWORD, newPassword: 'short' }
    expect((await identity.as(login).put('/session/password', { body })).status).toBe(400)
    const sso = await create({ username: 'grace', sso: true, role: 'ADMIN' })
    const caller = { ...administrator, userId: sso }
    const refused = await identity
      .as(caller)
      .put('/session/password', { body: { password: PASSWORD, newPassword: NEW } })
    expect(refused).toMatchObject({ status: 403, body: { code: 'sso-login-only' } })
  })
})
