import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { loginTokens } from './login-token.ts'

const SECONDS = Date.parse('2026-11-21T10:00:00.000Z') / 1000
const GRACE = '22222222-2222-4222-8222-222222222222'
const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
let issued = 0
const tokens = loginTokens({
  keys: {
    current: async () => ({ kid: 'k1', privateKey }),
    verifying: async kid => (kid === 'k1' ? publicKey : undefined),
  },
  now: () => new Date(SECONDS * 1000),
  newId: () => `login-${++issued}`,
})

const valid = {
  iss: 'gantry',
  aud: 'gantry',
  sub: GRACE,
  gen: 3,
  jti: 'j1',
  iat: SECONDS,
  exp: SECONDS + 3_600,
}
/** A token with these claims, signed with the same key as login tokens. */
const signed = (claims: object = {}, header: object = {}) =>
  new SignJWT({ ...valid, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k1', typ: 'JWT', ...header })
    .sign(privateKey)

describe('a login token', () => {
  test('identifies the user and the generation for an hour', async () => {
    const session = { userId: GRACE, generation: 3, expiresAt: (SECONDS + 3_600) * 1000 }
    expect(await tokens.verify(await tokens.issue(session))).toEqual({
      ...session,
      credentialId: expect.any(String),
    })
    expect(await tokens.verify(await signed())).toEqual({ ...session, credentialId: 'j1' })
  })

  test('has its own credential id, also among tokens of the same user and second', async () => {
    const verified = async () =>
      (await tokens.verify(await tokens.issue({ userId: GRACE, generation: 3 }))).credentialId
    expect(await verified()).not.toBe(await verified())
  })

  const refused = (token: string) =>
    expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthenticated' })

  test.for<[string, object, object]>([
    ['for another audience', { aud: 'another' }, {}],
    ['without an audience', { aud: undefined }, {}],
    ['of another issuer', { iss: 'another' }, {}],
    ['that has expired', { exp: SECONDS }, {}],
    ['that never expires', { exp: undefined }, {}],
    ['that is not valid yet', { nbf: SECONDS + 60 }, {}],
    ['with a subject that is no user id', { sub: 'admin' }, {}],
    ['without an id', { jti: undefined }, {}],
    ['without a generation', { gen: undefined }, {}],
    ['that names an unknown key', {}, { kid: 'k2' }],
    ['that names no key', {}, { kid: undefined }],
  ])('%s is refused although its signature is valid', async ([, claims, header]) => {
    await refused(await signed(claims, header))
  })

  test('is refused when it is unsigned, altered, or signed with a shared secret', async () => {
    const [header = '', , signature = ''] = (await signed()).split('.')
    const altered = Buffer.from(JSON.stringify({ ...valid, sub: GRACE.replace('2', '3') })).toString(
      'base64url',
    )
    await refused(`${header}.${altered}.${signature}`)
    await refused(new UnsecuredJWT(valid).encode())
    await refused(
      await new SignJWT(valid)
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(Buffer.from('a shared secret of thirty-two bytes')),
    )
  })
})
