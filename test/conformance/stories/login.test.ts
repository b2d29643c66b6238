import { describe, expect, inject, test } from 'vitest'
import { type Client, clientOf } from '../src/client.ts'
import {
  admin,
  anonymous,
  createToken,
  createUser,
  loggedIn,
  logIn,
  PASSWORD,
  service,
  unique,
  withinASecond,
  withToken,
} from '../src/gantry.ts'
import { isSignedBy, type Jwks, makeJwt, readJwt, tamper } from '../src/jwt.ts'
import type { User } from '../src/records.ts'

const tokenOf = async ({ username }: User) => {
  const authorization = (await logIn(username)).is(200).headers.get('authorization') ?? ''
  return authorization.replace(/^Bearer /, '')
}
const refusedEverywhere = (client: Client) =>
  withinASecond(async () => (await client.get('/apis', { size: 1 })).refused(401))
const wrong = (username: string) => logIn(username, 'the wrong password')

describe('logging in', () => {
  test('returns the user and, in a header, a working bearer token', async () => {
    const user = await createUser({ role: 'USER' })
    const answer = (await logIn(user.username)).is(200)
    const { id, username, displayName, email, role, status } = user
    expect(answer.json).toMatchObject({ id, username, displayName, email, role, status })
    expect(answer.text).not.toContain(PASSWORD)
    expect(answer.text).not.toMatch(/argon2|"password"/i)
    const authorization = answer.headers.get('authorization') ?? ''
    expect(authorization).toMatch(/^Bearer \S+$/)
    ;(await clientOf(service, authorization).get('/apis', { size: 1 })).is(200)
  })

  test('works for the administrator', async () => {
    const answer = (await anonymous.post('/login', inject('admin'))).is(200)
    expect(answer.json).toMatchObject({
      username: inject('admin').username,
      role: 'GLOBAL_ADMIN',
      status: 'ACTIVE',
    })
  })

  test('returns a JWT that is valid for an hour and verifies with the published keys', async () => {
    const token = await tokenOf(await createUser())
    const jwks = (await anonymous.get('/.well-known/jwks.json', {}, { undocumented: true })).as<Jwks>(200)
    const { header, claims } = readJwt(token)
    expect(header).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) })
    expect(claims.exp - claims.iat).toBe(3600)
    expect(isSignedBy(jwks, token)).toBe(true)
    expect(isSignedBy(jwks, tamper(token, { role: 'GLOBAL_ADMIN' }))).toBe(false)
    for (const key of jwks.keys) expect(key).not.toHaveProperty('d')
  })

  test('gives the same response to an unknown username and to a wrong password', async () => {
    const user = await createUser()
    const [name, password] = [
      (await wrong(unique('nobody'))).refused(401),
      (await wrong(user.username)).refused(401),
    ]
    const { title, detail, code, type } = name
    expect(password).toMatchObject({ title, detail, code, type })
  })

  test('takes about as long for an unknown username as for a wrong password', async () => {
    const user = await createUser()
    const took = async (username: string) => {
      const start = performance.now()
      ;(await wrong(username)).refused(401)
      return performance.now() - start
    }
    const unknown: number[] = []
    const known: number[] = []
    for (const _ of [1, 2, 3, 4]) {
      unknown.push(await took(unique('nobody')))
      known.push(await took(user.username))
    }
    // Compares the fastest of each, since other load only adds time. Without the hash it would be ten times as fast.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 3)
  })

  test('is refused with a similar password, an empty password or an empty username', async () => {
    const { username } = await createUser()
    ;(await logIn(username, '')).is(400, 401)
    ;(await logIn(username, `${PASSWORD} `)).refused(401)
    ;(await logIn(username, PASSWORD.toUpperCase())).refused(401)
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

  test('is refused to an inactive user', async () => {
    const { username } = await createUser({ status: 'INACTIVE' })
    ;(await logIn(username)).refused(403)
  })
})

describe.concurrent('single sign-on', () => {
  test.for(['USER', 'BILLING_CONTACT'])('keeps a %s from logging in with a password', async role => {
    const { username } = await createUser({ sso: true, role })
    ;(await logIn(username)).refused(403, 'sso-login-only')
  })

  test.for(['GLOBAL_ADMIN', 'ADMIN'])('lets a %s log in with a password', async role => {
    const { username } = await createUser({ sso: true, role })
    ;(await logIn(username)).is(200)
  })
})

