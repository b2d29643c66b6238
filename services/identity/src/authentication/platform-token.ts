import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { SettingsRefused } from '@gantry/service-runtime'
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { IdentitySettings } from '../settings.ts'
import { GANTRY } from './login-token.ts'
import { refusalOfToken, unauthenticated } from './unauthenticated.ts'

/** Verifies tokens that the platform issues for its users. */
export interface PlatformTokens {
  /**
   * @returns username or user id from the configured claim, and the end of the token in milliseconds since 1970
   * @throws Refusal unauthenticated; unavailable when the platform's keys cannot be fetched
   */
  verify(token: string): Promise<{ user: string; expiresAt: number }>
}

export type PlatformSettings = Pick<IdentitySettings, Extract<keyof IdentitySettings, `PLATFORM_${string}`>>

/** Maximum lifetime of platform tokens (specification, "Limits"). */
const MAX_AGE_SECONDS = 300
/** Tolerated difference between the platform's clock and this one. */
const TOLERANCE_SECONDS = 5
const JWKS_TIMEOUT_MS = 1_500
/** Minimum size of RSA keys. The JWT library refuses smaller ones (RFC 7518 §3.3). */
const RSA_BITS = 2048
/** Only algorithms with a public key, because with a shared secret every verifier could issue tokens. */
const ASYMMETRIC = [
  'EdDSA',
  'Ed25519',
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
]

/**
 * @returns undefined when no platform is configured
 * @throws SettingsRefused when the configuration is incomplete or contradictory, or the key cannot be used
 */
export function platformTokens(
  settings: PlatformSettings,
  { now, log }: { now(): Date; log: Pick<Log, 'error'> },
): PlatformTokens | undefined {
  const {
    PLATFORM_JWT_JWKS_URL: url,
    PLATFORM_JWT_PUBLIC_KEY: publicKey,
    PLATFORM_JWT_ISSUER: issuer,
    PLATFORM_JWT_AUDIENCE: audience,
    PLATFORM_JWT_USER_CLAIM: userClaim,
  } = settings
  if (!url && !publicKey && !issuer && !audience) return undefined
  if (url && publicKey)
    throw new SettingsRefused('PLATFORM_JWT_JWKS_URL: must not be set together with PLATFORM_JWT_PUBLIC_KEY')
  if (!url && !publicKey)
    throw new SettingsRefused(
      'PLATFORM_JWT_JWKS_URL: is required, or PLATFORM_JWT_PUBLIC_KEY, to verify platform tokens',
    )
  if (!issuer || issuer === GANTRY)
    throw new SettingsRefused(`PLATFORM_JWT_ISSUER: must name the issuer of platform tokens, not ${GANTRY}`)
  if (!audience) throw new SettingsRefused('PLATFORM_JWT_AUDIENCE: must name the audience of platform tokens')

  const key = url ? keyOfJwks(new URL(url), log) : async () => publicKey
  const algorithms = publicKey ? algorithmsOf(publicKey) : ASYMMETRIC
  if (algorithms.length === 0)
    throw new SettingsRefused(
      `PLATFORM_JWT_PUBLIC_KEY: must be a key for Ed25519, ECDSA with P-256, P-384 or P-521, or RSA with at least ${RSA_BITS} bits`,
    )
  return {
    async verify(token) {
      const { payload } = await jwtVerify(token, key as JWTVerifyGetKey, {
        issuer,
        audience,
        algorithms,
        // jose adds the tolerance to the maximum age.
        maxTokenAge: MAX_AGE_SECONDS - TOLERANCE_SECONDS,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: now(),
      }).catch(error => Promise.reject(refusalOfToken(error, 'platform token')))
      const user = payload[userClaim]
      if (typeof user !== 'string' || user === '')
        throw unauthenticated(`the platform token names no user in the claim ${userClaim}`)
      const { iat = 0, exp = Number.POSITIVE_INFINITY } = payload
      return { user, expiresAt: Math.min(exp, iat + MAX_AGE_SECONDS) * 1000 }
    },
  }
}

/** The keys that the platform publishes, cached for minutes and fetched again when a token names an unknown one. */
function keyOfJwks(url: URL, log: Pick<Log, 'error'>): JWTVerifyGetKey {
  const jwks = createRemoteJWKSet(url, { timeoutDuration: JWKS_TIMEOUT_MS, [customFetch]: usableKeys(log) })
  return async (header, token) => {
    try {
      return await jwks(header, token)
    } catch (error) {
      throw error instanceof errors.JWKSInvalid ? keysUnavailable() : error
    }
  }
}

const keysUnavailable = () => new Refusal('unavailable', { detail: "the platform's keys cannot be fetched" })

/**
 * A fetch that removes unusable keys from the key set, because a token that names one would make the JWT library throw an
 * unexpected error. Each unusable key is logged once.
 * @throws Refusal unavailable unless the response is 200 with a key set as JSON
 */
function usableKeys(log: Pick<Log, 'error'>) {
  const unusable = new Set<string>()
  const isUsable = (jwk: JsonWebKey & { kid?: unknown }) => {
    if (canSign(jwk)) return true
    const key = JSON.stringify(jwk)
    if (!unusable.has(key))
      log.error({ kid: jwk.kid }, 'a key of the platform cannot be used: its tokens are refused')
    unusable.add(key)
    return false
  }
  return async (url: string, options: RequestInit): Promise<Response> => {
    try {
      const response = await fetch(url, options)
      if (response.status !== 200) throw new Error(`answered ${response.status}`)
      const set = (await response.json()) as { keys: JsonWebKey[] }
      return Response.json({ ...set, keys: set.keys.filter(isUsable) })
    } catch {
      throw keysUnavailable()
    }
  }
}

function canSign(jwk: JsonWebKey): boolean {
  try {
    return algorithmsOf(createPublicKey({ key: jwk, format: 'jwk' })).length > 0
  } catch {
    return false
  }
}

/** The algorithms that a key may sign with (RFC 7518 §3.1, RFC 8037). Tokens with another algorithm are refused. */
function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string[] {
  switch (asymmetricKeyType) {
    case 'ed25519':
      return ['EdDSA', 'Ed25519']
    case 'ec':
      return (
        { prime256v1: ['ES256'], secp384r1: ['ES384'], secp521r1: ['ES512'] }[
          asymmetricKeyDetails?.namedCurve ?? ''
        ] ?? []
      )
    case 'rsa':
      if ((asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS) return []
      return ASYMMETRIC.filter(algorithm => algorithm.startsWith('RS') || algorithm.startsWith('PS'))
    case 'rsa-pss':
      if ((asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS) return []
      return ASYMMETRIC.filter(algorithm => algorithm.startsWith('PS'))
    default:
      return []
  }
}
