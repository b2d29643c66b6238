import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import replyFrom from '@fastify/reply-from'
import { OPERATIONS, type Operation, Refusal, type ServiceName } from '@gantry/contracts'
import type { Replicas } from '@gantry/hosting'
import {
  type Admit,
  ANONYMOUS,
  type BodyBytes,
  checkParams,
  contextOfRequest,
  countBody,
  countedBody,
  type PassedPrincipals,
  PRINCIPAL_HEADER,
  readBody,
  routeOf,
} from '@gantry/service-runtime'
import { answered, requestSpan, type Span } from '@gantry/tracing'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'

export type Upstream = Exclude<ServiceName, 'gateway'>

export interface ForwardingOptions {
  admit: Admit
  sign: PassedPrincipals['sign']
  services: Readonly<Record<Upstream, Replicas>>
}

/** Time for a service to begin its response to a change, and between two parts of the response body. */
const TIMEOUT_MS = 20_000
/** For a document, which may wait for the checks of others. Shorter than the 60 s of common proxies. */
const DOCUMENT_TIMEOUT_MS = 50_000
/** For a read: the first replica may be paused; the other may have to load the documents for lists. */
const READ_TIMEOUT_MS = { first: 5_000, other: 60_000 }
/** Safe methods (RFC 9110 §9.2.1). */
const SAFE = new Set(['GET', 'HEAD'])
/** Errors after which no part of the request has reached the service. */
const CONNECT_ERRORS = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])
/** Errors after which the service may have handled the request: the connection broke or the timeout passed first. */
const CONNECTION_LOST_ERRORS = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
])
/** Headers that are not passed on: hop-by-hop, for the gateway alone, or claims of the caller about its identity. */
const DROPPED_REQUEST_HEADERS = [
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
  PRINCIPAL_HEADER,
]
/** Response headers that concern the connection between service and gateway. */
const DROPPED_RESPONSE_HEADERS = ['connection', 'keep-alive', 'date']

const takesDocument = ({ bodyMediaType }: Operation) => bodyMediaType === '*/*'

const SIGNED_PRINCIPAL = Symbol('signed principal')
type Admitted = FastifyRequest & { [SIGNED_PRINCIPAL]: string }

/**
 * Adds the operations of the services: admits the caller, then forwards the request to a replica. JSON bodies are read
 * completely, up to the limit of the operation, so that they can be sent twice; all other bodies are streamed.
 */
export async function forwarding(
  app: FastifyInstance,
  { admit, sign, services }: ForwardingOptions,
): Promise<void> {
  await app.register(async scope => {
    await scope.register(replyFrom, {
      disableRequestLogging: true,
      disableCache: true,
      destroyAgent: true,
      undici: { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, keepAliveTimeout: 4_000 },
    })
    scope.decorateRequest(SIGNED_PRINCIPAL, '')
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(['application/json', 'application/cloudevents+json'], readBody)
    scope.addContentTypeParser('*', (request, body, done) => done(null, streamed(body, countBody(request))))

    const add = (to: FastifyInstance, operations: readonly Operation[]) => {
      for (const operation of operations) {
        if (operation.service === 'gateway') continue
        const upstream = services[operation.service]
        to.route({
          ...routeOf(operation, admit, (request, principal) =>
            setSigned(request, sign(principal, operation)),
          ),
          handler: (request, reply) =>
            void forward(request, reply, {
              services: upstream,
              path: pathOf(request, operation),
              changeMs: takesDocument(operation) ? DOCUMENT_TIMEOUT_MS : TIMEOUT_MS,
            }),
        })
      }
    }
    add(
      scope,
      OPERATIONS.filter(operation => !takesDocument(operation)),
    )
    // Documents in JSON are streamed too: they are large.
    await scope.register(async documents => {
      documents.removeContentTypeParser(['application/json', 'application/cloudevents+json'])
      add(documents, OPERATIONS.filter(takesDocument))
    })
    for (const [path, id] of [
      ['/.well-known/jwks.json', 'jwks'],
      ['/.well-known/audit-keys.json', 'auditKeys'],
    ] as const)
      scope.get(path, {
        onRequest(request, _reply, done) {
          setSigned(request, sign(ANONYMOUS, { service: 'identity', id }))
          done()
        },
        handler: (request, reply) =>
          void forward(request, reply, {
            services: services.identity,
            path: request.routeOptions.url ?? '',
            changeMs: TIMEOUT_MS,
          }),
      })
  })
}

function setSigned(request: FastifyRequest, token: string): void {
  ;(request as Admitted)[SIGNED_PRINCIPAL] = token
}

/**
 * The path of the admitted operation, not the path as the caller wrote it: the decoded and checked parameters are encoded
 * again. @throws Refusal not-found
 */
function pathOf({ params, routeOptions }: FastifyRequest, operation: Operation): string {
  const checked = checkParams(operation.params, params) as Record<string, unknown> | undefined
  return (routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(checked?.[name])),
  )
}

