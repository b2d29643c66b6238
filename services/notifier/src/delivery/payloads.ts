import { randomUUID } from 'node:crypto'
import {
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
  type PublicEvent,
  toCloudEvent,
  type WebhookFormat,
} from '@gantry/contracts'
import { type EventStore, NO_STREAM, streamName, WrongExpectedRevision } from '@gantry/event-sourcing'
import { LRUCache } from 'lru-cache'

/** The media types of request bodies. */
export const MEDIA_TYPES: Readonly<Record<WebhookFormat, string>> = {
  STANDARD: 'application/json',
  CLOUDEVENTS_STRUCTURED: CLOUDEVENTS_JSON,
  CLOUDEVENTS_BATCHED: CLOUDEVENTS_BATCH,
}

/** Maximum number of characters of cached bodies. An attempt needs the body soon after the delivery was created. */
const CACHED = 8_388_608

/** Number of characters from which on the append of a body may be refused as too large. */
const SMALL = 65_536

const streamOf = (eventId: string, format: WebhookFormat) => streamName('payload', `${eventId}-${format}`)

export interface PayloadsOptions {
  eventStore: EventStore
  now(): Date
  /** The address of the service for its clients, if it is known. */
  publicUrl: string | undefined
}

/**
 * The request bodies of events, as text. Each is stored once for an event and a format: all webhooks and attempts get the
 * same bytes. It is stored before the first delivery that needs it, and removed before the last one.
 */
export class Payloads {
  readonly #options: PayloadsOptions
  /** Number of characters of the bodies that are being stored, by stream. */
  readonly #appending = new Map<string, number>()
  readonly #bodies: LRUCache<string, string, () => Promise<string | undefined>>

  constructor(options: PayloadsOptions) {
    this.#options = options
    this.#bodies = new LRUCache({
      maxSize: CACHED,
      sizeCalculation: body => Math.min(body.length + 1, CACHED),
      fetchMethod: (_key, _stale, { context }) => context(),
    })
  }

  /** @throws AppendTooLarge */
  async store(event: PublicEvent, format: WebhookFormat): Promise<void> {
    const stream = streamOf(event.id, format)
    // A read that has begun before finds nothing.
    while (!(await this.#bodies.fetch(stream, { context: () => this.#append(stream, event, format) })));
  }

  /** Whether the body of an event is being stored and so small that its append cannot be refused as too large. */
  isSmall(eventId: string, format: WebhookFormat): boolean {
    return (this.#appending.get(streamOf(eventId, format)) ?? SMALL) < SMALL
  }

  /** The body of an event; undefined when it is not stored. */
  load(eventId: string, format: WebhookFormat): Promise<string | undefined> {
    const stream = streamOf(eventId, format)
    return this.#bodies.fetch(stream, { context: () => this.#read(stream) })
  }

  async remove(eventId: string): Promise<void> {
    for (const format of Object.keys(MEDIA_TYPES) as WebhookFormat[]) {
      const stream = streamOf(eventId, format)
      const last = await this.#options.eventStore.readLast(stream)
      if (last) await this.#options.eventStore.remove(stream, last.revision)
      this.#bodies.delete(stream)
    }
  }

  async #append(stream: string, event: PublicEvent, format: WebhookFormat): Promise<string | undefined> {
    const { eventStore, now, publicUrl } = this.#options
    const body = bodyOf(event, format, publicUrl)
    this.#appending.set(stream, body.length)
    const metadata = {
      actor: { id: null, name: 'notifier' },
      requestId: event.requestId,
      at: now().toISOString(),
      causationId: event.id,
    }
    try {
      const stored = { id: randomUUID(), type: 'PayloadStored', data: { body }, metadata }
      await eventStore.append(stream, [stored], NO_STREAM)
      return body
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error
      return this.#read(stream)
    } finally {
      this.#appending.delete(stream)
    }
  }

  async #read(stream: string): Promise<string | undefined> {
    const body = (await this.#options.eventStore.readLast(stream))?.data.body
    return body === undefined ? undefined : String(body)
  }
}

/** The request body of an event in a format. Readers of webhooks do not see who caused the event. */
function bodyOf(event: PublicEvent, format: WebhookFormat, publicUrl: string | undefined): string {
  const { id, type, source, subject, time, data, version, revision } = event
  // Standard Webhooks, "Payload structure".
  if (format === 'STANDARD') return JSON.stringify({ id, type, timestamp: time, data })
  const cloudEvent = toCloudEvent({ id, type, source, subject, time, data, version, revision }, publicUrl)
  return JSON.stringify(format === 'CLOUDEVENTS_BATCHED' ? [cloudEvent] : cloudEvent)
}

/** Event types whose data are an API. */
const OF_API: ReadonlySet<string> = new Set(['API_CREATED', 'API_UPDATED', 'API_DELETED'])

/** Id of the API that an event is about or that its data name as `api`, an id or a record; null if there is none. */
export function apiNamedIn({ type, data }: Pick<PublicEvent, 'type' | 'data'>): string | null {
  const named = OF_API.has(type) ? data : data.api
  const id = typeof named === 'object' && named !== null && 'id' in named ? named.id : named
  return typeof id === 'string' ? id.toLowerCase() : null
}
