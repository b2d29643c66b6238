import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readSettings, SettingsRefused } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { identitySettings } from '../settings.ts'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD, START } from '../testing/identity-host.ts'
import { platformTokens } from './platform-token.ts'

const issuer = 'https://platform.example'
const audience = 'gantry-management'
const now = Date.parse(START) / 1000
let pair: { publicKey: CryptoKey; privateKey: CryptoKey }
let pem: string
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true })
  pem = await exportSPKI(pair.publicKey)
})

const sign = (
  claims: JWTPayload = {},
  header: { alg?: string; kid?: string } = {},
  key: CryptoKey | Uint8Array = pair.privateKey,
) =>
  new SignJWT({ iss: issuer, aud: audience, sub: 'ada', iat: now, exp: now + 300, ...claims })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key)
const settings = (environment: Record<string, string>) =>
  readSettings(identitySettings, {
    PLATFORM_JWT_ISSUER: issuer,
    PLATFORM_JWT_AUDIENCE: audience,
    ...environment,
  })

const logged: object[] = []
const platform = { now: () => new Date(START), log: { error: (entry: object) => logged.push(entry) } }

describe('a platform token', () => {
  let identity: IdentityHost
  let ada: string
  beforeAll(async () => {
    identity = await hostIdentity(settings({ PLATFORM_JWT_PUBLIC_KEY: pem }))
    const body = { username: 'ada', role: 'USER', sso: true, password: PASSWORD }
    ada = (await identity.as(administrator).post('/users', { body })).body.id
  })
  afterAll(() => identity.close())
  const authenticate = (token: string) => identity.host.service.authenticate(token)
  const refused = (token: string, detail: string) =>
    expect(authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated', details: { detail } })

  test('identifies a user by name or id, and has all scopes of the role', async () => {
    const principal = await authenticate(await sign())
    expect(principal).toMatchObject({
      userId: ada,
      role: 'USER',
      kind: 'platform',
      tokenId: null,
      expiresAt: (now + 300) * 1000,
    })
    expect(principal.scopes).toContain('WEBHOOKS_WRITE')
    expect((await authenticate(await sign({ sub: ada.toUpperCase() }))).userId).toBe(ada)
  })

  test('has a credential id that differs from those of the other tokens of its user', async () => {
    const [one, other] = [await sign(), await sign({ exp: now + 60 })]
    const credentialId = async (token: string) => (await authenticate(token)).credentialId
    expect(await credentialId(one)).toMatch(/^[0-9a-f]{64}$/)
    expect(await credentialId(one)).toBe(await credentialId(one))
    expect(await credentialId(other)).not.toBe(await credentialId(one))
  })

  test('is refused for another audience, issuer, key, algorithm or time', async () => {
    const other = await generateKeyPair('ES256')
    const invalid = 'the platform token is not valid'
    await refused(await sign({ aud: 'others' }), invalid)
    await refused(await sign({ iss: 'https://evil.example' }), invalid)
    await refused(await sign({}, {}, other.privateKey), invalid)
    await refused(await sign({}, { alg: 'HS256' }, new TextEncoder().encode(pem)), invalid)
    await refused(await sign({ iat: now + 60 }), invalid)
    await refused(await sign({ iat: undefined as never }), invalid)
  })

  test('is valid for at most five minutes, or for less if its exp is earlier', async () => {
    const long = await sign({ exp: now + 86_400 })
    const short = await sign({ exp: now + 60 })
    expect((await authenticate(long)).expiresAt).toBe((now + 300) * 1000)
    expect((await authenticate(short)).expiresAt).toBe((now + 60) * 1000)
    identity.pass(2 * MINUTE)
    await refused(short, 'the platform token has expired')
    expect((await authenticate(long)).userId).toBe(ada)
    identity.pass(3 * MINUTE + 1_000)
    await refused(long, 'the platform token has expired')
  })

  test('is refused when its user is unknown, inactive or missing', async () => {
    const soon = { iat: identity.now().getTime() / 1000, exp: undefined as never }
    await refused(await sign({ ...soon, sub: 'nobody' }), 'the user of the credential does not exist')
    await refused(await sign({ ...soon, sub: '' }), 'the platform token names no user in the claim sub')
    await identity
      .as(administrator)
      .put(`/users/${ada}`, { body: { username: 'ada', sso: true, status: 'INACTIVE' } })
    await refused(await sign(soon), 'the user of the credential is inactive')
  })
})

describe('the keys of the platform', () => {
  /** An RSA key of 1024 bits. */
  const weak = { kty: 'RSA', n: Buffer.alloc(128, 0xff).toString('base64url'), e: 'AQAB' }
  let server: Server
  let url: string
  beforeEach(async () => {
    const jwks = {
      keys: [
        { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' },
        { ...weak, kid: 'weak', alg: 'RS256' },
        { kty: 'EC', crv: 'P-999', x: 'AAAA', y: 'AAAA', kid: 'unknown curve', alg: 'ES256' },
        { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'no point of the curve', alg: 'ES256' },
      ],
    }
    server = createServer((request, response) => {
      response.statusCode = request.url === '/jwks' ? 200 : 500
      response.end(JSON.stringify(jwks))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => server.close())
  const verify = async (environment: Record<string, string>, token: Promise<string>) =>
    platformTokens(settings(environment), platform)?.verify(await token)

  test('are fetched from its JWKS', async () => {
    const environment = { PLATFORM_JWT_JWKS_URL: `${url}/jwks`, PLATFORM_JWT_USER_CLAIM: 'account' }
    expect(await verify(environment, sign({ account: 'ada' }, { kid: 'k1' }))).toMatchObject({ user: 'ada' })
    await expect(verify(environment, sign({}, { kid: 'k2' }))).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })
  test('that cannot be fetched are answered with unavailable, not with unauthenticated', async () => {
    const failing = { PLATFORM_JWT_JWKS_URL: `${url}/failing` }
    await expect(verify(failing, sign({}, { kid: 'k1' }))).rejects.toMatchObject({ code: 'unavailable' })
    const nobody = { PLATFORM_JWT_JWKS_URL: 'http://127.0.0.1:1/jwks' }
    await expect(verify(nobody, sign({}, { kid: 'k1' }))).rejects.toMatchObject({ code: 'unavailable' })
  })
  test('that cannot be used are logged once, and tokens that name them are refused', async () => {
    const tokens = platformTokens(settings({ PLATFORM_JWT_JWKS_URL: `${url}/jwks` }), platform)
    logged.length = 0
    const [, ...signedPart] = (await sign()).split('.')
    const ofWeak = JSON.stringify({ alg: 'RS256', kid: 'weak' })
    for (const _ of [1, 2]) {
      for (const token of [
        [Buffer.from(ofWeak).toString('base64url'), ...signedPart].join('.'),
        await sign({}, { kid: 'unknown curve' }),
        await sign({}, { kid: 'no point of the curve' }),
      ])
        await expect(tokens?.verify(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    }
    expect(logged).toEqual([{ kid: 'weak' }, { kid: 'unknown curve' }, { kid: 'no point of the curve' }])
    expect(await tokens?.verify(await sign({}, { kid: 'k1' }))).toMatchObject({ user: 'ada' })
  })
  test('that cannot be used are refused as a setting', () => {
    const foreign = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' })
    for (const key of [weak, foreign])
      expect(() =>
        platformTokens(settings({ PLATFORM_JWT_PUBLIC_KEY: JSON.stringify(key) }), platform),
      ).toThrow('PLATFORM_JWT_PUBLIC_KEY')
  })
  test('may be a PEM on one line, or a JWK, for ECDSA and RSA', async () => {
    const onOneLine = { PLATFORM_JWT_PUBLIC_KEY: pem.replaceAll('\n', '\\n') }
    expect(await verify(onOneLine, sign())).toMatchObject({ user: 'ada' })
    const rsa = await generateKeyPair('RS256', { extractable: true })
    const jwk = { PLATFORM_JWT_PUBLIC_KEY: JSON.stringify(await exportJWK(rsa.publicKey)) }
    expect(await verify(jwk, sign({}, { alg: 'RS256' }, rsa.privateKey))).toMatchObject({ user: 'ada' })
  })
})

describe('the settings of the platform', () => {
  const tokens = (environment: Record<string, string>) =>
    platformTokens(readSettings(identitySettings, environment), platform)
  const key = () => ({ PLATFORM_JWT_PUBLIC_KEY: pem })

  test('may all be left out', () => {
    expect(tokens({})).toBeUndefined()
  })
  test('are refused when they are incomplete or invalid', () => {
    const whole = { ...key(), PLATFORM_JWT_ISSUER: issuer, PLATFORM_JWT_AUDIENCE: audience }
    const { PLATFORM_JWT_ISSUER, ...withoutIssuer } = whole
    const { PLATFORM_JWT_AUDIENCE, ...withoutAudience } = whole
    const { PLATFORM_JWT_PUBLIC_KEY: _, ...withoutKey } = whole
    for (const [environment, named] of [
      [withoutIssuer, 'PLATFORM_JWT_ISSUER'],
      [withoutAudience, 'PLATFORM_JWT_AUDIENCE'],
      [withoutKey, 'PLATFORM_JWT_JWKS_URL'],
      [{ ...whole, PLATFORM_JWT_ISSUER: 'gantry' }, 'PLATFORM_JWT_ISSUER'],
      [{ ...whole, PLATFORM_JWT_JWKS_URL: 'https://platform.example/jwks' }, 'PLATFORM_JWT_JWKS_URL'],
      [{ ...whole, PLATFORM_JWT_PUBLIC_KEY: 'nonsense' }, 'PLATFORM_JWT_PUBLIC_KEY'],
      [{ ...whole, PLATFORM_JWT_JWKS_URL: 'ftp://x' }, 'PLATFORM_JWT_JWKS_URL'],
      [{ GANTRY_ADMIN_PASSWORD: 'short' }, 'GANTRY_ADMIN_PASSWORD'],
    ] as [Record<string, string>, string][]) {
      expect(() => tokens(environment)).toThrow(SettingsRefused)
      expect(() => tokens(environment)).toThrow(named)
    }
  })
})
