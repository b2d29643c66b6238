import { ROLE_SCOPES } from '@gantry/contracts'
import { describe, expect, inject, test } from 'vitest'
import { clientOf } from '../src/client.ts'
import { admin, service, withinASecond } from '../src/gantry.ts'
import { makeJwt, readJwt } from '../src/jwt.ts'
import { createToken, createUser, loggedIn, logIn, PASSWORD, withToken } from '../src/users.ts'

const platform = inject('platformJwt')
const time = (seconds: number) => new Date(seconds * 1000).toISOString()

describe.concurrent('the session', () => {
  test('of a login token is the user that the login returned, with the scopes of the role, until the token expires', async () => {
    const login = (await logIn((await createUser({ role: 'USER' })).username)).is(200)
    const authorization = login.headers.get('authorization') ?? ''
    expect((await clientOf(service, authorization).get('/session')).is(200).json).toEqual({
      user: login.json,
      scopes: ROLE_SCOPES.USER,
      credential: 'LOGIN',
      accessToken: null,
      expiresAt: time(readJwt(authorization.replace('Bearer ', '')).claims.exp),
    })
  })

  test('goes on when its user changes the password, and the other sessions of the user end', async () => {
    const user = await createUser({ role: 'USER' })
    const [own, other] = [await loggedIn(user), await loggedIn(user)]
    const newPassword = 'another long password'
    const wrong = (await own.put('/session/password', { password: 'wrong', newPassword })).refused(400)
    expect(wrong.errors?.map(({ field }) => field)).toEqual(['password'])
    const changed = (await own.put('/session/password', { password: PASSWORD, newPassword })).is(204)
    await withinASecond(async () => (await other.get('/session')).refused(401))
    const renewed = clientOf(service, changed.headers.get('authorization') ?? '')
    expect((await renewed.get('/session')).is(200).json).toMatchObject({ user: { id: user.id } })
    ;(await logIn(user.username)).refused(401)
    ;(await logIn(user.username, newPassword)).is(200)
  })

  test('of an access token has the scopes that both the token and the present role of its user have', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const login = clientOf(service, (await logIn(user.username)).is(200).headers.get('authorization') ?? '')
    const { id, name, validUntil, token } = await createToken(login, ['API_READ', 'API_WRITE', 'USER_READ'])
    const session = async () => (await withToken(token).get('/session')).is(200).json
    expect(await session()).toMatchObject({
      user: { id: user.id, role: 'ADMIN' },
      scopes: ['API_READ', 'API_WRITE', 'USER_READ'],
      credential: 'ACCESS_TOKEN',
      accessToken: { id, name },
      expiresAt: validUntil,
    })
    ;(await admin.put(`/users/${user.id}`, { ...user, role: 'BILLING_CONTACT' })).is(200)
    await withinASecond(async () =>
      expect(await session()).toMatchObject({ user: { role: 'BILLING_CONTACT' }, scopes: ['API_READ'] }),
    )
  })

  test.skipIf(!platform)(
    'of a JWT of the platform has the scopes of the role, until the JWT expires',
    { meta: { skipped: 'needs a service that takes the JWTs of a platform' } },
    async () => {
      const { privateKey = '', issuer: iss = '', audience: aud = '', userClaim = '' } = platform ?? {}
      const { id, username } = await createUser({ role: 'USER', sso: true })
      const iat = Math.floor(Date.now() / 1000)
      const jwt = makeJwt({ iss, aud, iat, exp: iat + 200, [userClaim]: username }, privateKey)
      expect((await withToken(jwt).get('/session')).is(200).json).toMatchObject({
        user: { id },
        scopes: ROLE_SCOPES.USER,
        credential: 'PLATFORM_JWT',
        accessToken: null,
        expiresAt: time(iat + 200),
      })
    },
  )
})
