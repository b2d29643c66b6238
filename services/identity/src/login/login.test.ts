import { type PublicEvent, subjects } from '@gantry/contracts'
import { projectorKey } from '@gantry/event-sourcing'
import { administrator } from '@gantry/service-kit/testing'
import { createLocalJWKSet, jwtVerify, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'
import { tokens } from '../token/token.projection.ts'
import { erasedUsers, locks, users } from '../user/user.projection.ts'

let identity: IdentityHost
beforeEach(async () => {
  identity = await hostIdentity()
})
afterEach(() => identity.close())

const user = { username: 'ada', displayName: 'Ada Lovelace', role: 'USER', password: PASSWORD }
const admin = () => identity.as(administrator)
const createUser = async (fields: object = {}): Promise<string> => {
  const { status, body } = await admin().post('/users', { body: { ...user, ...fields } })
  expect(status).toBe(201)
  return body.id
}
const update = (id: string, fields: object) =>
  admin().put(`/users/${id}`, { body: { ...user, password: null, ...fields } })
const authenticate = (token: string) => identity.host.service.authenticate(token)
const wrongly = async (username: string, times: number) => {
  for (let time = 0; time < times; time++) await identity.logIn(username, `wrong password ${time}`)
}
const loginsOf = (id: string, month = '2026-11') =>
  identity.host.dependencies.eventStore.readStream(`logins-${id}-${month}`)

describe('a login', () => {
  test('answers with the user, and with a token for an hour in the Authorization header', async () => {
    const id = await createUser()
    const { status, headers, body } = await identity.logIn('ada')
    expect({ status, body }).toEqual({
      status: 200,
      body: { id, username: 'ada', displayName: 'Ada Lovelace', email: null, role: 'USER', status: 'ACTIVE' },
    })
    expect(headers['cache-control']).toBe('no-store')
    const token = String(headers.authorization).replace('Bearer ', '')
    expect(await authenticate(token)).toMatchObject({
      userId: id,
      username: 'ada',
      role: 'USER',
      kind: 'login',
      tokenId: null,
      credentialId: expect.any(String),
      expiresAt: identity.now().getTime() + 60 * MINUTE,
    })
    identity.pass(60 * MINUTE)
    await expect(authenticate(token)).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { detail: 'the login token has expired' },
    })
  })

  test('gets the same response for an unknown username, a wrong password and a locked user', async () => {
    await createUser()
    await createUser({ username: 'locked' })
    await wrongly('locked', 5)
    const refusals = [
      await identity.logIn('nobody'),
      await identity.logIn('ada', 'wrong'),
      await identity.logIn('locked', 'wrong'),
      await identity.logIn('locked'),
    ]
    const said = refusals.map(({ status, body: { requestId, ...body }, headers }) => ({
      status,
      body,
      challenge: headers['www-authenticate'],
    }))
    expect(new Set(said.map(answer => JSON.stringify(answer))).size).toBe(1)
    expect(said[0]).toMatchObject({ status: 401, body: { code: 'wrong-credentials' } })
    expect(said[0]?.body.detail).toContain('Five wrong passwords in a row lock a user for 15 minutes')
  })

  // Retried, because other load on the machine disturbs a measurement. A real difference fails every try.
  test('takes as long for an unknown username as for a wrong password', { retry: 2 }, async () => {
    await Promise.all(['a', 'b', 'c'].map(name => createUser({ username: name })))
    const time = async (username: string) => {
      const begun = performance.now()
      await identity.logIn(username, 'wrong')
      return performance.now() - begun
    }
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
    // Four tries for each user, so that none is locked.
    for (const name of ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']) {
      times.known.push(await time(name))
      times.unknown.push(await time(`nobody-${name}`))
    }
    const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
    const ratio = median(times.unknown) / median(times.known)
    expect(ratio).toBeGreaterThan(0.75)
    expect(ratio).toBeLessThan(1.33)
  })

  test('is recorded with its actor', async () => {
    const id = await createUser()
    await identity.logIn('ada', 'wrong')
    await identity.logIn('ada')
    const [failed, loggedIn] = await loginsOf(id)
    expect(failed).toMatchObject({ type: 'LoginFailed', metadata: { actor: { id: null } } })
    expect(loggedIn).toMatchObject({ type: 'UserLoggedIn', metadata: { actor: { id, name: id } } })
  })

  test('of an inactive or single sign-on user is refused as such only with the right password', async () => {
    await createUser({ username: 'inactive', status: 'INACTIVE' })
    await createUser({ username: 'sso', sso: true })
    await createUser({ username: 'sso-admin', sso: true, role: 'ADMIN' })
    await createUser({ username: 'sso-only', sso: true, role: 'ADMIN', password: null })
    expect((await identity.logIn('inactive', 'wrong')).body.code).toBe('wrong-credentials')
    expect((await identity.logIn('inactive')).body).toMatchObject({ status: 403, code: 'user-inactive' })
    expect((await identity.logIn('sso', 'wrong')).body.code).toBe('wrong-credentials')
    expect((await identity.logIn('sso')).body).toMatchObject({ status: 403, code: 'sso-login-only' })
    expect((await identity.logIn('sso-admin')).status).toBe(200)
    expect((await identity.logIn('sso-only')).body.code).toBe('sso-login-only')
  })
})

