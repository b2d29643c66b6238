import {
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
  EVENT_MEDIA_TYPES,
  type EventMediaType,
  Refusal,
  toCloudEvent,
} from '@gantry/contracts'
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import type { Chunk, Entry } from './streamed-events.ts'

interface Format {
  mediaType: EventMediaType
  /** An event as a part of the body. */
  event(entry: Entry): string
}

/** The form of a page of events. */
export interface PageFormat extends Format {
  kind: 'page'
  body(events: readonly string[], position: string): string
}

/** The form of a stream of events. */
export interface StreamFormat extends Format {
  kind: 'stream'
  /** Where the stream has arrived, without an event. */
  progress(position: string): string
  /** An empty line or comment, which keeps the connection open. */
  heartbeat: string
  /** The bytes of chunks that several followers get whole. */
  whole: WeakMap<Chunk, Buffer>
}

export type FeedFormat = PageFormat | StreamFormat
type EventText = (entry: Entry) => string

const page = (event: EventText): PageFormat => ({
  kind: 'page',
  mediaType: 'application/json',
  event,
  body: (events, position) => `{"content":[${events.join(',')}],"position":${JSON.stringify(position)}}`,
})

const batch = (event: EventText): PageFormat => ({
  kind: 'page',
  mediaType: CLOUDEVENTS_BATCH,
  event,
  body: events => `[${events.join(',')}]`,
})

const HEARTBEAT_LINE = '\n'

const lines = (
  mediaType: EventMediaType,
  event: EventText,
  progress: StreamFormat['progress'],
): StreamFormat => ({
  kind: 'stream',
  mediaType,
  event: entry => `${event(entry)}\n`,
  progress,
  heartbeat: HEARTBEAT_LINE,
  whole: new WeakMap(),
})

/** WHATWG HTML, "Server-sent events". An event without data only sets the last event id. */
const serverSent = (event: EventText): StreamFormat => ({
  kind: 'stream',
  mediaType: 'text/event-stream',
  event: entry => `id: ${entry.position}\ndata: ${event(entry)}\n\n`,
  progress: position => `id: ${position}\n\n`,
  heartbeat: ':\n\n',
  whole: new WeakMap(),
})

/** The form of a response. @param asCloudEvents whether the caller asks for CloudEvents in any media type */
export type FormatOf = (mediaType: EventMediaType, asCloudEvents: boolean) => FeedFormat

/** @param publicUrl the address of the service for its clients, if it is known */
export function feedFormats(publicUrl: string | undefined): FormatOf {
  const standard: EventText = ({ json }) => json
  const cloudEvent: EventText = ({ json, traceparent }) =>
    JSON.stringify(toCloudEvent({ ...JSON.parse(json), traceparent }, publicUrl))
  // Every line of a stream of CloudEvents is one.
  const noProgress = () => HEARTBEAT_LINE

  const ofCloudEvents: Record<EventMediaType, FeedFormat> = {
    'application/json': page(cloudEvent),
    'application/x-ndjson': lines('application/x-ndjson', cloudEvent, noProgress),
    'text/event-stream': serverSent(cloudEvent),
    [CLOUDEVENTS_BATCH]: batch(cloudEvent),
    [CLOUDEVENTS_JSON]: lines(CLOUDEVENTS_JSON, cloudEvent, noProgress),
  }
  const formats: Record<EventMediaType, FeedFormat> = {
    ...ofCloudEvents,
    'application/json': page(standard),
    'application/x-ndjson': lines(
      'application/x-ndjson',
      standard,
      position => `${JSON.stringify({ position })}\n`,
    ),
    'text/event-stream': serverSent(standard),
  }
  return (mediaType, asCloudEvents) => (asCloudEvents ? ofCloudEvents : formats)[mediaType]
}

/**
 * The media type that a caller prefers (RFC 9110 §12.5.1).
 * @throws Refusal not-acceptable
 */
export function requestedMediaType(request: FastifyRequest): EventMediaType {
  const mediaType = new Negotiator(request).mediaType(EVENT_MEDIA_TYPES)
  const found = EVENT_MEDIA_TYPES.find(each => each === mediaType)
  if (found) return found
  throw new Refusal('not-acceptable', { detail: `the media types are ${EVENT_MEDIA_TYPES.join(', ')}` })
}

/** The events of a chunk that pass a filter, as bytes of a stream; undefined when there is none. */
export function chunkBytes(
  format: StreamFormat,
  chunk: Chunk,
  passes: (entry: Entry) => boolean,
): Buffer | undefined {
  const entries = chunk.entries.filter(passes)
  if (entries.length === 0) return undefined
  const whole = entries.length === chunk.entries.length ? format.whole : undefined
  const known = whole?.get(chunk)
  if (known) return known
  const bytes = Buffer.from(entries.map(format.event).join(''))
  whole?.set(chunk, bytes)
  return bytes
}
