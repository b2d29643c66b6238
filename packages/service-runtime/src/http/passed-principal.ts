import fastifyJwt from '@fastify/jwt'
import { Principal, Refusal } from '@gantry/contracts'
import { atMost } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { deriveKey } from '../secrets/encryption-keys.ts'
import type { Admit } from '../service/service.ts'
import { ANONYMOUS, noteCaller } from './request-context.ts'
import { requireScope } from './routes.ts'

/** Header in which the gateway passes the caller to a service. The gateway drops this header from incoming requests. */
export const PRINCIPAL_HEADER = 'x-gantry-principal'

const ALGORITHM = 'HS256'
const ISSUER = 'gantry-gateway'
const AUDIENCE = 'gantry-services'
/** Validity of a token; far longer than a request takes from the gateway to the service. */
const VALID_SECONDS = 60
/** Largest difference between the clocks of two processes, which follow that of the read models. */
const CLOCK_SECONDS = 60
/** How long the gateway reuses a token, so that every token arrives with most of its validity left. */
const REUSED_MS = 15_000
const KEPT = 10_000

/** The purpose of a signed principal: an operation of a service, or an internal request to it. */
export interface Purpose {
  service: string
  /** Id of the operation, or subject of the internal request. */
  id: string
}

export interface PassedPrincipals {
  /** @returns a JWT (RFC 7519) with the caller and the purpose, valid for a minute */
  sign(principal: Principal, purpose: Purpose): string
  /**
   * Returns the caller that the gateway signed for this operation, if they have its scope.
   * @throws Refusal unauthenticated, scope-missing
   */
  admit: Admit
  /** Checks that a principal was signed for the purpose; for any one if none is given. @throws Refusal unauthenticated */
  vouched(request: FastifyRequest, purpose?: Purpose): void
}

export interface PassedPrincipalsOptions {
  /** 32 bytes. Signs, and verifies. */
  key: Uint8Array
  /** Further keys that verify like `key`: those derived from the other keys of ENCRYPTION_KEY. */
  otherKeys?: readonly Uint8Array[]
  /** The setting PRINCIPAL_KEY, if it is set. Verifies too. */
  gatewayKey?: Uint8Array | undefined
  now(): Date
}

/** The key that signs principals unless PRINCIPAL_KEY is set. @returns 32 bytes, which do not reveal the given key */
export const derivedPrincipalKey = (encryptionKey: Uint8Array): Buffer =>
  deriveKey(encryptionKey, 'principals that the gateway passes on')

const Claims = z.object({ principal: Principal, exp: z.number(), service: z.string(), operation: z.string() })
type Claims = z.infer<typeof Claims>

const isFor = ({ service, operation }: Claims, purpose: Purpose) =>
  service === purpose.service && operation === purpose.id

/**
 * Passes the caller from the gateway to the services (invariant 7). A principal is signed for one operation of one service,
 * so that a service cannot use it for another operation.
 */
export async function passedPrincipals(
  app: FastifyInstance,
  { key, otherKeys = [], gatewayKey, now }: PassedPrincipalsOptions,
): Promise<PassedPrincipals> {
  await app.register(fastifyJwt, {
    secret: Buffer.from(key),
    sign: { algorithm: ALGORITHM, iss: ISSUER, aud: AUDIENCE },
    verify: { algorithms: [ALGORITHM], allowedIss: ISSUER, allowedAud: AUDIENCE },
  })
  const signed = new WeakMap<Principal, Map<string, { token: string; until: number }>>()

  /** @throws Error when the token is not signed with the key, has expired, or is valid for longer than those of `sign` */
  const claimsOf = (token: string, by: Uint8Array) => {
    const time = now().getTime()
    const claims = Claims.parse(app.jwt.verify(token, { key: Buffer.from(by), clockTimestamp: time }))
    if (claims.exp > time / 1000 + VALID_SECONDS + CLOCK_SECONDS) throw new Error('valid for too long')
    return claims
  }

  const verifying = [key, ...otherKeys, ...(gatewayKey ? [gatewayKey] : [])]
  const verifiers = verifying.map(by => (token: string) => claimsOf(token, by))
  const verify = remembering(verifiers, now)

  /** The claims of a request; undefined when they are not signed or have expired. */
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
      if (!claims || (purpose && !isFor(claims, purpose))) throw notVouched()
    },
    admit(request, _reply, operation) {
      const claims = shown(request)
      if (!claims || !isFor(claims, operation)) throw notVouched()
      if (operation.scope === 'public') return ANONYMOUS
      noteCaller(request, claims.principal)
      requireScope(claims.principal, operation)
      return claims.principal
    },
  }
}

const notVouched = () =>
  new Refusal('unauthenticated', { detail: 'The gateway has not signed a principal for this request' })

/** Verifies with the first key that fits. Tokens that were verified are remembered. @throws the error of the last key */
function remembering(verifiers: readonly ((token: string) => Claims)[], now: () => Date) {
  const verified = new LRUCache<string, Claims>(atMost(KEPT))
  return (token: string): Claims => {
    const known = verified.get(token)
    if (known && now().getTime() < known.exp * 1000) return known
    let refused: unknown
    for (const verify of verifiers) {
      try {
        const claims = verify(token)
        verified.set(token, claims)
        return claims
      } catch (error) {
        refused = error
      }
    }
    throw refused
  }
}
