import { type Position, positionNumber } from './event.ts'
import type { EventStore } from './event-store.ts'

/** Maximum number of events that `lagAfter` reads. */
export const MAX_READ = 1_000

/** The part of the log after a position. */
export interface Lag {
  /** Number of events: exact up to MAX_READ, estimated above. */
  events: number
  /** Age of the first event in seconds; 0 without one. */
  seconds: number
}

/**
 * The lag of a reader that has passed all events up to `after`. Reads nothing but the head if there are no others. Above
 * MAX_READ events it assumes that positions grow by as much per event in the rest of the log as in the part it has read.
 */
export async function lagAfter(
  eventStore: Pick<EventStore, 'head' | 'readAll'>,
  after: Position,
  now: Date,
): Promise<Lag> {
  const head = await eventStore.head()
  if (after >= head) return { events: 0, seconds: 0 }
  let events = 0
  let seconds = 0
  for await (const { recordedAt, position } of eventStore.readAll({ after })) {
    if (events === 0) seconds = Math.max(0, (now.getTime() - Date.parse(recordedAt)) / 1_000)
    if (++events < MAX_READ) continue
    const [start, read, end] = [after, position, head].map(positionNumber) as [number, number, number]
    return { events: Math.max(events, Math.round((events * (end - start)) / (read - start))), seconds }
  }
  return { events, seconds }
}