describe.concurrent('five wrong passwords in a row', () => {
  const wrongTimes = async (username: string, times: number) => {
    for (let n = 0; n < times; n += 1) (await wrong(username)).refused(401)
  }

  test('lock the user until an administrator unlocks it', async () => {
    const user = await createUser()
    await wrongTimes(user.username, 5)
    const locked = (await logIn(user.username)).is(401, 403, 429)
    expect(locked.headers.get('authorization')).toBeNull()
    ;(await admin.post(`/users/${user.id}/unlock`)).is(200, 204)
    ;(await logIn(user.username)).is(200)
  })

  test('lock only at the fifth: four do not', async () => {
    const { username } = await createUser()
    await wrongTimes(username, 4)
    ;(await logIn(username)).is(200)
  })

  test('are counted from the last correct one', async () => {
    const { username } = await createUser()
    await wrongTimes(username, 4)
    ;(await logIn(username)).is(200)
    await wrongTimes(username, 4)
    ;(await logIn(username)).is(200)
  })

  test('also lock when they are concurrent', async () => {
    const { username } = await createUser()
    await Promise.all([1, 2, 3, 4, 5, 6].map(async () => (await wrong(username)).is(401, 403, 429)))
    ;(await logIn(username)).is(401, 403, 429)
  })

  test('do not lock other users', async () => {
    const [user, other] = [await createUser(), await createUser()]
    await wrongTimes(user.username, 5)
    ;(await logIn(other.username)).is(200)
  })
})

describe.concurrent('logging out', () => {
  test('revokes every login token of the user', async () => {
    const user = await createUser()
    const [one, two] = [await loggedIn(user), await loggedIn(user)]
    expect((await one.post('/logout')).is(204).bytes).toHaveLength(0)
    await refusedEverywhere(one)
    await refusedEverywhere(two)
    ;(await (await loggedIn(user)).get('/apis', { size: 1 })).is(200)
  })

  test('does not affect access tokens or other users', async () => {
    const [user, other] = [await createUser(), await createUser()]
    const [client, stranger] = [await loggedIn(user), await loggedIn(other)]
    const { token } = await createToken(client, ['API_READ'])
    ;(await client.post('/logout')).is(204)
    await refusedEverywhere(client)
    ;(await withToken(token).get('/apis', { size: 1 })).is(200)
    ;(await stranger.get('/apis', { size: 1 })).is(200)
  })

  test('requires a credential', async () => {
    ;(await anonymous.post('/logout')).refused(401)
  })
})

describe.concurrent('a user who lost access', () => {
  const makeInactive = async (user: User) =>
    (await admin.put(`/users/${user.id}`, { ...user, status: 'INACTIVE' })).is(200)

  test('is refused once inactive, with any credential', async () => {
    const user = await createUser()
    const client = await loggedIn(user)
    const { token } = await createToken(client, ['API_READ'])
    await makeInactive(user)
    for (const credentials of [client, withToken(token)]) {
      await withinASecond(async () => (await credentials.get('/apis', { size: 1 })).is(401, 403))
    }
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

  test('loses scopes within a second after a change to a lesser role', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const client = await loggedIn(user)
    ;(await client.get('/users', { size: 1 })).is(200)
    ;(await admin.put(`/users/${user.id}`, { ...user, role: 'NO_ACCESS' })).is(200)
    await withinASecond(async () => (await client.get('/users', { size: 1 })).is(401, 403))
    await withinASecond(async () => (await client.get('/apis', { size: 1 })).is(401, 403))
  })
})

describe('invalid credentials', () => {
  const ask = (authorization: string) => clientOf(service, authorization).get('/apis', { size: 1 })

  test.for([
    'Bearer',
    'Bearer nonsense',
    'Bearer a.b.c',
    'Bearer pat_nonsense',
    'Bearer pat_',
    `Bearer ${'x'.repeat(4000)}`,
    'Basic Z3JhY2U6aG9wcGVy',
    'Digest username="grace"',
    'nonsense',
  ])('are refused: %s', async authorization => {
    const answer = await ask(authorization)
    answer.refused(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  test('include a token that was tampered with', async () => {
    const token = await tokenOf(await createUser({ role: 'USER' }))
    const { header, claims } = readJwt(token)
    const none = makeJwt(claims)
    const cut = token.slice(0, -4)
    const mine = `${Buffer.from(JSON.stringify({ ...header, alg: 'HS256' })).toString('base64url')}.${token.split('.').slice(1).join('.')}`
    for (const forged of [
      tamper(token, { role: 'GLOBAL_ADMIN' }),
      tamper(token, { exp: claims.exp + 60 }),
      none,
      cut,
      mine,
    ]) {
      ;(await ask(`Bearer ${forged}`)).refused(401)
    }
    ;(await ask(`Bearer ${token}`)).is(200)
    ;(await ask(`bearer ${token}`)).is(200, 401)
  })

  test('include the headers that a gateway sets for services', async () => {
    for (const header of ['x-principal', 'x-user', 'x-gantry-principal', 'x-forwarded-user']) {
      ;(
        await anonymous.get('/apis', { size: 1 }, { headers: { [header]: inject('admin').username } })
      ).refused(401)
    }
  })
})
