import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from './caller.ts'

/** Secrets of ours and tokens of any kind, where somebody puts them into a path by mistake. */
const SECRET = /\b(pat_|whsec_|eyJ)[\w.~+/=-]*/g

/** What the access log says of a request: no query, no headers, no body, nothing secret. */
export const accessOf = (request: FastifyRequest, reply: FastifyReply) => {
  const caller = callerOf(request)
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    path: request.url.split('?')[0]?.replace(SECRET, '$1…'),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 100) / 100,
    address: request.ip,
    ...(caller && {
      principal: caller.userId,
      ...(caller.tokenId !== null && { accessToken: caller.tokenId }),
    }),
  }
}
