import type { Bus, StoredMessage, Subjects } from './bus.ts'

/** Maximum time by which the clock of a caller may be ahead of the clock of the bus. */
const AHEAD_MS = 300_000

/** The subjects to search, and `reader` as in ReadOptions. */
type Searched = Pick<Subjects, 'subjects'> & { reader?: string }

/** The first message after a sequence (exclusive); undefined when there is none. */
export async function firstAfter(
  bus: Bus,
  searched: Searched,
  after: number,
): Promise<StoredMessage | undefined> {
  const enough = new AbortController()
  const options = { ...searched, after, live: false, signal: enough.signal }
  const messages = bus.read(options)[Symbol.asyncIterator]()
  const { value } = await messages.next()
  enough.abort()
  // A failure to end the read does not concern the message.
  await messages.return?.().catch(() => {})
  return value
}

/**
 * Finds, by bisection, a sequence that precedes all messages that were stored at a time (ISO 8601) or later. It can be
 * earlier than necessary, but at the earliest that of the last message that was removed because of its age.
 * @returns its sequence, and the message there, unless that was removed
 */
export async function placeBefore(
  bus: Bus,
  searched: Searched,
  time: string,
): Promise<{ sequence: number; message?: StoredMessage }> {
  const storedFrom = new Date(Date.parse(time) - AHEAD_MS).toISOString()
  let low: { sequence: number; message?: StoredMessage } = {
    sequence: await bus.removedThrough(searched.subjects),
  }
  let high = await bus.head()
  while (low.sequence < high) {
    const middle = Math.floor((low.sequence + high) / 2)
    const next = await firstAfter(bus, searched, middle)
    if (next && next.storedAt < storedFrom) low = { sequence: next.sequence, message: next }
    else high = middle
  }
  return low
}
