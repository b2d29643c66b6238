import { PROBLEMS, type Problem, type ProblemCode, Refusal } from '@gantry/contracts'
import { EventStoreUnavailable, WrongExpectedRevision } from '@gantry/event-sourcing'
import { BusUnavailable } from '@gantry/messaging'
import { ReadModelsUnavailable, UserKeysUnavailable } from '@gantry/stores'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Unanswered } from '../service/peers.ts'
import { noteProblem } from './access-log.ts'

const RETRY_AFTER_SECONDS = 2

/** Problem codes of errors of fastify and its plugins. */
const FRAMEWORK: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-request',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-request',
  FST_ERR_BAD_URL: 'malformed-request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri-too-long',
}

const unavailable = [
  EventStoreUnavailable,
  ReadModelsUnavailable,
  UserKeysUnavailable,
  BusUnavailable,
  Unanswered,
]

/** The refusal that corresponds to an error; undefined for an internal error. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (unavailable.some(kind => error instanceof kind)) return new Refusal('unavailable')
  if (error instanceof WrongExpectedRevision) return new Refusal('write-conflict')
  const { code, statusCode, message } = (error ?? {}) as {
    code?: unknown
    statusCode?: unknown
    message?: unknown
  }
  if (typeof code === 'string' && FRAMEWORK[code]) return new Refusal(FRAMEWORK[code], { detail: message })
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Refusal('malformed-request', { detail: message })
  }
  return undefined
}

/** What a request without a media type that its route reads should have sent. */
function mediaTypeFor(error: unknown, { routeOptions }: FastifyRequest): string | undefined {
  if ((error as { code?: unknown } | null)?.code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return undefined
  return `send the body with Content-Type: ${routeOptions.config?.operation?.bodyMediaType ?? 'application/json'}`
}

/** Answers with problem details (RFC 9457): a refusal by its code, any other error as internal-error without details. */
export function answerProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  now: Date,
): FastifyReply {
  const refusal = refusalOf(error)
  const code = refusal?.code ?? 'internal-error'
  if (code === 'internal-error') request.log.error({ err: error, requestId: request.id }, 'failed')
  noteProblem(reply, code)
  const { status, title } = PROBLEMS[code]
  const { detail, headers, ...members } = (refusal?.details ?? {}) as {
    detail?: string
    headers?: Record<string, string>
  }
  const problem: Problem = {
    ...(code === 'internal-error' ? {} : members),
    type: `urn:gantry:problem:${code}`,
    title,
    status,
    detail: code === 'internal-error' ? title : (mediaTypeFor(error, request) ?? (detail || title)),
    instance: request.url.split('?')[0] ?? request.url,
    code,
    requestId: request.id,
    timestamp: now.toISOString(),
  }
  // A client that is still sending could not read the response on a closed connection. Instead Node reads and drops the
  // rest of the body until the request timeout.
  if (status === 413 || status === 429 || code === 'body-memory-full') reply.removeHeader('connection')
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="gantry"')
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS)
  if (headers) reply.headers(headers)
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem))
}
