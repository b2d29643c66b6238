import { subjects } from '@gantry/contracts'
import type { Bus, StoredMessage } from '@gantry/messaging'

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