interface Forwarded {
  services: Replicas
  path: string
  /** Time for a service to begin its response, unless the method is safe. */
  changeMs: number
}

function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { services, path, changeMs }: Forwarded,
  failed?: string,
): void {
  const replica = services.next(failed)
  const { body } = request
  const counted = countedBody(request)
  if (failed === undefined) counted?.retain()
  const type = request.headers['content-type']
  const span = spanOf(request, reply, new URL(path, replica))
  reply.from(path, {
    method: request.method as HTTPMethods,
    getUpstream: () => replica,
    timeout: timeoutOf(request, changeMs, failed === undefined),
    ...(Buffer.isBuffer(body) && { body, ...(type && { contentType: type }) }),
    rewriteRequestHeaders: (_request, headers) => forwardedHeaders(request as Admitted, headers, span),
    rewriteHeaders(headers) {
      // Not in onResponse, which is not called when the client is gone.
      counted?.release()
      return without(headers, DROPPED_RESPONSE_HEADERS)
    },
    onResponse(_request, _reply, response) {
      // The rest of the request body is read and dropped: a client that is still sending would not read the response.
      reply.removeHeader('connection')
      answered(span, reply.statusCode)
      reply.send(response.stream)
    },
    onError(_reply, { error }) {
      const reason = errorCodeOf(error)
      span?.fail(reason || error.name)
      span?.end()
      if (CONNECT_ERRORS.has(reason) || reason === 'UND_ERR_HEADERS_TIMEOUT') services.leaveOut(replica)
      if (failed === undefined && mayRetry(request, reason)) {
        forward(request, reply, { services, path, changeMs }, replica)
        return
      }
      counted?.release()
      if (body instanceof PassThrough && body.errored instanceof Refusal) {
        reply.send(body.errored)
        return
      }
      request.log.warn({ err: error, replica, requestId: request.id }, 'a service did not answer')
      reply.send(new Refusal('unavailable'))
    },
  })
}

/**
 * The span of a request to a service. It ends with the response to the client, or when the client is gone: reply-from then
 * calls neither onResponse nor onError. The caller ends it earlier if another replica is tried.
 */
function spanOf(request: FastifyRequest, { raw }: FastifyReply, url: URL): Span | undefined {
  const span = raw.closed
    ? undefined
    : contextOfRequest(request)?.span?.child(requestSpan(request.method, url))
  if (span)
    raw.once('close', () => {
      if (!raw.headersSent) span.fail('aborted')
      span.end()
    })
  return span
}

/** Streams a body to a service. Destroying the returned stream does not close the connection of the client. */
function streamed(body: IncomingMessage, counted: BodyBytes): PassThrough {
  const stream = new PassThrough()
  stream.once('error', () => {})
  // `on('data')` does not start a stream that was paused explicitly; sending it to a service does.
  stream.pause().on('data', (chunk: Buffer) => counted.subtract(chunk.length))
  body.on('data', (chunk: Buffer) => {
    if (stream.destroyed) return
    try {
      counted.add(chunk.length)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })
  body.pipe(stream)
  stream.once('close', () => body.resume())
  body.once('close', () => {
    if (!body.complete) stream.destroy(new Error('the client disconnected'))
  })
  return stream
}

/**
 * Whether the request may be sent to another replica: the body can be sent again, and either the request did not reach the
 * first replica or its method is safe. A write that may have been applied is never retried, even if it is idempotent: the
 * second response, such as 404 or 412, would reflect the first attempt.
 */
function mayRetry({ method, body }: FastifyRequest, reason: string): boolean {
  if (body !== undefined && body !== null && !Buffer.isBuffer(body)) return false
  return CONNECT_ERRORS.has(reason) || (CONNECTION_LOST_ERRORS.has(reason) && SAFE.has(method))
}

function timeoutOf({ method }: FastifyRequest, changeMs: number, isFirst: boolean): number {
  if (!SAFE.has(method)) return changeMs
  return isFirst ? READ_TIMEOUT_MS.first : READ_TIMEOUT_MS.other
}

function errorCodeOf(error: Error & { code?: string; cause?: unknown }): string {
  const { cause } = error
  return (cause instanceof Error && 'code' in cause ? String(cause.code) : error.code) ?? ''
}

type Headers = Record<string, string | string[] | undefined>

function forwardedHeaders(request: Admitted, given: Headers, span: Span | undefined): Headers {
  const headers = without(given, DROPPED_REQUEST_HEADERS)
  if (request.method === 'GET' || request.method === 'HEAD') {
    delete headers['content-length']
    delete headers['content-type']
  }
  Object.assign(headers, contextOfRequest(request)?.headers, span && { traceparent: span.traceparent })
  headers['x-forwarded-for'] = request.ip
  headers[PRINCIPAL_HEADER] = request[SIGNED_PRINCIPAL]
  return headers
}

function without(headers: Headers, names: readonly string[]): Headers {
  const rest = { ...headers }
  for (const name of names) delete rest[name]
  return rest
}
