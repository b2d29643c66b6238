import fastifyJwt from '@fastify/jwt'
import { Principal } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { noteCaller } from './caller.ts'
import { ANONYMOUS, requireScope } from './routes.ts'
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

export interface PassedPrincipals {
  /** A JWT (RFC 7519) that says who is calling, valid for a minute. */
  sign(principal: Principal): string
  /** Admits whom the gateway vouches for, when the scope of the operation allows it. @throws Refusal unauthenticated, scope-missing */
  admit: Admit
  /** Whoever it is, if only the gateway asks. @throws Refusal unauthenticated */
  vouched(request: FastifyRequest): Principal
}

const Claims = z.object({ principal: Principal, exp: z.number() })

/**
 * How the gateway and the services pass on who is calling (invariant 7): signed with a key that is derived from the
 * encryption key, which nobody outside has.
 */
export async function passedPrincipals(
  app: FastifyInstance,
  { encryptionKey, now }: { encryptionKey: Uint8Array; now(): Date },
): Promise<PassedPrincipals> {
  await app.register(fastifyJwt, {
    secret: deriveKey(encryptionKey, 'principals that the gateway passes on'),
    sign: { algorithm: ALGORITHM, iss: ISSUER, aud: AUDIENCE },
    verify: { algorithms: [ALGORITHM], allowedIss: ISSUER, allowedAud: AUDIENCE },
  })
  const signed = new WeakMap<Principal, { token: string; until: number }>()
  const verified = new LRUCache<string, z.infer<typeof Claims>>({ max: KEPT })

  const verify = (token: string): Principal => {
    const known = verified.get(token)
    if (known && now().getTime() < known.exp * 1000) return known.principal
    const claims = Claims.parse(app.jwt.verify(token, { clockTimestamp: now().getTime() }))
    verified.set(token, claims)
    return claims.principal
  }

  const vouched = (request: FastifyRequest): Principal => {
    const token = request.headers[PRINCIPAL_HEADER]
    try {
      return verify(typeof token === 'string' ? token : '')
    } catch {
      throw new Refusal('unauthenticated', { detail: 'The gateway does not vouch for this request' })
    }
  }

  return {
    sign(principal) {
      const time = now().getTime()
      const before = signed.get(principal)
      if (before && time < before.until) return before.token
      const iat = Math.floor(time / 1000)
      const token = app.jwt.sign({ principal, iat, exp: iat + VALID_SECONDS })
      signed.set(principal, { token, until: time + REUSED_MS })
      return token
    },
    vouched,
    admit(request, _reply, operation) {
      const principal = vouched(request)
      // Callers that are unknown are one and the same to the routes.
      if (operation.scope === 'public') return ANONYMOUS
      noteCaller(request, principal)
      requireScope(principal, operation)
      return principal
    },
  }
}
