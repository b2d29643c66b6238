import { randomUUID } from 'node:crypto'
import type protocol from '@eventstore/db-client/generated/streams_pb.js'
import type { Log, Logged } from './log.ts'
import type { Send } from './reads.ts'
import {
  caughtUpMessage,
  checkpointMessage,
  commitOf,
  confirmationMessage,
  eventMessage,
  type LogPosition,
  nameOf,
  placeFrom,
  positionOf,
} from './wire.ts'

/** Maximum number of matches on a page of past events, and the default number of events that a page considers. */
const PAGE = 32

type Matches = (event: Logged) => boolean

export async function subscribeToAll(
  log: Log,
  options: protocol.ReadReq.Options,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const from = options.getAll()
  const position = from?.getPosition()
  const commit = BigInt(position?.getCommitPosition() ?? 0)
  const after = from?.hasEnd() ? await log.head() : position ? await placeSeen(log, commit) : 0
  const filter = options.getFilter()
  await send(confirmationMessage(randomUUID()))
  const isWanted = matcher(filter)
  const page = pages({ commit, prepare: 0n }, filter)
  let live = false
  for await (const item of log.follow(after, signal)) {
    if (item.kind === 'caughtUp') {
      // Past events are read until there are no more.
      if (live || item.place < (await log.head())) continue
      live = true
      await send(caughtUpMessage())
      continue
    }
    const matches = isWanted(item.event)
    if (matches) await send(eventMessage(item.event))
    const checkpoint = page(item.event, matches, live)
    if (checkpoint) await send(checkpointMessage(checkpoint))
  }
}

/**
 * The sequence number after which a subscription from a position continues. The server reads one record from the position
 * and assumes that the client has seen it. If a scavenge has removed the record at the position, this is the next record,
 * which the client has not seen: 23.10 loses it.
 */
async function placeSeen(log: Log, commit: bigint): Promise<number> {
  const before = Math.max(0, placeFrom(commit) - 1)
  for await (const { place } of log.readForwards(before)) return place
  return before
}

/**
 * Returns the checkpoint that is due after an event, if any. The server reads past events in pages. The checkpoint of a
 * page with matches is its last match, that of another page its beginning. For new events it is the event.
 */
function pages(start: LogPosition, filter: protocol.ReadReq.Options.FilterOptions | undefined) {
  const window = filter?.hasMax() ? filter.getMax() : PAGE
  const interval = window * (filter?.getCheckpointintervalmultiplier() ?? 0)
  let page = { start, considered: 0, matched: 0, last: undefined as LogPosition | undefined }
  let counter = 0

  return ({ place }: Logged, matches: boolean, live: boolean): LogPosition | undefined => {
    if (interval === 0) return undefined
    if (live) {
      counter += page.considered + 1
      page.considered = 0
      if (counter < interval) return undefined
      counter = 0
      return positionOf(place)
    }
    page.considered++
    if (matches) {
      page.matched++
      page.last = positionOf(place)
    }
    if (page.considered < window && page.matched < PAGE) return undefined
    counter += page.considered
    const checkpoint = page.last ?? page.start
    page = { start: { commit: commitOf(place + 1), prepare: 0n }, considered: 0, matched: 0, last: undefined }
    if (counter < interval) return undefined
    counter %= interval
    return checkpoint
  }
}

function matcher(filter: protocol.ReadReq.Options.FilterOptions | undefined): Matches {
  if (!filter) return () => true
  const expression = filter.getStreamIdentifier() ?? filter.getEventType()
  const subject = (event: Logged) => (filter.hasStreamIdentifier() ? event.stream : event.type)
  const prefixes = expression?.getPrefixList() ?? []
  const regex = expression?.getRegex() ?? ''
  if (prefixes.length > 0) return event => prefixes.some(prefix => subject(event).startsWith(prefix))
  const pattern = new RegExp(regex)
  return event => pattern.test(subject(event))
}

/** Subscribes to one stream, which may not exist yet. */
export async function subscribeToStream(
  log: Log,
  options: protocol.ReadReq.Options,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const from = options.getStream()
  const stream = nameOf(from?.getStreamIdentifier())
  const after = from?.hasEnd() ? await log.head() : 0
  const revision = from?.hasRevision() ? Number(from.getRevision()) : -1
  await send(confirmationMessage(randomUUID()))
  let live = false
  for await (const item of log.follow(after, signal)) {
    if (item.kind === 'event') {
      if (item.event.stream === stream && item.event.revision > revision) await send(eventMessage(item.event))
    } else if (!live) {
      live = true
      await send(caughtUpMessage())
    }
  }
}
