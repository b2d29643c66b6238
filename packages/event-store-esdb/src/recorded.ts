import type { AllStreamRecordedEvent, RecordedEvent as ClientEvent, EventData } from '@eventstore/db-client'
import { jsonEvent } from '@eventstore/db-client'
import {
  AppendTooLarge,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
  type NewEvent,
  type RecordedEvent,
  recordedEvent,
} from '@gantry/event-sourcing'
import { encode, type LogPosition } from './server/position.ts'

/**
 * Converts events for the client.
 * @throws AppendTooLarge before anything is sent: the server counts type, data and metadata
 */
export function toStore(stream: string, events: NewEvent[]): EventData[] {
  let bytes = 0
  for (const { type, data, metadata } of events) {
    bytes += type.length * 2 + Buffer.byteLength(JSON.stringify(data) + JSON.stringify(metadata))
  }
  if (events.length > MAX_APPEND_EVENTS || bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream)
  return events.map(({ id, type, data, metadata }) =>
    jsonEvent({ id, type, data: data as Record<string, unknown>, metadata: { ...metadata } }),
  )
}

type Stored = (ClientEvent | AllStreamRecordedEvent) & { position?: LogPosition }

/**
 * Converts an event of a service; undefined for events of the server, an operator or this adapter: stream metadata,
 * statistics, links, tombstones, snapshots, ends of removed streams.
 */
export function fromStore(event: Stored | undefined): RecordedEvent | undefined {
  if (!event?.position || isOfSystem(event)) return undefined
  if (event.type === STREAM_REMOVED && !event.isJson) return undefined
  return recordedEvent({
    id: event.id,
    type: event.type,
    stream: event.streamId,
    revision: Number(event.revision),
    position: encode(event.position),
    data: event.data,
    metadata: event.metadata,
    recordedAt: event.created.toISOString(),
  })
}

/** Type of the empty event, without JSON, that ends a stream before its removal. */
export const STREAM_REMOVED = 'StreamRemoved'

/** Prefix of the names of the streams that hold the snapshots of other streams. */
export const SNAPSHOTS = '~snapshot-'

export const isOfSystem = ({ streamId, type }: { streamId: string; type: string }): boolean =>
  streamId.startsWith('$') || type.startsWith('$') || streamId.startsWith(SNAPSHOTS)
