import { Readable } from 'node:stream'
import {
  isProblemCode,
  mayReadEvent,
  type Parsed,
  PROBLEMS,
  type Principal,
  PublicEvent,
  readableData,
  type StreamedEvent,
  streamEvents,
  subjects,
} from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import type { Bus, MissedMessages } from '@gantry/messaging'
import { type Admit, ANONYMOUS, callerOf, checkQuery, noteCaller } from '@gantry/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'

const HEARTBEAT_MS = 15_000
const RECHECK_MS = 1_000
/** How long a reader who does not read may keep the end of the stream waiting. */
const GRACE_MS = 1_000

interface Format {
  mediaType: string
  event(event: z.infer<typeof StreamedEvent>): string
  /** Says nothing, and keeps the connection alive. */
  heartbeat: string
}

const NDJSON: Format = {
  mediaType: 'application/x-ndjson',
  event: event => `${JSON.stringify(event)}\n`,
  heartbeat: '\n',
}
/** WHATWG HTML, "Server-sent events". */
const SSE: Format = {
  mediaType: 'text/event-stream',
  event: event => `id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`,
  heartbeat: ':\n\n',
}

export interface EventStreamOptions {
  bus: Bus
  admit: Admit
  /** The caller as they are now, while they may still read. @throws Refusal when they may not */
  recheck(request: FastifyRequest): Promise<Principal>
  heartbeatMs?: number
  recheckMs?: number
}

/** GET /events: the public events in the order of the bus, from a position on. @returns ends all open streams */
export function eventStream(app: FastifyInstance, options: EventStreamOptions): () => void {
  const { bus, admit, recheck, heartbeatMs = HEARTBEAT_MS, recheckMs = RECHECK_MS } = options
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
      reply.headers({
        'content-type': format.mediaType,
        'cache-control': 'no-store',
        // Proxies of the nginx kind would hold events back until a buffer is full.
        'x-accel-buffering': 'no',
      })
      if (request.method === 'HEAD') return reply.send(Readable.from([]))

      const ended = new AbortController()
      let reader = callerOf(request) ?? ANONYMOUS
      const mayRead = (type: string) => mayReadEvent(reader.scopes, type)
      const reading = { after, follow: follow && !closing, mayRead, format, signal: ended.signal }
      const lines = linesOf(bus, reading)
      const body = Readable.from(lines, { objectMode: false })
      const heartbeat = setInterval(() => {
        if (body.readableLength === 0 && !ended.signal.aborted) body.push(format.heartbeat)
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
      const end = () => {
        ended.abort()
        setTimeout(() => reply.raw.destroy(), GRACE_MS).unref()
      }
      endings.add(end)
      reply.raw.once('close', () => {
        ended.abort()
        endings.delete(end)
        clearInterval(heartbeat)
        clearInterval(rechecking)
      })
      return reply.send(body)
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

/** @param removed place up to which events have been removed */
const positionGone = (removed: number) =>
  new Refusal('position-gone', {
    detail: `events up to position ${removed} have been removed because of their age: read after=${removed}`,
    oldestPosition: String(removed),
  })

interface Reading {
  /** From the oldest event that is there when it is not said. */
  after: number | undefined
  follow: boolean
  /** Whether the reader has the scope of an event type; events of others are left out. */
  mayRead(type: string): boolean
  format: Format
  signal: AbortSignal
}

/** One at a time, as the reader takes them: who reads slowly makes nothing pile up. */
async function* linesOf(
  bus: Bus,
  { after, follow, mayRead, format, signal }: Reading,
): AsyncGenerator<string> {
  // Lets the headers go out at once, however long the first event takes.
  if (follow) yield format.heartbeat
  let begun = after !== undefined
  let gone: MissedMessages | undefined
  for await (const { sequence, data } of bus.read({
    after: after ?? 0,
    subjects: [subjects.allEvents],
    live: follow,
    signal,
    missed(range) {
      if (begun) gone = range
    },
  })) {
    // Ends the stream without its end: its reader resumes after the last position, which is then refused.
    if (gone) throw positionGone(gone.through)
    begun = true
    const { data: event } = PublicEvent.safeParse(data)
    if (!event || !mayRead(event.type)) continue
    const readable = readableData(event.type, event.data)
    yield format.event({ ...event, data: readable, position: String(sequence) })
  }
}

/** Identity being away for a moment is no reason to end. */
const isRefused = (error: unknown) =>
  error instanceof Refusal && isProblemCode(error.code) && PROBLEMS[error.code].status < 500
