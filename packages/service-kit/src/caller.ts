import type { Principal } from '@gantry/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The principal of callers of public operations. */
export const ANONYMOUS: Principal = {
  userId: '00000000-0000-0000-0000-000000000000',
  username: 'anonymous',
  role: 'NO_ACCESS',
  scopes: [],
  kind: 'login',
  tokenId: null,
  credentialId: 'anonymous',
  expiresAt: 0,
}

/** Property of a request with its caller. A weak map would cost more in garbage collection than the whole request. */
const CALLER = Symbol('caller')
type Called = FastifyRequest & { [CALLER]: Principal | null }

/** Declares the property for the caller on the requests of an app. */
export const keepCallers = (app: FastifyInstance): void => void app.decorateRequest(CALLER, null)

/** Stores the caller of a request. To be called before the scope is checked, so that the log names refused callers too. */
export function noteCaller(request: FastifyRequest, principal: Principal): void {
  ;(request as Called)[CALLER] = principal
}

/** The caller of a request; undefined until `noteCaller` was called. */
export const callerOf = (request: FastifyRequest): Principal | undefined =>
  (request as Called)[CALLER] ?? undefined
