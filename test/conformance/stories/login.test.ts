import { describe, expect, inject, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { admin, anonymous, eventually, unique, withinASecond } from '../src/gantry.ts'
import { isSignedBy, type Jwks, readJwt, tamper } from '../src/jwt.ts'
import type { AuditRecord, Page, User } from '../src/records.ts'
import { createToken, createUser, loggedIn, logIn, PASSWORD, userWithRole, withToken } from '../src/users.ts'

const refusedEverywhere = (client: Client) =>
  withinASecond(async () => (await client.get('/apis', { size: 1 })).refused(401))
const wrong = (username: string) => logIn(username, 'the wrong password')
const wrongTimes = async (username: string, times: number) => {
  for (let n = 0; n < times; n += 1) (await wrong(username)).refused(401)
}

describe.concurrent('logging in', () => {
  test('returns the user and, in a header, a JWT that is valid for an hour and verifies with the published keys', async () => {
    const user = await createUser({ role: 'USER' })
    const answer = (await logIn(user.username)).is(200)
    const { id, username, displayName, email, role, status } = user
    expect(answer.json).toMatchObject({ id, username, displayName, email, role, status })
    expect(answer.text).not.toContain(PASSWORD)
    expect(answer.text).not.toMatch(/argon2|"password"/i)
    const [, token = ''] = /^Bearer (\S+)$/.exec(answer.headers.get('authorization') ?? '') ?? []
    ;(await withToken(token).get('/apis', { size: 1 })).is(200)

    const jwks = (await anonymous.get('/.well-known/jwks.json', {}, { undocumented: true })).as<Jwks>(200)
    const { header, claims } = readJwt(token)
    expect(header).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) })
    expect(claims.exp - claims.iat).toBe(3600)
    expect(isSignedBy(jwks, token)).toBe(true)
    expect(isSignedBy(jwks, tamper(token, { role: 'GLOBAL_ADMIN' }))).toBe(false)
    for (const key of jwks.keys) {
      expect(key).toMatchObject({
        kty: 'OKP',
        crv: 'Ed25519',
        kid: expect.any(String),
        x: expect.any(String),
      })
      expect(key).not.toHaveProperty('d')
    }
  })

  test('works for the administrator', async () => {
    const answer = (await anonymous.post('/login', inject('admin'))).is(200)
    expect(answer.json).toMatchObject({
      username: inject('admin').username,
      role: 'GLOBAL_ADMIN',
      status: 'ACTIVE',
    })
  })

  // services/identity/src/login/timing.test.ts tests that both take the same time.
  test('gives the same response to an unknown username and to a wrong or similar password', async () => {
    const { username } = await createUser()
    const { title, detail, code, type } = (await wrong(unique('nobody'))).refused(401)
    for (const password of ['the wrong password', `${PASSWORD} `, PASSWORD.toUpperCase()])
      expect((await logIn(username, password)).refused(401)).toMatchObject({ title, detail, code, type })
    ;(await logIn(username, '')).is(400, 401)
    ;(await logIn('', PASSWORD)).is(400, 401)
  })

  test.for<[string, unknown]>([
    ['no password', { username: 'grace' }],
    ['no username', { password: PASSWORD }],
    ['a number for a password', { username: 'grace', password: 1 }],
    ['an object for a username', { username: { $ne: null }, password: PASSWORD }],
    ['a list', []],
  ])('is refused with %s', async ([, body]) => {
    ;(await anonymous.post('/login', body)).refused(400)
  })

  test.for<[string, Partial<User>, string | undefined]>([
    ['refused to an inactive user', { status: 'INACTIVE' }, undefined],
    ['refused to a USER with single sign-on', { sso: true, role: 'USER' }, 'sso-login-only'],
    ['refused to a BILLING_CONTACT with it', { sso: true, role: 'BILLING_CONTACT' }, 'sso-login-only'],
  ])('is %s', async ([, fields, code]) => {
    ;(await logIn((await createUser(fields)).username)).refused(403, code)
  })

  test.for(['GLOBAL_ADMIN', 'ADMIN'])('is possible for a %s with single sign-on', async role => {
    ;(await logIn((await createUser({ sso: true, role })).username)).is(200)
  })
})

describe.concurrent('five wrong passwords in a row', () => {
  test('lock the user until an administrator unlocks it, and no other user, as the audit log records', async () => {
    const { id, username } = await createUser()
    await wrongTimes(username, 4)
    ;(await logIn(username)).is(200)
    // They are counted from the last correct one.
    await wrongTimes(username, 4)
    ;(await logIn(username)).is(200)
    await wrongTimes(username, 5)
    const locked = (await logIn(username)).is(401, 403, 429)
    expect(locked.headers.get('authorization')).toBeNull()
    ;(await anonymous.post('/login', inject('admin'))).is(200)
    await eventually(async () => {
      const { content } = (await admin.get('/auditLog', { resource: id, size: 100 })).as<Page<AuditRecord>>(
        200,
      )
      const count = (of: string) => content.filter(({ action }) => action === of).length
      expect([count('USER_LOGGED_IN'), count('USER_LOGIN_FAILED'), count('USER_LOCKED')]).toEqual([2, 13, 1])
      const lock = content.find(({ action }) => action === 'USER_LOCKED')
      expect(lock?.user).toEqual({ id: null, username: 'anonymous' })
      expect(lock?.details.after).toMatchObject({ username, lockedUntil: expect.any(String) })
    })
    ;(await admin.post(`/users/${id}/unlock`)).is(200, 204)
    ;(await logIn(username)).is(200)
  })
})

describe.concurrent('logging out', () => {
  test('revokes every login token of the user, but no access token and no login of another user', async () => {
    const user = await createUser()
    const [one, two] = [await loggedIn(user), await loggedIn(user)]
    const { token } = await createToken(one, ['API_READ'])
    expect((await one.post('/logout')).is(204).bytes).toHaveLength(0)
    await refusedEverywhere(one)
    await refusedEverywhere(two)
    for (const kept of [withToken(token), userWithRole('ADMIN').client, await loggedIn(user)])
      (await kept.get('/apis', { size: 1 })).is(200)
  })
})

describe.concurrent('a user who lost access', () => {
  test('loses scopes within a second with a lesser role, and everything once inactive, with any credential', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const client = await loggedIn(user)
    const credentials = [client, withToken((await createToken(client, ['USER_READ', 'API_READ'])).token)]
    for (const each of credentials) (await each.get('/users', { size: 1 })).is(200)
    const change = async (changes: Partial<User>) =>
      (await admin.put(`/users/${user.id}`, { ...user, ...changes })).is(200)

    await change({ role: 'NO_ACCESS' })
    for (const each of credentials)
      for (const path of ['/users', '/apis'])
        await withinASecond(async () => (await each.get(path, { size: 1 })).is(401, 403))
    await change({ role: 'ADMIN' })
    for (const each of credentials)
      await withinASecond(async () => (await each.get('/users', { size: 1 })).is(200))
    await change({ status: 'INACTIVE' })
    for (const each of credentials)
      await withinASecond(async () => (await each.get('/apis', { size: 1 })).is(401, 403))
  })

  test('is refused once deleted, with any credential', async () => {
    const user = await createUser()
    const client = await loggedIn(user)
    const { token } = await createToken(client, ['API_READ'])
    ;(await admin.delete(`/users/${user.id}`)).is(204)
    await refusedEverywhere(client)
    await refusedEverywhere(withToken(token))
    ;(await logIn(user.username)).refused(401)
  })
})
