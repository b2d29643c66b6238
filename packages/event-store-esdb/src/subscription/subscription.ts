import { streamNameFilter } from '@eventstore/db-client'
import type { Position, ReadAllOptions, SubscriptionItem } from '@gantry/event-sourcing'
import { fromStore } from '../recorded.ts'
import { encode, later } from '../server/position.ts'
import type { Connection } from '../server/server.ts'
import { feedAfter } from './resume.ts'

/**
 * Number of events that the server examines between two checkpoints. Each step costs a read and a message, so a small number
 * causes many messages.
 */
const WINDOW = 2_000

/** Minimum interval of positions that a live subscription reports while all new events are outside of it. */
const OTHERS_EVERY_MS = 100

interface LogReading extends ReadAllOptions {
  signal: AbortSignal
  timeoutMs: number
}

/** Reads the events that are in the log. Ends with `caughtUp` once everything up to the head has been delivered. */
export async function* eventsUpTo(
  head: Position,
  { client, left }: Connection,
  { after, streamPrefixes, signal, timeoutMs }: LogReading,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  let position = after
  const filter = streamPrefixes ? byPrefix(streamPrefixes) : ofServices
  const bursts = feedAfter(client, after, { filter, signal, left, timeoutMs })
  for await (const burst of streamPrefixes?.length === 0 ? [[{ kind: 'caughtUp' as const }]] : bursts) {
    for (const item of burst) {
      if (signal.aborted) return
      if (item.kind === 'event') {
        const event = fromStore(item.resolved.event)
        if (event) {
          position = event.position
          yield { kind: 'event', event }
        }
      } else if (item.kind === 'checkpoint') {
        const reached = encode(item.position)
        if (reached > position) {
          position = reached
          yield { kind: 'checkpoint', position }
        }
      } else if (item.kind === 'caughtUp') {
        return yield { kind: 'caughtUp', position: later(position, head) }
      }
    }
  }
}

/**
 * Delivers new events. On a filtered subscription the server reports no progress for up to thousands of events of other
 * streams. This subscription is therefore on all streams and filters here, so that a reader can wait for any position.
 */
export async function* newEvents(
  { client, left }: Connection,
  { after, streamPrefixes, signal, timeoutMs }: LogReading,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const isWanted = (stream: string) => streamPrefixes?.some(prefix => stream.startsWith(prefix)) ?? true
  let position = after
  let reported = { position, at: Number.NEGATIVE_INFINITY }
  let behind = false
  const options = { filter: ofServices, signal, left, timeoutMs }
  for await (const burst of feedAfter(client, after, options)) {
    let delivered = false
    for (const item of burst) {
      if (signal.aborted) return
      if (item.kind === 'event') {
        const stored = item.resolved.event
        if (!stored) continue
        position = encode(stored.position)
        const event = fromStore(stored)
        if (!event || !isWanted(event.stream)) continue
        delivered = true
        yield { kind: 'event', event }
      } else if (item.kind === 'checkpoint') {
        position = later(position, encode(item.position))
      } else {
        behind = item.kind === 'fellBehind'
      }
    }
    const paused = burst.length === 0
    const now = performance.now()
    if (position !== reported.position && (delivered || paused || now - reported.at >= OTHERS_EVERY_MS)) {
      if (signal.aborted) return
      reported = { position, at: now }
      yield { kind: behind ? 'checkpoint' : 'caughtUp', position }
    }
  }
}

const ofServices = streamNameFilter({ regex: '^[^$~]', maxSearchWindow: WINDOW, checkpointInterval: 1 })
const byPrefix = (prefixes: string[]) =>
  streamNameFilter({ prefixes, maxSearchWindow: WINDOW, checkpointInterval: 1 })
