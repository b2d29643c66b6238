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

/** How many events a page of the past has at most, and how many it looks at when the client does not say. */
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
      // The past is read on for as long as there is more of it.
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
 * The place that a subscription from a position goes on after. The server reads one record from the position on and
 * takes it for the one that the client has seen. Where a scavenge has removed the record at the position, that is the
 * next one, which the client has not seen: 23.10 loses it.
 */
async function placeSeen(log: Log, commit: bigint): Promise<number> {
  const before = Math.max(0, placeFrom(commit) - 1)
  for await (const { place } of log.readForwards(before)) return place
  return before
}

/**
 * When a checkpoint is due, and which. Of the past the server reads pages, and tells of one in which something
 * matched its last match, of any other its beginning; of what comes it tells the event.
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

/** A stream of its own, which may not exist yet. */
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
