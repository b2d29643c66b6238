import { BACKWARDS, END } from '@eventstore/db-client'
import {
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type ReadAllOptions,
  type RecordedEvent,
  type SubscriptionItem,
} from '@gantry/event-sourcing'
import { headOf } from './head.ts'
import { toStore } from './recorded.ts'
import { refusedAppend, unavailable } from './server/errors.ts'
import { type Server, serverOf } from './server/server.ts'
import { snapshotsOn, toEvent } from './snapshots.ts'
import { streamsOn } from './streams.ts'
import { eventsUpTo, newEvents } from './subscription/subscription.ts'

export interface EsdbEventStoreOptions {
  /** esdb://host:2113?tls=false, esdb://user:password@a:2113,b:2113,c:2113 or esdb+discover://… */
  connectionString: string
  /**
   * How long an append, or a read without data, may take before the store counts as unavailable, in milliseconds. Default:
   * 5,000.
   */
  timeoutMs?: number
}

export const TIMEOUT_MS = 5_000

/** Two events, because an interrupted removal leaves an empty event after the last event of a service; see `remove`. */
const LAST = { direction: BACKWARDS, fromRevision: END, maxCount: 2 } as const

/**
 * An event store in EventStoreDB 23.10 or newer. It connects on first use, and again after the server was unavailable. A
 * subscription does not reconnect: it throws EventStoreUnavailable.
 *
 * An append without an answer may still be stored. It can only be repeated with the same ids and the same expected revision:
 * the server stores the same id again at a later revision.
 * @throws EventStoreUrlRefused
 */
export function esdbEventStore({
  connectionString,
  timeoutMs = TIMEOUT_MS,
}: EsdbEventStoreOptions): EventStore {
  const server = serverOf(connectionString)
  const snapshots = snapshotsOn(server, timeoutMs)
  const streams = streamsOn(server, snapshots, timeoutMs)
  const closing = new AbortController()
  const head = headOf(server.reads, timeoutMs)

  const using = async <Result>(
    work: () => Promise<Result>,
    thrown: (error: unknown) => Error,
  ): Promise<Result> => {
    if (closing.signal.aborted) throw new EventStoreUnavailable('it is closed')
    try {
      return await server.asking(work)
    } catch (error) {
      throw thrown(error)
    }
  }
  const lacking = (right: string) => unavailable({ connectionString, right })
  const refused = (right: string, stream: string, expected: ExpectedRevision) =>
    refusedAppend({ connectionString, right: `${right} the stream ${stream}`, stream, expected })

  return {
    system: 'eventstoredb',
    async append(stream, events, expected) {
      if (events.length === 0) throw new RangeError('an append needs at least one event')
      const stored = toStore(stream, events)
      return using(() => streams.append(stream, stored, expected), refused('to append to', stream, expected))
    },
    readStream: (stream, from = 0) =>
      using(
        () => streams.read(stream, { fromRevision: BigInt(from) }),
        lacking(`to read the stream ${stream}`),
      ),
    readLast: stream =>
      using(async () => (await streams.read(stream, LAST))[0], lacking(`to read the stream ${stream}`)),
    ...logOf(server, { timeoutMs, closing: closing.signal, using, thrown: lacking('to read $all') }),
    remove: (stream, expected) =>
      using(() => streams.remove(stream, expected), refused('to append to and delete', stream, expected)),
    async saveSnapshot(stream, snapshot) {
      const event = await toEvent(stream, snapshot)
      await using(
        () => snapshots.save(stream, event),
        lacking(`to append to the snapshots of the stream ${stream}`),
      )
    },
    readSnapshot: stream =>
      using(() => snapshots.last(stream), lacking(`to read the snapshots of the stream ${stream}`)),
    head: () => using(head, lacking('to read $all')),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await server.release()
    },
  }
}

interface LogOptions {
  timeoutMs: number
  closing: AbortSignal
  /** Runs a request. */
  using<Result>(work: () => Promise<Result>, thrown: LogOptions['thrown']): Promise<Result>
  /** Translates an error of the client. */
  thrown(error: unknown): Error
}

/** Reads the events of all streams. */
function logOf(
  server: Server,
  { timeoutMs, closing, using, thrown }: LogOptions,
): Pick<EventStore, 'readAll' | 'subscribe'> {
  // The head of the node that is subscribed to: another node may be ahead of it.
  const subscribedHead = headOf(server.subscriptions, timeoutMs)

  async function* subscribe(
    options: ReadAllOptions & { signal: AbortSignal },
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    const signal = AbortSignal.any([options.signal, closing])
    if (signal.aborted) return
    const reading = { ...options, signal, timeoutMs }
    try {
      let { after } = options
      const head = await server.asking(subscribedHead)
      for await (const item of eventsUpTo(head, server.subscriptions(), reading)) {
        if (item.kind === 'caughtUp') after = item.position
        yield item
      }
      yield* newEvents(server.subscriptions(), { ...reading, after })
    } catch (error) {
      if (!signal.aborted) throw thrown(error)
    }
  }

  async function* readAll(options: ReadAllOptions): AsyncGenerator<RecordedEvent, void, undefined> {
    const head = await using(subscribedHead, thrown)
    if (options.after >= head) return
    const reading = { ...options, signal: closing, timeoutMs }
    try {
      for await (const item of eventsUpTo(head, server.subscriptions(), reading)) {
        if (item.kind === 'caughtUp') return
        const position = item.kind === 'event' ? item.event.position : item.position
        if (position > head) return
        if (item.kind === 'event') yield item.event
      }
    } catch (error) {
      throw thrown(error)
    }
    throw new EventStoreUnavailable('it was closed')
  }

  return { readAll, subscribe }
}
