import type { ProblemCode } from '@gantry/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf, contextOfRequest, loggedPath } from './request-context.ts'

/** Property of a reply with the code of its problem. */
const CODE = Symbol('code')
type Answered = FastifyReply & { [CODE]?: ProblemCode }

/** Stores the code of the problem that a request is answered with, for the access log. */
export function noteProblem(reply: FastifyReply, code: ProblemCode): void {
  ;(reply as Answered)[CODE] = code
}

/** The fields of a request in the access log: no query, no headers, no body, and secrets in the path are cut off. */
export const accessOf = (request: FastifyRequest, reply: FastifyReply) => {
  const caller = callerOf(request)
  const context = contextOfRequest(request)
  const code = (reply as Answered)[CODE]
  return {
    requestId: request.id,
    ...(context && { traceId: context.traceId, spanId: context.spanId }),
    method: request.method,
    route: request.routeOptions.url,
    path: loggedPath(request),
    status: reply.statusCode,
    ...(code !== undefined && { code }),
    ms: Math.round(reply.elapsedTime * 100) / 100,
    address: request.ip,
    ...(caller && {
      principal: caller.userId,
      ...(caller.tokenId !== null && { accessToken: caller.tokenId }),
    }),
  }
}
