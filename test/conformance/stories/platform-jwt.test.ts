import { describe, expect, inject, test } from 'vitest'
import { uuid } from '../src/gantry.ts'
import { makeJwt } from '../src/jwt.ts'
import { createUser, userWithRole, withToken } from '../src/users.ts'

const platform = inject('platformJwt')

// The tests need the private key of the platform that the service trusts.
describe.skipIf(!platform)(
  'a JWT of the platform',
  { meta: { skipped: 'needs a service that takes the JWTs of a platform' } },
  () => {
    const { privateKey = '', issuer = '', audience = '', userClaim = '' } = platform ?? {}
    const now = () => Math.floor(Date.now() / 1000)
    const claims = (username: string, changes: object = {}) => ({
      iss: issuer,
      aud: audience,
      iat: now(),
      exp: now() + 300,
      jti: uuid(),
      [userClaim]: username,
      ...changes,
    })
    const ask = (token: string) => withToken(token).get('/apis', { size: 1 })

    test('authenticates the user named in its claim, with the scopes of the role, also with single sign-on', async () => {
      const sso = await createUser({ role: 'USER', sso: true })
      for (const { username } of [userWithRole('USER').user, sso]) {
        const client = withToken(makeJwt(claims(username), privateKey))
        ;(await client.get('/apis', { size: 1 })).is(200)
        ;(await client.get('/users', { size: 1 })).refused(403)
      }
    })

    test('does not get a secret again that another JWT of its user got under the same Idempotency-Key', async () => {
      const { username } = userWithRole('ADMIN').user
      const [one, other] = [makeJwt(claims(username), privateKey), makeJwt(claims(username), privateKey)]
      const body = { name: 'of the platform', scopes: ['API_READ'] }
      const keyed = { headers: { 'idempotency-key': uuid() } }
      const ask = async (token: string) =>
        (await withToken(token).post('/accessTokens', body, keyed)).is(201).json
      const first = await ask(one)
      expect(first).toMatchObject({ token: expect.stringMatching(/^pat_/) })
      expect(await ask(other)).toEqual({ ...(first as object), token: null, secretWithheld: true })
      expect(await ask(one)).toEqual(first)
    })

    // stories/matrix.test.ts has JWTs that are expired, forged, or of another issuer or audience.
    test.for<[string, () => object]>([
      ['without an issue time', () => ({ iat: undefined, exp: now() + 3600 })],
      ['that is not valid yet', () => ({ nbf: now() + 600 })],
      ['without the claim', () => ({ [userClaim]: undefined })],
      ['of a user who does not exist', () => ({ [userClaim]: uuid() })],
    ])('%s is refused', async ([, changes]) => {
      const { username } = userWithRole('USER').user
      ;(await ask(makeJwt(claims(username, changes()), privateKey))).refused(401)
    })

    test('of an inactive user is refused', async () => {
      const { username } = await createUser({ role: 'USER', status: 'INACTIVE' })
      ;(await ask(makeJwt(claims(username), privateKey))).is(401, 403)
    })
  },
)
