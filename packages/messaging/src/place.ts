import type { Bus, StoredMessage, Subjects } from './bus.ts'

/** Maximum time by which the clock of a caller may be ahead of the clock of the bus. */
const AHEAD_MS = 300_000

/** The messages that are searched: those on the subjects. `reader` is as in ReadOptions. */
type Searched = Pick<Subjects, 'subjects'> & { reader?: string }

/** The first message after a sequence (exclusive); undefined when there is none. */
export async function firstAfter(
  bus: Bus,
  searched: Searched,
  after: number,
): Promise<StoredMessage | undefined> {
  const enough = new AbortController()
  try {
    for await (const message of bus.read({ ...searched, after, live: false, signal: enough.signal }))
      return message
    return undefined
  } finally {
    enough.abort()
  }
}

/**
 * Finds a sequence (exclusive) after which all messages lie that were stored at a time (ISO 8601) or later. The result
 * may be lower than necessary, but not below the last message that was removed because of its age.
 */
export async function sequenceBefore(bus: Bus, searched: Searched, time: string): Promise<number> {
  const storedFrom = new Date(Date.parse(time) - AHEAD_MS).toISOString()
  let low = await bus.removedThrough(searched.subjects)
  let high = await bus.head()
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = await firstAfter(bus, searched, middle)
    if (next && next.storedAt < storedFrom) low = next.sequence
    else high = middle
  }
  return low
}
