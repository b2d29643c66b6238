import type { Principal } from '@gantry/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The caller of a public operation. */
export const ANONYMOUS: Principal = {
  userId: '00000000-0000-0000-0000-000000000000',
  username: 'anonymous',
  role: 'NO_ACCESS',
  scopes: [],
  kind: 'login',
  tokenId: null,
  expiresAt: 0,
}

/** Where a request keeps its caller: a weak map would cost the garbage collector more than the request costs us. */
const CALLER = Symbol('caller')
type Called = FastifyRequest & { [CALLER]: Principal | null }

/** Makes room for the caller in every request of an app. */
export const keepCallers = (app: FastifyInstance): void => void app.decorateRequest(CALLER, null)

/** Notes who is calling as soon as it is known, so that the log tells also of whom something was refused to. */
export function noteCaller(request: FastifyRequest, principal: Principal): void {
  ;(request as Called)[CALLER] = principal
}

/** Who is calling; undefined while nobody has found out. */
export const callerOf = (request: FastifyRequest): Principal | undefined =>
  (request as Called)[CALLER] ?? undefined
