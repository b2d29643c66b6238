import { generateKeyPair, SignJWT } from 'jose'
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

/** Signed with the very key that signs logins. */
const signed = (claims: object = {}, header: object = {}) =>
  new SignJWT({
    iss: 'gantry',
    aud: 'gantry',
    sub: GRACE,
    gen: 3,
    iat: SECONDS,
    exp: SECONDS + 3_600,
    ...claims,
  })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k1', typ: 'JWT', ...header })
    .sign(privateKey)

describe('a login token', () => {
  test('says whose session it is, for an hour', async () => {
    const session = { userId: GRACE, generation: 3, expiresAt: (SECONDS + 3_600) * 1000 }
    expect(await tokens.verify(await tokens.issue(session))).toEqual({
      ...session,
      credentialId: expect.any(String),
    })
    expect(await tokens.verify(await signed({ jti: 'j1' }))).toEqual({ ...session, credentialId: 'j1' })
  })

  test('is told from every other of the same session, in the same second', async () => {
    const verified = async () =>
      (await tokens.verify(await tokens.issue({ userId: GRACE, generation: 3 }))).credentialId
    expect(await verified()).not.toBe(await verified())
  })

  test('of an earlier release, which has no jti, is good and goes by its hash', async () => {
    const [one, other] = [await signed(), await signed({ exp: SECONDS + 60 })]
    const { credentialId } = await tokens.verify(one)
    expect(credentialId).toMatch(/^[0-9a-f]{64}$/)
    expect((await tokens.verify(one)).credentialId).toBe(credentialId)
    expect((await tokens.verify(other)).credentialId).not.toBe(credentialId)
  })

  test.for<[string, object, object]>([
    ['for another audience', { aud: 'another' }, {}],
    ['for nobody in particular', { aud: undefined }, {}],
    ['of another issuer', { iss: 'another' }, {}],
    ['that has expired', { exp: SECONDS }, {}],
    ['that never expires', { exp: undefined }, {}],
    ['that is not valid yet', { nbf: SECONDS + 60 }, {}],
    ['of no user', { sub: 'admin' }, {}],
    ['of no session', { gen: undefined }, {}],
    ['of a key that is not in use', {}, { kid: 'k2' }],
    ['of a key that it does not name', {}, { kid: undefined }],
  ])('%s is refused, though the key is right', async ([, claims, header]) => {
    await expect(tokens.verify(await signed(claims, header))).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })
})
