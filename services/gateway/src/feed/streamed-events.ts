import type { PublicEvent } from '@gantry/contracts'
import type { Json, StoredMessage } from '@gantry/messaging'
import { traceIdOf } from '@gantry/tracing'

/** A public event as readers of the feed get it. */
export interface Entry {
  /** Sequence on the bus. */
  sequence: number
  /** Position of a reader after this event. */
  position: string
  type: string
  time: string
  /** Ids of the resource, of the API and the webhook in the data, and of the user that caused the event. */
  subject: string
  api: string | undefined
  webhook: string | undefined
  actor: string | null
  /** The trace of the request that caused the event. */
  traceparent: string | undefined
  /** The StreamedEvent, serialized. */
  json: string
}

/** Events in the order of the bus. */
export interface Chunk {
  entries: readonly Entry[]
  /** Sequence up to which this chunk and the ones before it contain all events. */
  through: number
  /** Position of a reader after this chunk. */
  position: string
}

/** A chunk of this many characters of JSON takes no further event. A reader that does not read holds one chunk. */
export const CHUNK_LENGTH = 32_768

/** @returns undefined for a message that is no public event */
export function entryOf({ sequence, data, headers }: StoredMessage, position: string): Entry | undefined {
  if (!isPublicEvent(data)) return undefined
  const { type, time, subject, actor } = data
  const { api, webhook } = data.data
  const traceparent = headers?.traceparent
  return {
    ...{ sequence, position, type, time, subject },
    api: idOf(api),
    webhook: idOf(webhook),
    actor: actor.id,
    traceparent,
    json: JSON.stringify({
      ...data,
      traceId: traceparent === undefined ? null : traceIdOf(traceparent),
      position,
    }),
  }
}

/** The id of a resource in the data of an event, which is there as id or as record. */
const idOf = (value: unknown): string | undefined => {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : value
  return typeof id === 'string' ? id : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Events of later releases can have further members, which are passed on. */
function isPublicEvent(data: Json): data is PublicEvent & { [key: string]: Json } {
  return (
    isObject(data) &&
    ['id', 'type', 'source', 'subject', 'time'].every(name => typeof data[name] === 'string') &&
    typeof data.revision === 'number' &&
    isObject(data.data) &&
    isObject(data.actor)
  )
}
