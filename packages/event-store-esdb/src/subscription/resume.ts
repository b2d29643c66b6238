import { BACKWARDS, type EventStoreDBClient } from '@eventstore/db-client'
import type { Position } from '@gantry/event-sourcing'
import { decode, encode, type LogPosition } from '../server/position.ts'
import { type ReadOptions, read } from '../server/read.ts'
import { type FeedItem, type FeedOptions, feed } from './feed.ts'

/**
 * A subscription to $all that delivers everything after a position, even if the record at that position no longer exists.
 *
 * EventStoreDB 23.10 reads one record from the start position of a subscription, assumes that the client has it, and
 * continues after it. When a scavenge has removed the record at that position, it reads the next record instead, which the
 * client never gets. The subscription therefore starts at the last record before the position, and items that are not after
 * the position are dropped.
 * @throws ForeignPosition
 */
export async function* feedAfter(
  client: EventStoreDBClient,
  after: Position,
  options: Omit<FeedOptions, 'from'>,
): AsyncGenerator<FeedItem[], void, undefined> {
  const position = decode(after)
  if (position === 'start') return yield* feed(client, { ...options, from: position })
  const isAfter = (item: FeedItem) => {
    if (item.kind === 'checkpoint') return encode(item.position) > after
    return item.kind !== 'event' || !item.resolved.event || encode(item.resolved.event.position) > after
  }
  while (!options.signal.aborted) {
    const from = await recordBefore(client, position, options)
    let begun = false
    for await (const burst of feed(client, { ...options, from })) {
      if (!begun && burst.length === 0) continue
      // A scavenge may have removed that record before the server read it.
      if (!begun && !isSame(await recordBefore(client, position, options), from)) break
      begun = true
      yield burst.filter(isAfter)
    }
    if (begun) return
  }
}

/** The position of the last record before a position; the start when there is none. */
async function recordBefore(
  client: EventStoreDBClient,
  position: LogPosition,
  options: ReadOptions,
): Promise<LogPosition | 'start'> {
  const page = client.readAll({ direction: BACKWARDS, fromPosition: position, maxCount: 1 })
  for await (const { event } of read(page, options)) if (event) return event.position
  return 'start'
}

const isSame = (a: LogPosition | 'start', b: LogPosition | 'start') =>
  a === b || (a !== 'start' && b !== 'start' && encode(a) === encode(b))