describe('five wrong passwords in a row', () => {
  test('lock the user for fifteen minutes, also for the right password', async () => {
    const id = await createUser()
    await wrongly('ada', 4)
    expect((await identity.logIn('ada')).status).toBe(200)
    await wrongly('ada', 5)
    expect((await identity.logIn('ada')).status).toBe(401)
    const lockedUntil = new Date(identity.now().getTime() + 15 * MINUTE).toISOString()
    expect((await admin().get(`/users/${id}`)).body.lockedUntil).toBe(lockedUntil)

    identity.pass(15 * MINUTE - 1)
    expect((await identity.logIn('ada')).status).toBe(401)
    identity.pass(1)
    expect((await admin().get(`/users/${id}`)).body.lockedUntil).toBeNull()
    expect((await identity.logIn('ada')).status).toBe(200)
  })

  test('are counted when they are concurrent, and no longer once the user is locked', async () => {
    const id = await createUser()
    const tries = Array.from({ length: 12 }, (_, number) => identity.logIn('ada', `wrong ${number}`))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([401]))
    const events = (await loginsOf(id)).map(({ type }) => type)
    expect(events.filter(type => type === 'LoginFailed')).toHaveLength(5)
    expect(events.at(-1)).toBe('UserLocked')
  })

  test('can be undone by an administrator', async () => {
    const id = await createUser()
    await wrongly('ada', 5)
    const { status, body, headers } = await admin().post(`/users/${id}/unlock`)
    expect({ status, lockedUntil: body.lockedUntil }).toEqual({ status: 200, lockedUntil: null })
    expect(headers.etag).toBeDefined()
    expect((await identity.logIn('ada')).status).toBe(200)
  })

  test('show as a lock in the record and the list until it is lifted, also after a rebuild of the read models', async () => {
    const id = await createUser()
    await wrongly('ada', 5)
    const shown = async () => {
      const { body: one } = await admin().get(`/users/${id}`)
      const { body: page } = await admin().get('/users?username=ada')
      return [one.lockedUntil, page.content[0]?.lockedUntil]
    }
    const until = new Date(identity.now().getTime() + 15 * MINUTE).toISOString()
    expect(await shown()).toEqual([until, until])
    const { readModels } = identity.host.dependencies
    await readModels.drop(users)
    await readModels.drop(locks)
    await readModels.checkpoints.clear(
      projectorKey({ name: 'identity.projector', collections: [users, tokens, locks, erasedUsers] }),
    )
    await vi.waitFor(async () => expect(await shown()).toEqual([until, until]), { timeout: 10_000 })
    await admin().post(`/users/${id}/unlock`)
    expect(await shown()).toEqual([null, null])
    await wrongly('ada', 5)
    expect(await shown()).toEqual([until, until])
  })

  test('do not revoke the login tokens of the user', async () => {
    await createUser()
    const token = await identity.loginToken('ada')
    await wrongly('ada', 5)
    expect((await authenticate(token)).username).toBe('ada')
  })
})

