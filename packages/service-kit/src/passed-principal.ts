import fastifyJwt from '@fastify/jwt'
import { Principal } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { ANONYMOUS, noteCaller } from './caller.ts'
import { requireScope } from './routes.ts'
import { deriveKey } from './secrets.ts'
import type { Admit } from './service.ts'

/** The header in which the gateway tells a service who is calling; it passes on none that came from outside. */
export const PRINCIPAL_HEADER = 'x-gantry-principal'

const ALGORITHM = 'HS256'
const ISSUER = 'gantry-gateway'
const AUDIENCE = 'gantry-services'
/** How long a service takes it; far longer than a request is on its way. */
const VALID_SECONDS = 60
/** How long the gateway sends the same again, so that it always arrives with most of its time left. */
const REUSED_MS = 15_000
const KEPT = 10_000

/** What a principal is signed for: an operation of a service, or the subject of an internal request to it. */
export interface Purpose {
  service: string
  /** Of the operation, or the subject. */
  id: string
}

export interface PassedPrincipals {
  /** A JWT (RFC 7519) that says who is calling and for what, valid for a minute. */
  sign(principal: Principal, purpose: Purpose): string
  /**
   * Admits a caller whom the gateway vouches for, for this operation, when its scope allows it.
   * @throws Refusal unauthenticated, scope-missing
   */
  admit: Admit
  /** Lets in what was signed for the purpose; for any purpose if none is given. @throws Refusal unauthenticated */
  vouched(request: FastifyRequest, purpose?: Purpose): void
  /** Whether a process of the previous release has signed, which names no purpose. */
  isOfPreviousRelease(request: FastifyRequest): boolean
}

export interface PassedPrincipalsOptions {
  /** 32 bytes: signs, and is believed. Principals without a purpose, of the previous release, are signed with this one only. */
  key: Uint8Array
  /** PRINCIPAL_KEY where it is set: is believed too. */
  gatewayKey?: Uint8Array | undefined
  now(): Date
}

/** The key that principals are signed with unless PRINCIPAL_KEY is set. @returns 32 bytes, which do not reveal the given key */
export const derivedPrincipalKey = (encryptionKey: Uint8Array): Buffer =>
  deriveKey(encryptionKey, 'principals that the gateway passes on')

/** Without a purpose it is of the previous release. */
const Claims = z.object({
  principal: Principal,
  exp: z.number(),
  service: z.string().optional(),
  operation: z.string().optional(),
})
type Claims = z.infer<typeof Claims>

const hasNoPurpose = ({ service, operation }: Claims) => service === undefined && operation === undefined
const isFor = ({ service, operation }: Claims, purpose: Purpose) =>
  service === purpose.service && operation === purpose.id

/**
 * How the gateway and the services pass on who is calling (invariant 7): signed for one operation of one service, so that
 * what one service is shown opens no other operation. Services of the previous release ignore the purpose.
 */
export async function passedPrincipals(
  app: FastifyInstance,
  { key, gatewayKey, now }: PassedPrincipalsOptions,
): Promise<PassedPrincipals> {
  await app.register(fastifyJwt, {
    secret: Buffer.from(key),
    sign: { algorithm: ALGORITHM, iss: ISSUER, aud: AUDIENCE },
    verify: { algorithms: [ALGORITHM], allowedIss: ISSUER, allowedAud: AUDIENCE },
  })
  const signed = new WeakMap<Principal, Map<string, { token: string; until: number }>>()
  const verified = new LRUCache<string, Claims>({ max: KEPT })

  /** @throws Error when the token is not signed with the key, or its time is over */
  const claimsOf = (token: string, by: Uint8Array) =>
    Claims.parse(app.jwt.verify(token, { key: Buffer.from(by), clockTimestamp: now().getTime() }))

  const claimsByGatewayKey = (token: string, by: Uint8Array): Claims => {
    const claims = claimsOf(token, by)
    if (hasNoPurpose(claims)) throw new Error('the previous release does not sign with PRINCIPAL_KEY')
    return claims
  }

  const verify = (token: string): Claims => {
    const known = verified.get(token)
    if (known && now().getTime() < known.exp * 1000) return known
    let claims: Claims
    try {
      claims = claimsOf(token, key)
    } catch (error) {
      if (!gatewayKey) throw error
      claims = claimsByGatewayKey(token, gatewayKey)
    }
    verified.set(token, claims)
    return claims
  }

  /** What a request shows; undefined when it is not signed, or no longer valid. */
  const shown = (request: FastifyRequest): Claims | undefined => {
    const token = request.headers[PRINCIPAL_HEADER]
    try {
      return verify(typeof token === 'string' ? token : '')
    } catch {
      return undefined
    }
  }

  return {
    sign(principal, { service, id }) {
      const time = now().getTime()
      const tokens = signed.get(principal) ?? new Map<string, { token: string; until: number }>()
      const purpose = `${service} ${id}`
      const before = tokens.get(purpose)
      if (before && time < before.until) return before.token
      const iat = Math.floor(time / 1000)
      const token = app.jwt.sign({ principal, service, operation: id, iat, exp: iat + VALID_SECONDS })
      tokens.set(purpose, { token, until: time + REUSED_MS })
      signed.set(principal, tokens)
      return token
    },
    vouched(request, purpose) {
      const claims = shown(request)
      if (!claims || hasNoPurpose(claims) || (purpose && !isFor(claims, purpose))) throw notVouched()
    },
    isOfPreviousRelease(request) {
      const claims = shown(request)
      return claims !== undefined && hasNoPurpose(claims)
    },
    admit(request, _reply, operation) {
      const claims = shown(request)
      if (!claims || !(hasNoPurpose(claims) || isFor(claims, operation))) throw notVouched()
      // Callers that are unknown are one and the same to the routes.
      if (operation.scope === 'public') return ANONYMOUS
      noteCaller(request, claims.principal)
      requireScope(claims.principal, operation)
      return claims.principal
    },
  }
}

const notVouched = () =>
  new Refusal('unauthenticated', { detail: 'The gateway does not vouch for this request' })
