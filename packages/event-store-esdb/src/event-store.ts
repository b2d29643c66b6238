import {
  BACKWARDS,
  binaryEvent,
  END,
  type EventData,
  type ReadStreamOptions,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  type Appended,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  NO_STREAM,
  nameUuids,
  type Position,
  type ReadAllOptions,
  type RecordedEvent,
  type SubscriptionItem,
} from '@gantry/event-sourcing'
import { refusedAppend, unavailable } from './errors.ts'
import { headOf } from './head.ts'
import { encode, later } from './position.ts'
import { read } from './read.ts'
import { fromStore, toStore } from './recorded.ts'
import { feedAfter } from './resume.ts'
import { serverOf } from './server.ts'
import { snapshotsOn, toEvent } from './snapshots.ts'

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

/**
 * Number of events that the server examines between two checkpoints. Each step costs a read and a message, so a small number
 * causes many messages.
 */
const WINDOW = 2_000
const endOf = nameUuids('c2a3cf0e-51f5-4f0b-a1b7-5d2f64b1f3a9')
const NOTHING = new Uint8Array()
/** Two events, because an interrupted removal leaves an empty event after the last event of a service; see `remove`. */
const LAST = { direction: BACKWARDS, fromRevision: END, maxCount: 2 } as const

/** Minimum interval of positions that a live subscription reports while all new events are outside of it. */
const OTHERS_EVERY_MS = 100

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
  const closing = new AbortController()
  const head = headOf(server.reads, timeoutMs)
  // The head of the node that is subscribed to: another node may be ahead of it.
  const subscribedHead = headOf(server.subscriptions, timeoutMs)

  const thrownByAll = unavailable({ connectionString, right: 'to read $all' })

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

  const readStream = async (stream: string, options: ReadStreamOptions): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = []
    try {
      const { client, left } = server.reads()
      const stored = client.readStream(stream, options)
      for await (const { event } of read(stored, { timeoutMs, left })) {
        const recorded = fromStore(event)
        if (recorded) events.push(recorded)
      }
    } catch (error) {
      // Also thrown for a softly deleted stream, which can continue after its last revision.
      if (error instanceof StreamNotFoundError) return []
      throw error
    }
    return events
  }

  const append = async (
    stream: string,
    events: EventData[],
    expected: ExpectedRevision,
  ): Promise<Appended> => {
    try {
      const { nextExpectedRevision, position } = await server.append(stream, events, expected, timeoutMs)
      if (!position) throw new Error('the server does not return the position of the events')
      return { revision: Number(nextExpectedRevision), position: encode(position) }
    } catch (error) {
      const mayRepeat = error instanceof WrongExpectedVersionError && expected === NO_STREAM
      const answer = mayRepeat ? await answerBefore(stream, events) : undefined
      if (!answer) throw error
      return answer
    }
  }

  /**
   * The result of an earlier append that continued a removed stream with exactly these events. For NO_STREAM the server only
   * looks for a repetition at revision 0, and such a stream begins later.
   */
  const answerBefore = async (stream: string, events: EventData[]): Promise<Appended | undefined> => {
    const begun = await readStream(stream, { maxCount: events.length })
    const last = begun.at(-1)
    if (!last || events.some(({ id }, index) => begun[index]?.id !== id)) return undefined
    return { revision: last.revision, position: last.position }
  }

  /**
   * Removes a stream by a soft delete: readers of the stream find nothing from now on, readers of the whole log until the
   * server's scavenge. A tombstone would be permanent and prevent a new stream of the same name. The scavenge keeps the last
   * event of a stream (KurrentDB #1845), so an empty event, which is not an event of a service, is appended first. If the
   * process dies after that, the next try repeats it.
   */
  const remove = async (stream: string, expected: ExpectedRevision): Promise<void> => {
    try {
      await snapshots.erase(stream)
      const end = binaryEvent({ id: endOf(`${stream}/${expected}`), type: 'StreamRemoved', data: NOTHING })
      const { nextExpectedRevision } = await server.append(stream, [end], expected, timeoutMs)
      await server
        .reads()
        .client.deleteStream(stream, { expectedRevision: nextExpectedRevision, deadline: timeoutMs })
    } catch (error) {
      if (error instanceof StreamNotFoundError) return
      // The server refuses the removal of a missing stream as a wrong revision.
      if (error instanceof WrongExpectedVersionError && (await readStream(stream, {})).length === 0) return
      throw error
    }
  }

  /** Reads the events that are in the log. Ends with `caughtUp` once everything up to the head has been delivered. */
  async function* catchUp(
    { after, streamPrefixes }: ReadAllOptions,
    head: Position,
    signal: AbortSignal,
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    let place = after
    const filter = streamPrefixes ? byPrefix(streamPrefixes) : ofServices
    const { client, left } = server.subscriptions()
    const bursts = feedAfter(client, after, { filter, signal, left, timeoutMs })
    for await (const burst of streamPrefixes?.length === 0 ? [[{ kind: 'caughtUp' as const }]] : bursts) {
      for (const item of burst) {
        if (signal.aborted) return
        if (item.kind === 'event') {
          const event = fromStore(item.resolved.event)
          if (event) {
            place = event.position
            yield { kind: 'event', event }
          }
        } else if (item.kind === 'checkpoint') {
          const position = encode(item.position)
          if (position > place) {
            place = position
            yield { kind: 'checkpoint', position }
          }
        } else if (item.kind === 'caughtUp') {
          return yield { kind: 'caughtUp', position: later(place, head) }
        }
      }
    }
  }

  /**
   * Delivers new events. On a filtered subscription the server reports no progress for up to thousands of events of other
   * streams. This subscription is therefore on all streams and filters here, so that a reader can wait for any position.
   */
  async function* follow(
    { after, streamPrefixes }: ReadAllOptions,
    signal: AbortSignal,
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    const isWanted = (stream: string) => streamPrefixes?.some(prefix => stream.startsWith(prefix)) ?? true
    let place = after
    let told = { place, at: Number.NEGATIVE_INFINITY }
    let behind = false
    const { client, left } = server.subscriptions()
    const options = { filter: ofServices, signal, left, timeoutMs }
    for await (const burst of feedAfter(client, after, options)) {
      let delivered = false
      for (const item of burst) {
        if (signal.aborted) return
        if (item.kind === 'event') {
          const stored = item.resolved.event
          if (!stored) continue
          place = encode(stored.position)
          const event = fromStore(stored)
          if (!event || !isWanted(event.stream)) continue
          delivered = true
          yield { kind: 'event', event }
        } else if (item.kind === 'checkpoint') {
          place = later(place, encode(item.position))
        } else {
          behind = item.kind === 'fellBehind'
        }
      }
      const paused = burst.length === 0
      const now = performance.now()
      if (place !== told.place && (delivered || paused || now - told.at >= OTHERS_EVERY_MS)) {
        if (signal.aborted) return
        told = { place, at: now }
        yield { kind: behind ? 'checkpoint' : 'caughtUp', position: place }
      }
    }
  }

  async function* subscribe(
    options: ReadAllOptions & { signal: AbortSignal },
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    const signal = AbortSignal.any([options.signal, closing.signal])
    if (signal.aborted) return
    try {
      let place = options.after
      for await (const item of catchUp(options, await server.asking(subscribedHead), signal)) {
        if (item.kind === 'caughtUp') place = item.position
        yield item
      }
      yield* follow({ ...options, after: place }, signal)
    } catch (error) {
      if (!signal.aborted) throw thrownByAll(error)
    }
  }

  async function* readAll(options: ReadAllOptions): AsyncGenerator<RecordedEvent, void, undefined> {
    const head = await using(subscribedHead, thrownByAll)
    if (options.after >= head) return
    try {
      for await (const item of catchUp(options, head, closing.signal)) {
        if (item.kind === 'caughtUp') return
        const position = item.kind === 'event' ? item.event.position : item.position
        if (position > head) return
        if (item.kind === 'event') yield item.event
      }
    } catch (error) {
      throw thrownByAll(error)
    }
    throw new EventStoreUnavailable('it was closed')
  }

  return {
    async append(stream, events, expected) {
      if (events.length === 0) throw new RangeError('an append needs at least one event')
      const stored = toStore(stream, events)
      return using(
        () => append(stream, stored, expected),
        refusedAppend({ connectionString, right: `to append to the stream ${stream}`, stream, expected }),
      )
    },
    readStream: (stream, from = 0) =>
      using(
        () => readStream(stream, { fromRevision: BigInt(from) }),
        unavailable({ connectionString, right: `to read the stream ${stream}` }),
      ),
    readLast: stream =>
      using(
        async () => (await readStream(stream, LAST))[0],
        unavailable({ connectionString, right: `to read the stream ${stream}` }),
      ),
    readAll,
    subscribe,
    remove: (stream, expected) =>
      using(
        () => remove(stream, expected),
        refusedAppend({
          connectionString,
          right: `to append to and delete the stream ${stream}`,
          stream,
          expected,
        }),
      ),
    async saveSnapshot(stream, snapshot) {
      const event = await toEvent(stream, snapshot)
      const right = `to append to the snapshots of the stream ${stream}`
      await using(() => snapshots.save(stream, event), unavailable({ connectionString, right }))
    },
    readSnapshot: stream =>
      using(
        () => snapshots.last(stream),
        unavailable({ connectionString, right: `to read the snapshots of the stream ${stream}` }),
      ),
    head: () => using(head, thrownByAll),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await server.release()
    },
  }
}

const ofServices = streamNameFilter({ regex: '^[^$~]', maxSearchWindow: WINDOW, checkpointInterval: 1 })
const byPrefix = (prefixes: string[]) =>
  streamNameFilter({ prefixes, maxSearchWindow: WINDOW, checkpointInterval: 1 })
