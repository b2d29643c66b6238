import { PublicEvent, readableData, type StreamedEvent } from '@gantry/contracts'
import type { StoredMessage } from '@gantry/messaging'
import type { z } from 'zod'

/** A public event as readers of the stream get it. */
export interface Entry {
  position: number
  type: string
  /** The StreamedEvent, serialized. */
  json: string
}

/** Events in the order of the bus. */
export interface Chunk {
  entries: readonly Entry[]
  /** Position up to which this chunk and the ones before it contain all events. */
  through: number
}

/** A chunk of this many characters of JSON takes no further event. A reader that does not read holds one chunk. */
export const CHUNK_LENGTH = 32_768

/** @returns undefined for a message that is no public event */
export function entryOf({ sequence, data }: StoredMessage): Entry | undefined {
  const { data: event } = PublicEvent.safeParse(data)
  if (!event) return undefined
  const streamed: z.infer<typeof StreamedEvent> = {
    ...event,
    data: readableData(event.type, event.data),
    position: String(sequence),
  }
  return { position: sequence, type: event.type, json: JSON.stringify(streamed) }
}
