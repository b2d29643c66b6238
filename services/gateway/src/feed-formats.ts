import { EVENT_MEDIA_TYPES, type EventMediaType, Refusal } from '@gantry/contracts'
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import type { Chunk, Entry } from './streamed-events.ts'

/** The form of a stream of events. */
export interface StreamFormat {
  mediaType: EventMediaType
  event(entry: Entry): string
  /** Where the stream has arrived, without an event. */
  progress(position: string): string
  /** An empty line or comment, which keeps the connection open. */
  heartbeat: string
}

const NDJSON: StreamFormat = {
  mediaType: 'application/x-ndjson',
  event: ({ json }) => `${json}\n`,
  progress: position => `${JSON.stringify({ position })}\n`,
  heartbeat: '\n',
}
/** WHATWG HTML, "Server-sent events". An event without data only sets the last event id. */
const SSE: StreamFormat = {
  mediaType: 'text/event-stream',
  event: ({ position, json }) => `id: ${position}\ndata: ${json}\n\n`,
  progress: position => `id: ${position}\n\n`,
  heartbeat: ':\n\n',
}
const STREAMS = new Map<string, StreamFormat>([NDJSON, SSE].map(format => [format.mediaType, format]))

/**
 * The form that a caller prefers (RFC 9110 §12.5.1).
 * @returns undefined for a page
 * @throws Refusal not-acceptable
 */
export function requestedFormat(request: FastifyRequest): StreamFormat | undefined {
  const mediaType = new Negotiator(request).mediaType(EVENT_MEDIA_TYPES)
  if (mediaType === undefined)
    throw new Refusal('not-acceptable', { detail: `the media types are ${EVENT_MEDIA_TYPES.join(', ')}` })
  return STREAMS.get(mediaType)
}

/** The texts of chunks that several followers get whole. */
const wholeChunks = new Map([NDJSON, SSE].map(format => [format, new WeakMap<Chunk, Buffer>()] as const))

/** The events of a chunk that pass a filter, as bytes of a stream; undefined when there is none. */
export function chunkBytes(
  format: StreamFormat,
  chunk: Chunk,
  passes: (entry: Entry) => boolean,
): Buffer | undefined {
  const entries = chunk.entries.filter(passes)
  if (entries.length === 0) return undefined
  const whole = entries.length === chunk.entries.length ? wholeChunks.get(format) : undefined
  const known = whole?.get(chunk)
  if (known) return known
  const bytes = Buffer.from(entries.map(format.event).join(''))
  whole?.set(chunk, bytes)
  return bytes
}
