import type { KeyObject } from 'node:crypto'
import { type Log, Refusal } from '@gantry/event-sourcing'
import { SettingsRefused } from '@gantry/service-kit'
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { GANTRY } from '../login/login-token.ts'
import type { IdentitySettings } from '../settings.ts'
import { refusalOfToken, unauthenticated } from './unauthenticated.ts'

/** Tokens that the platform issues, for its own users: how they are verified. */
export interface PlatformTokens {
  /**
   * @returns what the configured claim says of the user, and when the token ends, in milliseconds since 1970
   * @throws Refusal unauthenticated; unavailable when the platform's keys cannot be had
   */
  verify(token: string): Promise<{ user: string; expiresAt: number }>
}

export type PlatformSettings = Pick<IdentitySettings, Extract<keyof IdentitySettings, `PLATFORM_${string}`>>

/** Specification, "Limits": platform JWT lifetime. */
const MAX_AGE_SECONDS = 300
/** How far the platform's clock may be from this one. */
const TOLERANCE_SECONDS = 5
const JWKS_TIMEOUT_MS = 1_500
/** Fewer are refused by the JWT library (RFC 7518 §3.3). */
const RSA_BITS = 2048
/** Signatures with a public key only: a shared secret would make every verifier an issuer. */
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
 * @throws SettingsRefused when only a part of it is
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
    throw new SettingsRefused('PLATFORM_JWT_JWKS_URL: is not used together with PLATFORM_JWT_PUBLIC_KEY')
  if (!url && !publicKey)
    throw new SettingsRefused(
      'PLATFORM_JWT_JWKS_URL: is needed, or PLATFORM_JWT_PUBLIC_KEY, to verify platform tokens',
    )
  if (!issuer || issuer === GANTRY)
    throw new SettingsRefused(`PLATFORM_JWT_ISSUER: must name the issuer of platform tokens, not ${GANTRY}`)
  if (!audience) throw new SettingsRefused('PLATFORM_JWT_AUDIENCE: must name the audience of platform tokens')

  const key = url ? keyOfJwks(new URL(url)) : async () => publicKey
  const algorithms = publicKey ? algorithmsOf(publicKey) : ASYMMETRIC
  if (algorithms.length === 0)
    throw new SettingsRefused(
      `PLATFORM_JWT_PUBLIC_KEY: must be a key for Ed25519, ECDSA with P-256, P-384 or P-521, or RSA with ${RSA_BITS} bits at least`,
    )
  /** Ids of keys in the platform's set that cannot be used; each is logged once. */
  const unusable = new Set<string>()
  const refused = (error: unknown, token: string): unknown => {
    const refusal = refusalOfToken(error, 'platform token')
    if (refusal instanceof Refusal) return refusal
    // The key was had, and the JWT library or the cryptography beneath it takes no such key.
    const { kid = 'without an id' } = decodeProtectedHeader(token)
    if (!unusable.has(kid)) {
      unusable.add(kid)
      log.error({ kid, err: error }, "a key of the platform's cannot be used, and its tokens are refused")
    }
    return unauthenticated("the platform's key that signed the token cannot be used")
  }
  return {
    async verify(token) {
      const { payload } = await jwtVerify(token, key as JWTVerifyGetKey, {
        issuer,
        audience,
        algorithms,
        // The tolerance is part of the five minutes.
        maxTokenAge: MAX_AGE_SECONDS - TOLERANCE_SECONDS,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: now(),
      }).catch(error => Promise.reject(refused(error, token)))
      const user = payload[userClaim]
      if (typeof user !== 'string' || user === '')
        throw unauthenticated(`the platform token names no user in the claim ${userClaim}`)
      const { iat = 0, exp = Number.POSITIVE_INFINITY } = payload
      return { user, expiresAt: Math.min(exp, iat + MAX_AGE_SECONDS) * 1000 }
    },
  }
}

/** Keys that the platform publishes, kept for minutes and fetched anew when a token names another. */
function keyOfJwks(url: URL): JWTVerifyGetKey {
  const jwks = createRemoteJWKSet(url, { timeoutDuration: JWKS_TIMEOUT_MS, [customFetch]: fetchKeys })
  return async (header, token) => {
    try {
      return await jwks(header, token)
    } catch (error) {
      throw error instanceof errors.JWKSInvalid ? keysUnavailable() : error
    }
  }
}

const keysUnavailable = () => new Refusal('unavailable', { detail: "the platform's keys cannot be had" })

/** @throws Refusal unavailable unless the answer is 200 with JSON */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, options)
    if (response.status !== 200) throw new Error(`answered ${response.status}`)
    return Response.json(await response.json())
  } catch {
    throw keysUnavailable()
  }
}

/** What a key may sign with (RFC 7518 §3.1, RFC 8037): any other algorithm of a token is refused. */
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
