import cors from '@fastify/cors'
import type { Bus } from '@gantry/messaging'
import type { Admit, Peers } from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { admission, principals, recheckOf } from './admission.ts'
import { webConsole } from './console.ts'
import { apiCatalogRoute } from './documentation/api-catalog.ts'
import { documentation } from './documentation/documentation.ts'
import { eventSchemaRoutes } from './documentation/event-schemas.ts'
import { eventStream } from './feed/event-stream.ts'
import { replaySlots } from './feed/replay-slots.ts'
import type { RateCounts } from './rates/rate-counts.ts'
import { type RateLimits, rateLimits } from './rates/rate-limits.ts'
import { recordRefusals } from './refusals.ts'
import { representations } from './representation.ts'
import type { GatewaySettings } from './settings.ts'

export interface GatewayDependencies {
  bus: Bus
  peers: Pick<Peers, 'ask'>
  now(): Date
  metrics: Registry
  /** Shared counters of all replicas. Without them each replica counts for itself. */
  counts?: RateCounts
  /** What the start of the process waits for; until it has ended, no request is admitted. */
  starting?(): string | undefined
}

/** The edge of the HTTP interface: authentication, rate limits, and what concerns all operations. */
export interface Gateway {
  admit: Admit
  /** Adds rate limits, CORS, security headers, documentation and event stream; called before services add their routes. */
  edge(app: FastifyInstance): Promise<void>
  start(): Promise<void>
  /** Ends the open event streams. */
  stop(): Promise<void>
}

/** Streams of GET /events that read past events at the same time. */
const CONCURRENT_REPLAYS = 32
/** No response of the interface is a page: browsers must not run scripts in it, frame it or guess its type. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const READABLE_BY_PAGES = [
  'Authorization',
  'ETag',
  'Event-Position',
  'Idempotency-Replayed',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
]

export function gateway(dependencies: GatewayDependencies, settings: GatewaySettings): Gateway {
  const { bus, peers, now, metrics, counts, starting } = dependencies
  const known = principals({ bus, peers, now })
  let limits: RateLimits = {}
  const admit = admission(known, () => limits, starting, settings.PUBLIC_CATALOG)
  let unlisten: (() => void)[] = []
  let endStreams = () => {}

  return {
    admit,
    async edge(app) {
      app.addHook('onRequest', (_request, reply, done) => {
        reply.headers(SECURITY_HEADERS)
        done()
      })
      representations(app)
      recordRefusals(app, { peers, now })
      if (settings.CORS_ORIGINS.length > 0) {
        await app.register(cors, {
          origin: settings.CORS_ORIGINS,
          methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
          exposedHeaders: READABLE_BY_PAGES,
          maxAge: 600,
          strictPreflight: false,
        })
      }
      limits = await rateLimits(app, {
        perMinute: settings.RATE_LIMIT_PER_MINUTE,
        loginsPerMinute: settings.LOGIN_LIMIT_PER_MINUTE,
        ...(counts && { store: counts.Store }),
      })
      await documentation(app, settings.PUBLIC_URL)
      await webConsole(app)
      apiCatalogRoute(app, { admit, peers, publicUrl: settings.PUBLIC_URL })
      eventSchemaRoutes(app, { admit, root: settings.PUBLIC_URL ?? app.prefix })
      endStreams = eventStream(app, {
        publicUrl: settings.PUBLIC_URL,
        feed: { bus, peers },
        admit,
        now,
        slots: replaySlots(CONCURRENT_REPLAYS, metrics),
        recheck: recheckOf(known),
        metrics,
      })
      app.addHook('preClose', async () => endStreams())
    },
    async start() {
      unlisten = [known.listen(), ...(counts ? [counts.start()] : [])]
    },
    async stop() {
      for (const end of unlisten) end()
      endStreams()
    },
  }
}
