import { subjects } from '@gantry/contracts'
import type { Bus, StoredMessage } from '@gantry/messaging'

/** Clocks of those who publish may be ahead of the bus by so much. */
const AHEAD_MS = 300_000

/**
 * Where on the bus the events that happened from a time on (ISO 8601) begin: exclusive, rather too early than too late,
 * but not before what has been removed because of its age.
 */
export async function placeOf(bus: Bus, time: string): Promise<number> {
  // An event is stored when it has happened, or later.
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
