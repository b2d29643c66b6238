import protocol from '@eventstore/db-client/generated/streams_pb.js'
import type { Log, Logged } from './log.ts'
import { eventMessage, nameOf, notFoundMessage, placeFrom } from './wire.ts'

export type Send = (message: protocol.ReadResp) => Promise<void>

const isBackwards = (options: protocol.ReadReq.Options) =>
  options.getReadDirection() === protocol.ReadReq.Options.ReadDirection.BACKWARDS

export async function readStream(log: Log, options: protocol.ReadReq.Options, send: Send): Promise<void> {
  const from = options.getStream()
  const stream = nameOf(from?.getStreamIdentifier())
  const events = await log.readStream(stream)
  if (!events) return send(notFoundMessage(stream))
  const revision = from?.hasRevision() ? Number(from.getRevision()) : undefined
  let chosen: Logged[]
  if (isBackwards(options)) {
    const last = from?.hasEnd() ? Number.POSITIVE_INFINITY : (revision ?? 0)
    chosen = events.filter(event => event.revision <= last).reverse()
  } else {
    const first = from?.hasEnd() ? Number.POSITIVE_INFINITY : (revision ?? 0)
    chosen = events.filter(event => event.revision >= first)
  }
  for (const event of chosen.slice(0, Number(options.getCount()))) await send(eventMessage(event))
}

/** A position is inclusive when reading forwards and exclusive when reading backwards. */
export async function readAll(log: Log, options: protocol.ReadReq.Options, send: Send): Promise<void> {
  const from = options.getAll()
  const position = from?.getPosition()
  const place = position ? placeFrom(BigInt(position.getCommitPosition())) : 1
  const end = (await log.head()) + 1
  const events = isBackwards(options)
    ? log.readBackwards(from?.hasEnd() ? end : place)
    : log.readForwards(from?.hasEnd() ? end : Math.max(0, place - 1))
  let left = Number(options.getCount())
  for await (const event of events) {
    if (left-- <= 0) return
    await send(eventMessage(event))
  }
}
