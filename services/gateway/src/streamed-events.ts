import { PublicEvent, readableData, type StreamedEvent } from '@gantry/contracts'
import type { StoredMessage } from '@gantry/messaging'
import type { z } from 'zod'

/** A public event as readers get it. */
export interface Entry {
  position: number
  type: string
  /** The StreamedEvent. */
  json: string
}

/** Events in the order of the bus. */
export interface Chunk {
  entries: readonly Entry[]
  /** Position up to which there is no other event after the chunk before. */
  through: number
}

/** Characters of JSON from which a chunk takes no further event: a reader who does not read holds so much memory. */
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
