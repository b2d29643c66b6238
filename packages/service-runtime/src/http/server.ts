import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import {
  isDeeperThan,
  MAX_DEPTH,
  OPERATIONS,
  type Operation,
  Refusal,
  SERVICE_PATHS,
} from '@gantry/contracts'
import { atMostEvery } from '@gantry/pacing'
import { REQUEST_ID } from '@gantry/tracing'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import manifest from '../../package.json' with { type: 'json' }
import { measureBuffer } from '../service/buffers.ts'
import { accessOf } from './access-log.ts'
import { BodyMemory, bodyMetrics, countBodies, readBody } from './body-memory.ts'
import {
  CONNECTION_TIMEOUTS,
  type ConnectionLimits,
  type ConnectionTimeouts,
  limitConnections,
  refusingUnreadable,
} from './connections.ts'
import { answerProblem } from './problem.ts'
import { keepCallers, keepContexts } from './request-context.ts'
import { observeRequest } from './request-metrics.ts'
import { countResponses, ResponseMemory } from './response-memory.ts'

/** The release of this process, e.g. 1.4.0. */
export const RELEASE: string = manifest.version

/** Header of health checks with the release of the process. */
export const RELEASE_HEADER = 'x-gantry-release'

const POLL_MS = 10

/** Node's property of a socket with the response that is being made on it. */
type ServerSocket = Socket & { _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null }

/** The connections to the servers of a process. */
export class OpenConnections {
  readonly #sockets = new Set<ServerSocket>()
  #draining = false
  #dropsUnused = false

  /**
   * Watches the connections of a server. A connection to the second address of `localhost` is known from its first
   * request on.
   */
  watch(app: FastifyInstance): void {
    app.server.on('connection', (socket: Socket) => {
      if (this.#dropsUnused) socket.destroy()
      else this.#add(socket)
    })
    app.addHook('onRequest', (request, reply, done) => {
      this.#add(request.raw.socket)
      if (this.#draining) closeAfter(request.raw, reply.raw)
      done()
    })
  }

  #add(socket: ServerSocket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /**
   * Destroys the connections on which nothing was received, now and from now on. A server that closes would wait for their
   * first request; browsers open such connections in advance.
   */
  dropUnused(): void {
    this.#dropsUnused = true
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** From now on every response is the last one on its connection, those in progress included, and says so. */
  drain(): void {
    this.#draining = true
    for (const { _httpMessage: response } of this.#sockets) if (response) closeAfter(response.req, response)
  }

  /** Number of requests that have not been answered completely. */
  get requests(): number {
    return [...this.#sockets].filter(({ _httpMessage }) => _httpMessage).length
  }

  /** Resolves when no request is in progress. */
  async idle(): Promise<void> {
    while (this.requests > 0) await setTimeout(POLL_MS)
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/**
 * Sends `Connection: close` with the response. If the client is still sending a body that the response does not wait for,
 * the connection stays open: the client could not read the response on a closed one.
 */
function closeAfter(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const close = () => {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
  if (request.complete || ((length ?? '0') === '0' && encoding === undefined)) close()
  else request.once('end', close)
}

export interface ServerOptions {
  basePath: string
  log: Logger
  metrics: Registry
  now(): Date
  /** Why the process cannot answer requests, such as `waits for the log`; undefined when it is ready. */
  notReadyReason(): string | undefined
  /** Shared by the servers of a process. Default: 256 MiB and 128 MiB for this server. */
  memory?: ServerMemory
  clients?: ClientOptions
  builtIn?: BuiltInRoutes
}

/** Memory for request bodies and for responses. */
interface ServerMemory {
  bodies: BodyMemory
  responses: ResponseMemory
}

/** The connections of clients to a server. */
export interface ClientOptions {
  /** Addresses and networks of the proxies in front, whose X-Forwarded-For is trusted. Default: none. */
  trustProxy?: false | string[]
  /** Default: no limits. */
  connections?: ConnectionLimits
  /** Default: `CONNECTION_TIMEOUTS`. */
  timeouts?: ConnectionTimeouts
  /** Is told about the connections of the server. */
  open?: OpenConnections
}

/** The routes that a server adds itself. Default: both, health and metrics. */
interface BuiltInRoutes {
  routes: readonly ('health' | 'metrics')[]
  /** The port for internal requests to the process, if it is not the port of this server. */
  internalPort?(): number | undefined
}

/** The options of routes for health checks and scrapes. */
const PROBE = { config: { probe: true } } as const

/** Header of health checks with the port for internal requests to the process. */
export const INTERNAL_PORT_HEADER = 'x-gantry-internal-port'

/** Maximum depth of a body. Free-form values are members of the body, hence one more. */
const MAX_DEPTH_OF_BODY = MAX_DEPTH + 1
/** Maximum bytes of a body, unless its route has another limit. */
const BODY_LIMIT = 1_048_576
const ownMemory = (): ServerMemory => ({
  bodies: new BodyMemory(268_435_456),
  responses: new ResponseMemory(134_217_728),
})

/** In place of the compilers of fastify, which load ajv at each start: the contracts check requests and responses. */
const withoutSchemas = () => () => {
  throw new Error('a route has a schema of fastify, not a contract')
}
const NO_SCHEMAS = { compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas } }

/** The id that the client has given to a request, or a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** An HTTP server with the parts that all services have in common: request ids, problems, health, metrics, access log. */
export function httpServer(options: ServerOptions): FastifyInstance {
  const { basePath, log, metrics, now, builtIn = { routes: ['health', 'metrics'] } } = options
  const { trustProxy = false, connections, timeouts = CONNECTION_TIMEOUTS, open } = options.clients ?? {}
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // A child logger per request costs more than most requests. Log records contain the request id instead.
    childLoggerFactory: logger => logger,
    logController: new LogController({ disableRequestLogging: true }),
    // No limit, because the start can take long on a busy machine or with a slow disk.
    pluginTimeout: 0,
    bodyLimit: BODY_LIMIT,
    trustProxy,
    rewriteUrl: request => originForm(request.url ?? '/'),
    genReqId: requestIdOf,
    requestIdHeader: false,
    clientErrorHandler: refusingUnreadable(log),
    http: {
      headersTimeout: timeouts.headersMs,
      // How often Node looks for late requests; its default is 30 s.
      connectionsCheckingInterval: Math.ceil(timeouts.headersMs / 10),
    },
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionTimeout: timeouts.silentMs,
    schemaController: NO_SCHEMAS,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1_000 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      answerProblem(error, request, reply.header('x-request-id', request.id), now())
    },
  })
  keepContexts(app)
  open?.watch(app)
  keepCallers(app)
  const { bodies, responses } = options.memory ?? ownMemory()
  countBodies(app, bodies)
  countResponses(app, responses)
  if (connections) limitConnections(app.server, connections, log)
  takeJson(app)
  limitCaching(app)
  const observe = observeRequest(metrics)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const detail = ambiguityOf(request.raw, request.url)
    if (detail !== undefined) return done(new Refusal('malformed-request', { detail }))
    // Answered here, before the body is read: no route needs it.
    if (request.is404 && request.method === 'OPTIONS') return listMethods(request, reply, basePath, done)
    if (request.is404) return done(routeNotFound(request.method, request.url, basePath))
    if (request.method === 'GET' || request.method === 'HEAD') dropBody(request.raw)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply)
    const level = request.routeOptions.config?.probe ? 'debug' : 'info'
    if (log.isLevelEnabled(level)) log[level](accessOf(request, reply), 'answered')
    done()
  })
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, now()))
  app.setNotFoundHandler((request, reply) =>
    answerProblem(routeNotFound(request.method, request.url, basePath), request, reply, now()),
  )
  refuseForeignMethods(app, basePath)

  // Only the server that answers health checks registers the metrics of memory: they may be registered once.
  if (builtIn.routes.includes('health')) {
    answerHealth(app, options)
    bodyMetrics(bodies, metrics)
    measureBuffer(metrics, 'responses', () => responses.bytes)
  }
  if (builtIn.routes.includes('metrics')) {
    const compute = atMostEvery(METRICS_MS, () => metrics.metrics())
    app.get(`${basePath}/metrics`, PROBE, async (_request, reply) =>
      reply.header('content-type', metrics.contentType).send(await compute()),
    )
  }
  return app
}

