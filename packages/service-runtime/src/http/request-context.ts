import type { Principal } from '@gantry/contracts'
import {
  beginContext,
  currentContext,
  enterContext,
  inContext,
  isTracing,
  type Span,
  TraceContext,
} from '@gantry/tracing'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Access tokens, signing secrets and JWTs, in case a client sends one in a path by mistake. */
const SECRET = /\b(pat_|whsec_|eyJ)[\w.~+/=-]*/g

/** The path of a request, without the query and with secrets cut off. */
export const loggedPath = ({ url }: FastifyRequest): string =>
  (url.split('?')[0] ?? '').replace(SECRET, '$1…')

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

/** The principal of a caller without credentials of an operation that is `crawled`. */
export const CRAWLER: Principal = { ...ANONYMOUS, scopes: ['API_READ'] }

/** Whether a caller has no credentials. A principal that the gateway passed on is a copy of ANONYMOUS or CRAWLER. */
export const isAnonymous = ({ userId }: Principal): boolean => userId === ANONYMOUS.userId

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

/** Property of a request with its context. */
const CONTEXT = Symbol('context')
type InContext = FastifyRequest & { [CONTEXT]: TraceContext | null }

/**
 * Handles the requests of an app each in its context, with a span of kind server unless it is a health check or a scrape.
 * To be called before hooks are added that need the context.
 */
export function keepContexts(app: FastifyInstance): void {
  app.decorateRequest(CONTEXT, null)
  app.addHook('onRequest', (request, reply, done) => {
    const context = contextOfNew(request)
    ;(request as InContext)[CONTEXT] = context
    if (context.span) endWith(context.span, reply)
    enterContext(context, done)
  })
}

/** The context of a request, for code that runs outside it, such as events of its connection. */
export const contextOfRequest = (request: FastifyRequest): TraceContext | null =>
  (request as InContext)[CONTEXT]

/** Does work in the context of a request. The handler may continue after an event of the body, which has no context. */
export function inContextOfRequest<Result>(
  request: FastifyRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  const context = contextOfRequest(request)
  return context === null || context === currentContext() ? work() : inContext(context, work)
}

/** Methods of RFC 9110 §9.3 and RFC 5789; others are not in names and attributes. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

function contextOfNew(request: FastifyRequest): TraceContext {
  const { id, method } = request
  const { traceparent } = request.headers
  if (!isTracing()) return new TraceContext(id, traceparent)
  // Fastify makes an object of the route at each access.
  const { routeOptions } = request
  if (routeOptions.config?.probe) return new TraceContext(id, traceparent)
  const known = METHODS.has(method) ? method : undefined
  const { url: route } = routeOptions
  return beginContext(id, traceparent, {
    name: route === undefined ? (known ?? 'HTTP') : `${known ?? 'HTTP'} ${route}`,
    kind: 'server',
    attributes: () => ({
      'http.request.method': known ?? '_OTHER',
      'url.scheme': request.protocol,
      'url.path': loggedPath(request),
      'network.protocol.version': request.raw.httpVersion,
      'client.address': request.ip,
      ...(route !== undefined && { 'http.route': route }),
    }),
  })
}

/** Ends the span of a request with its response, or when the client is gone. */
function endWith(span: Span, { raw: response }: FastifyReply): void {
  response.once('close', () => {
    const { statusCode } = response
    if (response.headersSent) span.set({ 'http.response.status_code': statusCode })
    if (!response.writableFinished) span.fail('aborted')
    else if (statusCode >= 500) span.fail(String(statusCode))
    span.end()
  })
}
