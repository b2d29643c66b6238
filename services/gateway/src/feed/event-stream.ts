import { Readable } from 'node:stream'
import {
  CLOUDEVENTS_BATCH,
  type EventMediaType,
  invalidField,
  mayReadEvent,
  streamEvents,
} from '@gantry/contracts'
import { type Admit, ANONYMOUS, callerOf, checkQuery, measureBuffer, routeOf } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { type Recheck, recheckRegularly } from '../admission.ts'
import { eventChunks } from './event-chunks.ts'
import { eventFilter, type FeedQuery } from './event-filter.ts'
import { eventPage } from './event-page.ts'
import { eventTail } from './event-tail.ts'
import { feedBody } from './feed-body.ts'
import {
  type FeedFormat,
  feedFormats,
  type PageFormat,
  requestedMediaType,
  type StreamFormat,
} from './feed-formats.ts'
import { formatPosition } from './feed-position.ts'
import {
  type FeedSources,
  type FeedStart,
  firstPosition,
  requireComplete,
  resumedPosition,
} from './feed-start.ts'
import type { ReplaySlots } from './replay-slots.ts'
import type { Entry } from './streamed-events.ts'
import { timeSlices } from './time-slices.ts'

/** Time that a reader which does not read may delay the end of its stream; then the connection is destroyed. */
const GRACE_MS = 1_000

export interface EventStreamOptions {
  feed: FeedSources
  admit: Admit
  slots: ReplaySlots
  recheck: Recheck
  metrics: Registry
  now(): Date
  /** The address of the service for its clients, if it is known. */
  publicUrl?: string | undefined
  times?: Partial<typeof TIMES>
}

/** In milliseconds. */
const TIMES = {
  heartbeat: 15_000,
  recheck: 1_000,
  /** Total time that a reader may keep its replay waiting before it loses the slot. */
  slow: 5_000,
}

/** An admitted request for events. */
interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  query: FeedQuery & { follow: boolean }
  filter: ((entry: Entry) => boolean) | undefined
  start: FeedStart
}

/** GET /events: the public events after a position, as a page or as a stream. @returns function that ends all streams */
export function eventStream(app: FastifyInstance, options: EventStreamOptions): () => void {
  const { feed, admit, slots, recheck, now, metrics } = options
  const { bus } = feed
  const formatOf = feedFormats(options.publicUrl)
  const times = { ...TIMES, ...options.times }
  const slices = timeSlices()
  const tail = eventTail(bus, slices)
  measureBuffer(metrics, 'event-tail', tail.bytes)
  const sources = { bus, slots, slowMs: times.slow, slices, tail: tail.open }
  const responses = openResponses()
  let closing = false

  const sendPage = async ({ request, reply, query, filter, start }: Asked, format: PageFormat) => {
    const { ended } = responses.open(reply)
    const { scopes } = callerOf(request) ?? ANONYMOUS
    const passes = (entry: Entry) => mayReadEvent(scopes, entry.type) && (filter?.(entry) ?? true)
    try {
      const chunks = await eventChunks(sources, { start, follow: false, signal: ended.signal })
      const begin = formatPosition(start.position)
      const page = await eventPage({ chunks, passes, format, size: query.size, position: begin })
      // A buffer, because Fastify adds a charset to the media type of a text.
      return reply
        .headers({ ...headersOf(format), 'event-position': page.position })
        .send(Buffer.from(page.body))
    } finally {
      ended.abort()
    }
  }

  const sendStream = async ({ request, reply, query, filter, start }: Asked, format: StreamFormat) => {
    const { end, ended } = responses.open(reply)
    const { signal } = ended
    let reader = callerOf(request) ?? ANONYMOUS
    const passes = (entry: Entry) => mayReadEvent(reader.scopes, entry.type) && (filter?.(entry) ?? true)
    const { follow } = query
    const chunks = await eventChunks(sources, { start, follow: follow && !closing, signal })
    const { readable, tick } = feedBody({ chunks, format, passes, follow })
    const ticking = setInterval(() => {
      if (!signal.aborted) tick()
    }, times.heartbeat)
    recheckRegularly(reply, {
      everyMs: times.recheck,
      recheck: () => recheck(request, streamEvents),
      admitted: principal => {
        reader = principal
      },
      refused: end,
    })
    reply.raw.once('close', () => clearInterval(ticking))
    return reply.headers(headersOf(format)).send(readable)
  }

  app.route({
    ...routeOf(streamEvents, admit),
    async handler(request, reply) {
      const mediaType = requestedMediaType(request)
      const query = requestedEvents(request, mediaType)
      const format = formatOf(mediaType, query.format === 'cloudevents')
      const filter = eventFilter(query, now())
      const start = await startOf(feed, query)
      if (request.method === 'HEAD') return reply.headers(headersOf(format)).send(Readable.from([]))
      const asked = { request, reply, query, filter, start }
      return format.kind === 'page' ? sendPage(asked, format) : sendStream(asked, format)
    },
  })

  return () => {
    closing = true
    responses.endAll()
  }
}

function openResponses() {
  const endings = new Set<() => void>()
  return {
    /** @returns function that ends the response, and what aborts when it ends or its connection closes */
    open(reply: FastifyReply) {
      const ended = new AbortController()
      const end = () => {
        ended.abort()
        setTimeout(() => reply.raw.destroy(), GRACE_MS).unref()
      }
      endings.add(end)
      reply.raw.once('close', () => {
        ended.abort()
        endings.delete(end)
      })
      if (reply.raw.destroyed) ended.abort()
      return { end, ended }
    },
    endAll() {
      for (const end of endings) end()
    },
  }
}

const PAGES: ReadonlySet<EventMediaType> = new Set(['application/json', CLOUDEVENTS_BATCH])

/**
 * The query of a request. For server-sent events the header Last-Event-ID takes precedence over `after`.
 * @throws Refusal invalid-request
 */
function requestedEvents(request: FastifyRequest, mediaType: EventMediaType): Asked['query'] {
  const isSse = mediaType === 'text/event-stream'
  const isPage = PAGES.has(mediaType)
  const seen = isSse ? request.headers['last-event-id'] : undefined
  const given = { ...(request.query as object), ...(seen && { after: seen }) }
  const query = checkQuery(streamEvents.query, given) as FeedQuery
  const { follow = isSse } = query
  if (isSse && !follow) throw invalidField('follow', 'must not be false for text/event-stream')
  if (isPage && follow)
    throw invalidField('follow', 'needs the media type application/x-ndjson or text/event-stream')
  if (!isPage && 'size' in given)
    throw invalidField('size', `is only for the media types ${[...PAGES].join(' and ')}`)
  return { ...query, follow }
}

async function startOf(feed: FeedSources, { after, from, follow }: Asked['query']): Promise<FeedStart> {
  if (after === undefined) return firstPosition(feed.bus, from === undefined ? undefined : new Date(from))
  const start = await resumedPosition(feed, after)
  if (!follow) await requireComplete(feed.bus, start.position)
  return start
}

const headersOf = ({ kind, mediaType }: FeedFormat) => ({
  // Exactly as documented: generated clients in Go choose the type of the body by it.
  'content-type': mediaType,
  'cache-control': 'no-store',
  vary: 'accept',
  ...(kind === 'stream' && {
    // A connection that stays open after the stream would delay the shutdown of the service.
    connection: 'close',
    // Otherwise proxies such as nginx buffer events before they pass them on.
    'x-accel-buffering': 'no',
  }),
})