/** Minimum time between two computations of the metrics, which take tens of milliseconds and need no credentials. */
const METRICS_MS = 1_000

function answerHealth(
  app: FastifyInstance,
  { basePath, metrics, now, notReadyReason, builtIn }: ServerOptions,
): void {
  new Gauge({
    name: 'gantry_ready',
    help: '1 while the process can answer requests, 0 while it waits for something',
    registers: [metrics],
    collect() {
      this.set(notReadyReason() === undefined ? 1 : 0)
    },
  })
  app.get(`${basePath}/health/live`, PROBE, async () => ({ status: 'live' }))
  app.get(`${basePath}/health/ready`, PROBE, async (request, reply) => {
    reply.header(RELEASE_HEADER, RELEASE)
    const port = builtIn?.internalPort?.()
    if (port !== undefined) reply.header(INTERNAL_PORT_HEADER, port)
    const detail = notReadyReason()
    if (detail === undefined) return { status: 'ready', time: now().toISOString() }
    return answerProblem(new Refusal('not-ready', { detail }), request, reply, now())
  })
}

/**
 * Accepts JSON bodies only: by default fastify accepts plain text as well. An empty body counts as absent, because many
 * clients send the content type of JSON without a body.
 */
function takeJson(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain')
  const json = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(['application/json', 'application/cloudevents+json'], (request, payload, done) =>
    readBody(request, payload, (error, body) => {
      if (error || !body?.length) done(error)
      else json(request, body.toString(), withinDepth(done))
    }),
  )
}

/**
 * Says for every response how it may be cached, unless its route does: a record with an entity tag by the client of one
 * caller, which asks each time whether it has changed; anything else not at all (RFC 9111 §5.2.2).
 */
