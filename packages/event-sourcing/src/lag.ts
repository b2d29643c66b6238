import type { Position } from './event.ts'
import type { EventStore } from './event-store.ts'

/** Maximum number of events that `lagAfter` reads. */
export const MAX_COUNTED = 1_000

/** The part of the log after a position. */
export interface Lag {
  /** Number of events, at most MAX_COUNTED. */
  events: number
  /** Age of the first event in seconds; 0 without one. */
  seconds: number
}

/** The lag of a reader that has passed all events up to `after`. Reads nothing but the head if there are no others. */
export async function lagAfter(
  eventStore: Pick<EventStore, 'head' | 'readAll'>,
  after: Position,
  now: Date,
): Promise<Lag> {
  if (after >= (await eventStore.head())) return { events: 0, seconds: 0 }
  let events = 0
  let seconds = 0
  for await (const { recordedAt } of eventStore.readAll({ after })) {
    if (events === 0) seconds = Math.max(0, (now.getTime() - Date.parse(recordedAt)) / 1_000)
    if (++events === MAX_COUNTED) break
  }
  return { events, seconds }
}