describe('a login token', () => {
  test('is revoked at once by logging out, together with all other login tokens of the user', async () => {
    await createUser()
    const [first, second] = [await identity.loginToken('ada'), await identity.loginToken('ada')]
    expect((await identity.as(first).post('/logout')).status).toBe(204)
    for (const token of [first, second])
      await expect(authenticate(token)).rejects.toMatchObject({
        details: { detail: 'the login token is revoked' },
      })
    expect((await authenticate(await identity.loginToken('ada'))).username).toBe('ada')
  })

  test('is revoked by a logout with an access token, which appends nothing when there is none to revoke', async () => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    const body = { name: 'one', scopes: ['API_READ'] }
    const { token: secret } = (await identity.as(token).post('/accessTokens', { body })).body
    for (let time = 0; time < 3; time++) expect((await identity.as(secret).post('/logout')).status).toBe(204)
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    const events = await identity.host.dependencies.eventStore.readStream(`user-${id}`)
    expect(events.map(({ type }) => type)).toEqual(['UserCreated', 'UserLoggedOut'])
  })

  test.each([
    ['a new password', { password: 'quite another password' }],
    ['deactivation', { status: 'INACTIVE' }],
  ])('is revoked at once by %s', async (_, fields) => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    expect((await update(id, fields)).status).toBe(200)
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    // Activating the user again does not restore the token.
    await update(id, { status: 'ACTIVE' })
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('is revoked at once by deletion', async () => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    await admin().delete(`/users/${id}`)
    await expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await identity.logIn('ada')).status).toBe(401)
  })

  test('has the scopes of the current role', async () => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    expect((await authenticate(token)).scopes).not.toContain('USER_READ')
    await update(id, { role: 'ADMIN' })
    expect((await authenticate(token)).scopes).toContain('USER_READ')
    await update(id, { role: 'NO_ACCESS' })
    expect(await authenticate(token)).toMatchObject({ role: 'NO_ACCESS', scopes: [] })
  })

  test('whose user changed is broadcast to the processes that may have cached it', async () => {
    const told: unknown[] = []
    identity.host.dependencies.bus.listen(subjects.principalChanged, change => told.push(change))
    const id = await createUser()
    await identity.logIn('ada')
    expect(told).toEqual([])
    await update(id, { role: 'ADMIN' })
    await identity.as(await identity.loginToken('ada')).post('/logout')
    await admin().delete(`/users/${id}`)
    expect(told).toEqual([{ userId: id }, { userId: id }, { userId: id }])
  })

  test('can be verified with the published keys', async () => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    const { status, headers, body } = await admin().get('/.well-known/jwks.json')
    expect({ status, cached: headers['cache-control'] }).toEqual({ status: 200, cached: 'no-cache' })
    expect(body).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.any(String),
          kid: expect.any(String),
          alg: 'EdDSA',
          use: 'sig',
        },
      ],
    })
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(body), {
      issuer: 'gantry',
      audience: 'gantry',
      currentDate: identity.now(),
    })
    expect(payload.sub).toBe(id)
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', kid: body.keys[0].kid })
  })

  test('survives a restart', async () => {
    await createUser()
    const token = await identity.loginToken('ada')
    await identity.restart()
    expect((await authenticate(token)).username).toBe('ada')
  })

  test.each(['', 'abc', 'a.b.c', 'pat_', `pat_${'0'.repeat(49)}`])('cannot be %j', async credential => {
    await expect(authenticate(credential)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('is refused when it is unsigned, altered, or signed with a shared secret', async () => {
    const id = await createUser()
    const token = await identity.loginToken('ada')
    const [header = '', , signature = ''] = token.split('.')
    const claims = { sub: id, gen: 0 }
    const kid = JSON.parse(Buffer.from(header, 'base64url').toString()).kid as string
    const secret = new TextEncoder().encode('a shared secret of thirty-two bytes')
    const seconds = Math.floor(identity.now().getTime() / 1000)
    const altered = Buffer.from(
      JSON.stringify({ ...claims, iss: 'gantry', aud: 'gantry', exp: seconds + 9_999 }),
    ).toString('base64url')
    const forged = [
      new UnsecuredJWT({ ...claims, exp: seconds + 60 }).setIssuer('gantry').setAudience('gantry').encode(),
      `${header}.${altered}.${signature}`,
      await new SignJWT({ ...claims, exp: seconds + 60 })
        .setProtectedHeader({ alg: 'HS256', kid })
        .setIssuer('gantry')
        .setAudience('gantry')
        .sign(secret),
    ]
    for (const credential of forged)
      await expect(authenticate(credential)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('on the bus', () => {
  test('a credential is answered with its principal, or with the reason of the refusal', async () => {
    const { bus } = identity.host.dependencies
    const ask = (question: object) =>
      bus.request(subjects.authenticate, question as never, { timeoutMs: 1_000 })
    await createUser()
    const credential = await identity.loginToken('ada')
    expect(await ask({ credential })).toEqual(await authenticate(credential))
    await expect(ask({ credential: 'pat_nonsense' })).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { detail: 'the access token is malformed' },
    })
    await expect(ask({})).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('names are answered for live and deleted users, and public events name users by id', async () => {
    const { bus } = identity.host.dependencies
    const id = await createUser()
    const unknown = '00000000-0000-4000-8000-000000000000'
    const names = () => bus.request(subjects.userNames, { users: [id, unknown] }, { timeoutMs: 1_000 })
    await update(id, { displayName: 'Ada' })
    expect(await names()).toEqual({ [id]: { username: 'ada', displayName: 'Ada', deleted: false } })
    await identity.logIn('ada')
    await admin().delete(`/users/${id}`)
    expect(await names()).toEqual({ [id]: { username: 'ada', displayName: 'Ada', deleted: true } })
    const relayed: string[] = []
    const signal = AbortSignal.timeout(5_000)
    for await (const { data } of bus.read({
      subjects: ['events.identity.*'],
      after: 0,
      live: true,
      signal,
    })) {
      const event = data as unknown as PublicEvent
      if (event.subject !== id) continue
      relayed.push(event.type)
      expect(event).toMatchObject({ data: { id, role: 'USER' }, actor: { name: administrator.userId } })
      expect(JSON.stringify(event)).not.toMatch(/\bada\b|lovelace/i)
      if (event.type === 'USER_DELETED') break
    }
    expect(relayed).toEqual(['USER_CREATED', 'USER_UPDATED', 'USER_DELETED'])
  })
})