function limitCaching(app: FastifyInstance): void {
  app.addHook('onSend', ({ method }, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) {
      const isRead = method === 'GET' || method === 'HEAD'
      const isRecord = isRead && reply.statusCode < 400 && reply.hasHeader('etag')
      reply.header('cache-control', isRecord ? 'private, no-cache' : 'no-store')
    }
    done()
  })
}

/** Reads and drops a body that no route reads: otherwise it would stay in memory until the response is complete. */
function dropBody(request: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (length !== undefined || encoding !== undefined) request.resume()
}

type Parsed = (error: Error | null, body?: unknown) => void

/** Refuses a parsed body that is too deep for recursive code, such as `JSON.stringify`. */
const withinDepth =
  (done: Parsed): Parsed =>
  (error, body) => {
    if (error || !isDeeperThan(body, MAX_DEPTH_OF_BODY)) return done(error, body)
    const message = `must be at most ${MAX_DEPTH_OF_BODY} levels deep`
    done(new Refusal('invalid-request', { detail: `the body ${message}`, errors: [{ field: '', message }] }))
  }

/** The refusal for a request without a route: 405 with the allowed methods if the path has other methods, else 404. */
function routeNotFound(method: string, url: string, basePath: string): Refusal {
  const allowed = methodsOf(url, basePath)
  // The method is allowed if another server has the operation: for this server the path does not exist.
  if (allowed.length === 0) return unknownPath(url, basePath)
  if (allowed.includes(method)) return new Refusal('not-found')
  return new Refusal('method-not-allowed', {
    detail: `${method} is not one of ${allowed.join(', ')}`,
    headers: { allow: allowed.join(', ') },
  })
}

/** Answers OPTIONS (RFC 9110 §9.3.7), or refuses a path that the interface does not have. */
function listMethods(
  { url }: FastifyRequest,
  reply: FastifyReply,
  basePath: string,
  done: (refusal: Refusal) => void,
): void {
  const allowed = methodsOf(url, basePath)
  if (allowed.length > 0) reply.code(204).header('allow', allowed.join(', ')).send()
  else done(unknownPath(url, basePath))
}

const unknownPath = (url: string, basePath: string) =>
  new Refusal('not-found', {
    detail: url.startsWith(`${basePath}/`)
      ? `no operation has this path: see ${basePath}/openapi.json`
      : `all paths begin with ${basePath}`,
  })

const isAt = (operation: Operation, path: string) =>
  new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)

/** Paths like `/apis/bulk` with the methods that they do not have, and `/apis/{api_id}` has. */
const FOREIGN_METHODS = [...new Set(OPERATIONS.map(({ path }) => path))]
  .filter(path => !path.includes('{'))
  .map(path => {
    const own = methodsOf(path, '')
    const others = OPERATIONS.filter(other => isAt(other, path) && !own.includes(other.method))
    return { path, methods: others.map(({ method }) => method) }
  })
  .filter(({ methods }) => methods.length > 0)

/** Refuses them, which the route of the other path would accept. */
function refuseForeignMethods(app: FastifyInstance, basePath: string): void {
  for (const { path, methods } of FOREIGN_METHODS)
    app.route({
      method: methods,
      url: `${basePath}${path}`,
      onRequest: ({ method, url }, _reply, done) => done(routeNotFound(method, url, basePath)),
      handler: () => {},
    })
}

/** The methods of a path of the interface, whichever server has it; none for another path. */
function methodsOf(url: string, basePath: string): readonly string[] {
  const path = (url.split('?')[0] ?? '').slice(basePath.length).replace(/\/$/, '')
  const literal = OPERATIONS.filter(operation => operation.path === path)
  const operations = literal.length > 0 ? literal : OPERATIONS.filter(operation => isAt(operation, path))
  const methods = operations.map(({ method }): string => method)
  if (path in SERVICE_PATHS) methods.push('GET')
  if (methods.includes('GET')) methods.push('HEAD')
  return methods.length > 0 ? [...new Set([...methods, 'OPTIONS'])] : []
}

/** Scheme, host, port and the rest. Does not match user info and percent-encoded hosts: programs parse them differently. */
const ABSOLUTE_FORM = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?((?:[/?#].*)?)$/i

/** The request target without scheme and authority, if the client sent them (absolute-form, RFC 9112 §3.2.2). */
function originForm(target: string): string {
  const rest = ABSOLUTE_FORM.exec(target)?.[1]
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The reason why programs may parse a request with a target in origin-form differently; undefined when there is none. */
function ambiguityOf({ rawHeaders }: IncomingMessage, target: string): string | undefined {
  // Node drops all but the first (RFC 9112 §3.2).
  if (rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1)
    return 'the request has more than one header Host'
  const [path = ''] = target.split('?')
  if (!path.startsWith('/')) return 'the request target is neither a path nor a URL of http or https'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for control characters
  if (/[\x00-\x1f\x7f]/.test(path)) return 'the path has a control character'
  // Some programs treat a backslash as a slash.
  if (path.includes('\\')) return 'the path has a backslash'
  // Some programs resolve such segments.
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) return 'the path has a segment that is . or ..'
  return undefined
}
