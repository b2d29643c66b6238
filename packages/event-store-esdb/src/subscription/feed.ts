import type { AllStreamResolvedEvent, EventStoreDBClient, Filter } from '@eventstore/db-client'
import { NoResponse } from '../server/errors.ts'
import type { LogPosition } from '../server/position.ts'

/** An item of a subscription, in the order of the log. */
export type FeedItem =
  | { kind: 'event'; resolved: AllStreamResolvedEvent }
  /** The server has examined everything up to this position. */
  | { kind: 'checkpoint'; position: LogPosition }
  | { kind: 'caughtUp' }
  | { kind: 'fellBehind' }

export interface FeedOptions {
  from: LogPosition | 'start'
  filter: Filter
  signal: AbortSignal
  /** Aborted, with the error to throw, when the node must not be used any more. */
  left: AbortSignal
  /** How long the server may take to confirm the subscription, in milliseconds. */
  timeoutMs: number
}

/** Number of items that can wait for the reader before the subscription is paused. */
const FULL = 500
/** Duration of silence after which the feed yields an empty burst. */
const PAUSE_MS = 100

/**
 * A subscription to $all as bursts of items: all items that arrived since the previous burst was taken. An empty burst means
 * that nothing arrived for a while; it is yielded once per pause. Ends when aborted, throws when the subscription fails.
 */
export async function* feed(
  client: EventStoreDBClient,
  { from, filter, signal, left, timeoutMs }: FeedOptions,
): AsyncGenerator<FeedItem[], void, undefined> {
  if (signal.aborted) return
  let items: FeedItem[] = []
  let taken = 0
  let failure: unknown
  let wake = () => {}

  // The client emits these while earlier events still wait in its buffer.
  const early: { item: FeedItem; after: number }[] = []
  const settle = () => {
    while (early[0] && early[0].after <= taken) items.push(...early.splice(0, 1).map(({ item }) => item))
    wake()
  }
  const queue = (item: FeedItem) => {
    early.push({ item, after: taken + subscription.readableLength })
    settle()
  }
  const fail = (error: unknown) => {
    failure ??= error
    wake()
  }

  const subscription = client.subscribeToAll({
    fromPosition: from,
    filter: { ...filter, checkpointReached: (_, position) => queue({ kind: 'checkpoint', position }) },
  })
  const unconfirmed = setTimeout(() => fail(new NoResponse(`no answer within ${timeoutMs} ms`)), timeoutMs)
  subscription
    .on('confirmation', () => clearTimeout(unconfirmed))
    .on('caughtUp', () => queue({ kind: 'caughtUp' }))
    .on('fellBehind', () => queue({ kind: 'fellBehind' }))
    // Unsubscribing may emit an AbortError, when there is no reader any more.
    .on('error', fail)
    .on('end', () => fail(new Error('the server has ended the subscription')))
    .on('data', resolved => {
      taken++
      items.push({ kind: 'event', resolved })
      settle()
      if (items.length >= FULL) subscription.pause()
    })
  const aborted = () => wake()
  const leave = () => fail(left.reason)
  if (left.aborted) leave()
  left.addEventListener('abort', leave)
  signal.addEventListener('abort', aborted)

  try {
    let quiet = false
    while (!signal.aborted) {
      if (items.length > 0) {
        const burst = items
        items = []
        subscription.resume()
        quiet = false
        yield burst
      } else if (failure) {
        throw failure
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const pause = quiet ? undefined : setTimeout(resolve, PAUSE_MS)
        await promise
        clearTimeout(pause)
        if (quiet || items.length > 0 || failure || signal.aborted) continue
        quiet = true
        yield []
      }
    }
  } finally {
    signal.removeEventListener('abort', aborted)
    left.removeEventListener('abort', leave)
    clearTimeout(unconfirmed)
    subscription.unsubscribe().catch(() => {})
  }
}
