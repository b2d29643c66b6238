import { subjects } from '@gantry/contracts'
import type { Bus, StoredMessage } from '@gantry/messaging'
import type { Running } from './recovery.ts'

/** Maximum time by which the clocks of publishers may be ahead of the clock of the bus. */
const AHEAD_MS = 300_000

/**
 * Finds the sequence on the bus after which the events with a `time` of at least the given one (ISO 8601) lie. It may be
 * lower than necessary, but not lower than the last sequence that was removed because of its age.
 * @returns the sequence, exclusive
 */
export async function sequenceBefore(bus: Bus, time: string): Promise<number> {
  // The bus stores an event when it happens or later, so its `storedAt` is not before `time` except for clock
  // differences.
  const storedFrom = new Date(Date.parse(time) - AHEAD_MS).toISOString()
  let low = await bus.removedThrough([subjects.allEvents])
  let high = await bus.head()
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = await firstAfter(bus, middle)
    if (next && next.storedAt < storedFrom) low = next.sequence
    else high = middle
  }
  return low
}

async function firstAfter(bus: Bus, after: number): Promise<StoredMessage | undefined> {
  const enough = new AbortController()
  try {
    const options = { subjects: [subjects.allEvents], after, live: false, signal: enough.signal }
    for await (const message of bus.read(options)) return message
    return undefined
  } finally {
    enough.abort()
  }
}

/** A place on a bus that was lost and that relays have filled again. */
export interface Moved {
  /** Sequence after which events are missing. */
  position: number
  moved: { through: number; throughId: string }
}

/**
 * Finds where a recovery continues when the bus was lost: after the last event that it handled, or from its time.
 * @returns 'same' for the bus that it began on, 'incomplete' until relays have published its last event again
 */
export async function placeOf(bus: Bus, recovery: Running): Promise<Moved | 'same' | 'incomplete'> {
  const { through, throughId, last, from } = recovery
  if (throughId === null || (await bus.removedThrough([subjects.allEvents])) >= through) return 'same'
  const end = await firstAfter(bus, through - 1)
  if (end?.sequence === through && end.id === throughId) return 'same'
  const newest = await bus.last([subjects.allEvents])
  let position: number | undefined
  let isComplete = false
  const { signal } = new AbortController()
  for await (const { id, sequence } of bus.read({
    subjects: [subjects.allEvents],
    after: 0,
    live: false,
    signal,
  })) {
    if (id === last) position = sequence
    isComplete ||= id === throughId
  }
  if (!newest || !isComplete) return 'incomplete'
  const moved = { through: newest.sequence, throughId: newest.id }
  return { position: position ?? (await sequenceBefore(bus, from)), moved }
}
