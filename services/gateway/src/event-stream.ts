import { Readable } from 'node:stream'
import {
  isProblemCode,
  mayReadEvent,
  type Parsed,
  PROBLEMS,
  type Principal,
  streamEvents,
  subjects,
} from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import { type Admit, ANONYMOUS, callerOf, checkQuery, noteCaller } from '@gantry/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { eventChunks, positionGone } from './event-chunks.ts'
import { eventTail } from './event-tail.ts'
import type { ReplaySlots } from './replay-slots.ts'
import type { Chunk, Entry } from './streamed-events.ts'
import { turns } from './turns.ts'

const HEARTBEAT_MS = 15_000
const RECHECK_MS = 1_000
/** How long a reader who does not read may keep the end of the stream waiting. */
const GRACE_MS = 1_000
/** Bytes that wait for a reader, beside one chunk and what the socket holds. */
const BUFFERED_BYTES = 16_384

interface Format {
  mediaType: string
  event(entry: Entry): string
  /** Says nothing, and keeps the connection alive. */
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
  /** The caller as they are now, while they may still read. @throws Refusal when they may not */
  recheck(request: FastifyRequest): Promise<Principal>
  heartbeatMs?: number
  recheckMs?: number
  /** How long a reader may keep a replay waiting, in sum, until others get its slot. */
  slowMs?: number
}

/** GET /events: the public events in the order of the bus, from a position on. @returns ends all open streams */
export function eventStream(app: FastifyInstance, options: EventStreamOptions): () => void {
  const { bus, admit, slots, slowMs, recheck, heartbeatMs = HEARTBEAT_MS, recheckMs = RECHECK_MS } = options
  const sharing = turns()
  const sources = { bus, slots, slowMs, turns: sharing, tail: eventTail(bus, sharing) }
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
      const { after, follow } = placeOf(request, format)
      if (after !== undefined) await requireThere(bus, after)
      const headers = {
        'content-type': format.mediaType,
        'cache-control': 'no-store',
        // A connection that is kept open after the stream would delay the end of the service.
        connection: 'close',
        // Proxies of the nginx kind would hold events back until a buffer is full.
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

/** Where to begin: what a reader of server-sent events has seen goes before what its URL says. */
function placeOf(request: FastifyRequest, format: Format): { after: number | undefined; follow: boolean } {
  const seen = format === SSE ? request.headers['last-event-id'] : undefined
  const given = { ...(request.query as object), ...(seen && { after: seen }) }
  const { after, follow } = checkQuery(streamEvents.query, given) as Query
  return { after: after === undefined ? undefined : Number(after), follow }
}

/** @throws Refusal when events after the position have been removed: reading on would leave them out unnoticed */
async function requireThere(bus: Bus, after: number): Promise<void> {
  const removed = await bus.removedThrough([subjects.allEvents])
  if (after < removed) throw positionGone(removed)
}

/**
 * One chunk at a time, as the reader takes them: what a slow reader has not taken does not pile up. Events whose type the
 * reader may not read are left out.
 */
async function* linesOf(
  chunks: AsyncIterable<Chunk>,
  { follow, mayRead, format }: { follow: boolean; mayRead(type: string): boolean; format: Format },
): AsyncGenerator<string> {
  // Lets the headers go out at once, however long the first event takes.
  if (follow) yield format.heartbeat
  for await (const { entries } of chunks) {
    const readable = entries.filter(({ type }) => mayRead(type))
    if (readable.length > 0) yield readable.map(format.event).join('')
  }
}

/** Identity being away for a moment is no reason to end. */
const isRefused = (error: unknown) =>
  error instanceof Refusal && isProblemCode(error.code) && PROBLEMS[error.code].status < 500
