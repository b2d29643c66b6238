import { randomUUID } from 'node:crypto'
import { ROLE_SCOPES, requests } from '@gantry/contracts'
import { callerOf, isAnonymous, loggedPath, type Peers } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Maximum number of characters of a path in the audit log. */
const PATH_LIMIT = 500

/**
 * Records refusals (403) in the audit log before they are answered. A refusal for a missing scope is recorded if only
 * administrators have this scope. A refusal for another reason is always recorded, e.g. granting a role above one's own.
 */
export function recordRefusals(
  app: FastifyInstance,
  { peers, now }: { peers: Pick<Peers, 'ask'>; now(): Date },
): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const refused = reply.statusCode === 403 ? refusedIn(request) : undefined
    if (!refused) return done(null, payload)
    peers
      .ask(requests.operationRefused, { ...refused, time: now().toISOString() })
      .catch(err => request.log.error({ err, requestId: request.id }, 'a refusal is not in the audit log'))
      .then(() => done(null, payload))
  })
}

function refusedIn(request: FastifyRequest) {
  const { operation } = request.routeOptions.config
  const caller = callerOf(request)
  if (!operation || !caller || isAnonymous(caller)) return undefined
  const { id, scope } = operation
  const isMissing = scope !== 'public' && scope !== 'authenticated' && !caller.scopes.includes(scope)
  if (isMissing && ROLE_SCOPES.USER.includes(scope)) return undefined
  const { userId: user, tokenId, address } = caller
  const path = loggedPath(request).slice(0, PATH_LIMIT)
  const refused = { id: randomUUID(), user, tokenId, operation: id, path, requestId: request.id }
  return { ...refused, ...(address && { address }) }
}
