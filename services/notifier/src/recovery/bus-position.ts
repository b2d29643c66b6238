import { subjects } from '@gantry/contracts'
import { type Bus, firstAfter, placeBefore, type StoredMessage } from '@gantry/messaging'
import type { End, Running } from './recovery.ts'

const EVENTS = { subjects: [subjects.allEvents] }

/** The last message of a range. */
export const endOf = ({ id, storedAt }: StoredMessage): End => ({ id, storedAt })

/** The sequence (exclusive) after which the events with a `time` of at least the given one (ISO 8601) lie, or a lower one. */
export const sequenceBeforeEvents = async (bus: Bus, time: string): Promise<number> =>
  // The bus stores an event when it happens or later.
  (await placeBefore(bus, EVENTS, time)).sequence

/** A place on a bus that was lost and that relays have filled again. */
export interface Moved {
  /** Sequence after which events are missing. */
  position: number
  moved: { through: number; end: End }
}

/**
 * Finds where a recovery continues when the bus was lost: at its time, because relays publish in another order.
 * @returns 'same' for the bus that it began on, 'incomplete' until relays have published its last event again
 */
export async function placeOf(bus: Bus, recovery: Running): Promise<Moved | 'same' | 'incomplete'> {
  const { through, end, from } = recovery
  if (end === null || (await bus.removedThrough(EVENTS.subjects)) >= through) return 'same'
  const found = await firstAfter(bus, EVENTS, through - 1)
  // The same message may have the same sequence again, after other messages.
  if (found?.sequence === through && found.id === end.id && found.storedAt === end.storedAt) return 'same'
  const newest = await bus.last(EVENTS.subjects)
  let isComplete = false
  const { signal } = new AbortController()
  for await (const { id } of bus.read({ ...EVENTS, after: 0, live: false, signal })) {
    isComplete = id === end.id
    if (isComplete) break
  }
  if (!newest || !isComplete) return 'incomplete'
  const moved = { through: newest.sequence, end: endOf(newest) }
  return { position: await sequenceBeforeEvents(bus, from), moved }
}
