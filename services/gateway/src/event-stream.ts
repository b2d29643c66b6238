import { Readable } from 'node:stream'
import {
  mayReadEvent,
  type Parsed,
  PROBLEMS,
  type Principal,
  Refusal,
  streamEvents,
  subjects,
} from '@gantry/contracts'
import type { Bus } from '@gantry/messaging'
import { type Admit, ANONYMOUS, callerOf, checkQuery, noteCaller } from '@gantry/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { eventChunks, positionGone } from './event-chunks.ts'
import { eventTail } from './event-tail.ts'
import type { ReplaySlots } from './replay-slots.ts'
import type { Chunk, Entry } from './streamed-events.ts'
import { timeSlices } from './time-slices.ts'

const HEARTBEAT_MS = 15_000
const RECHECK_MS = 1_000
/** Time that a reader which does not read may delay the end of its stream; then the connection is destroyed. */
const GRACE_MS = 1_000
/** Bytes that are buffered per reader, in addition to one chunk and the buffer of the socket. */
const BUFFERED_BYTES = 16_384

interface Format {
  mediaType: string
  event(entry: Entry): string
  /** An empty line or comment, which keeps the connection open. */
  heartbeat: string
}

const NDJSON: Format = {
  mediaType: 'application/x-ndjson',
  event: ({ json }) => `${json}\n`,
  heartbeat: '\n',
}
/** WHATWG HTML, "Server-sent events". */
const SSE: Format = {
  mediaType: 'text/event-stream',
  event: ({ position, json }) => `id: ${position}\ndata: ${json}\n\n`,
  heartbeat: ':\n\n',
}

export interface EventStreamOptions {
  bus: Bus
  admit: Admit
  slots: ReplaySlots
  /** The current principal of the caller. @throws Refusal when they may no longer read the stream */
  recheck(request: FastifyRequest): Promise<Principal>
  heartbeatMs?: number
  recheckMs?: number
  /** Total time that a reader may keep its replay waiting before it loses the slot, in milliseconds. Default: 5,000. */
  slowMs?: number
}

/** GET /events: the public events in the order of the bus, after a position. @returns function that ends all streams */
export function eventStream(app: FastifyInstance, options: EventStreamOptions): () => void {
  const { bus, admit, slots, slowMs, recheck, heartbeatMs = HEARTBEAT_MS, recheckMs = RECHECK_MS } = options
  const slices = timeSlices()
  const sources = { bus, slots, slowMs, slices, tail: eventTail(bus, slices) }
  const endings = new Set<() => void>()
  let closing = false

  app.route({
    method: 'GET',
    url: streamEvents.path,
    async onRequest(request, reply) {
      noteCaller(request, await admit(request, reply, streamEvents))
    },
    async handler(request, reply) {
      const format = request.headers.accept?.includes(SSE.mediaType) ? SSE : NDJSON
      const { after, follow } = requestedRange(request, format)
      if (after !== undefined) await requireAvailable(bus, after)
      const headers = {
        'content-type': format.mediaType,
        'cache-control': 'no-store',
        // A connection that stays open after the stream would delay the shutdown of the service.
        connection: 'close',
        // Otherwise proxies such as nginx buffer events before they pass them on.
        'x-accel-buffering': 'no',
      }
      if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]))

      const ended = new AbortController()
      let reader = callerOf(request) ?? ANONYMOUS
      const mayRead = (type: string) => mayReadEvent(reader.scopes, type)
      const { signal } = ended
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
      const chunks = await eventChunks(sources, { after, follow: follow && !closing, signal })
      const body = Readable.from(linesOf(chunks, { follow, mayRead, format }), {
        objectMode: false,
        highWaterMark: BUFFERED_BYTES,
      })
      const heartbeat = setInterval(() => {
        if (body.readableLength === 0 && !body.readableEnded && !signal.aborted) body.push(format.heartbeat)
      }, heartbeatMs)
      const rechecking = setInterval(() => {
        recheck(request).then(
          principal => {
            reader = principal
          },
          error => {
            if (isRefused(error)) end()
          },
        )
      }, recheckMs)
      reply.raw.once('close', () => {
        clearInterval(heartbeat)
        clearInterval(rechecking)
      })
      return reply.headers(headers).send(body)
    },
  })

  return () => {
    closing = true
    for (const end of endings) end()
  }
}

type Query = Parsed<NonNullable<typeof streamEvents.query>>

/** The position to begin after. For server-sent events the header Last-Event-ID takes precedence over the query. */
function requestedRange(
  request: FastifyRequest,
  format: Format,
): { after: number | undefined; follow: boolean } {
  const seen = format === SSE ? request.headers['last-event-id'] : undefined
  const given = { ...(request.query as object), ...(seen && { after: seen }) }
  const { after, follow } = checkQuery(streamEvents.query, given) as Query
  return { after: after === undefined ? undefined : Number(after), follow }
}

/** @throws Refusal when events after the position have been removed: the reader would miss them without notice */
async function requireAvailable(bus: Bus, after: number): Promise<void> {
  const removed = await bus.removedThrough([subjects.allEvents])
  if (after < removed) throw positionGone(removed)
}

/**
 * One chunk at a time, when the reader asks for it, so that events do not pile up for a slow reader. Events whose type the
 * reader may not read are left out.
 */
async function* linesOf(
  chunks: AsyncIterable<Chunk>,
  { follow, mayRead, format }: { follow: boolean; mayRead(type: string): boolean; format: Format },
): AsyncGenerator<string> {
  // Sends the headers at once, even if the first event comes much later.
  if (follow) yield format.heartbeat
  for await (const { entries } of chunks) {
    const readable = entries.filter(({ type }) => mayRead(type))
    if (readable.length > 0) yield readable.map(format.event).join('')
  }
}

/** A stream does not end when identity is unavailable, only when it refuses the caller. */
const isRefused = (error: unknown) => error instanceof Refusal && PROBLEMS[error.code].status < 500
