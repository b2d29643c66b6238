import { type Position, type RecordedEvent, START } from '@gantry/event-sourcing'
import type { Row } from './event-file.ts'

export const toEvent = ([
  position,
  stream,
  revision,
  id,
  type,
  data,
  metadata,
  recordedAt,
]: Row): RecordedEvent => ({
  id,
  type,
  stream,
  revision,
  position: encode(position),
  data: JSON.parse(data),
  metadata: JSON.parse(metadata),
  recordedAt,
})

/** Padded to 16 digits, the width of Number.MAX_SAFE_INTEGER, so that the string order equals the numeric order. */
export const encode = (position: number): Position =>
  position === 0 ? START : String(position).padStart(16, '0')
export const decode = (position: Position) => Number(position)

/** The name of a stream up to and including its first dash; indexed. */
export const categoryOf = (stream: string) => stream.slice(0, stream.indexOf('-') + 1)
