import type { ReadModels } from '@gantry/stores'
import { type NewEvent, type Position, type RecordedEvent, recordedEvent, START } from '../log/event.ts'
import {
  type Appended,
  AppendTooLarge,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
  NO_STREAM,
  type ReadAllOptions,
  type SubscriptionItem,
  WrongExpectedRevision,
} from '../log/event-store.ts'
import type { ProjectionTarget } from '../projections/projection.ts'

export interface InMemoryLog {
  /** Opens another connection to the log. */
  connect(): EventStore
}

interface Stream {
  /** Revision of the first event; greater than 0 when the stream was removed and continued. */
  first: number
  /** Revision of the last appended event, even if it was removed since. */
  last: number
  events: Stored[]
}

/** A stored event: serialized, so that readers do not share objects. */
interface Stored extends Pick<RecordedEvent, 'id' | 'stream' | 'position'> {
  text: string
}

/**
 * An in-memory event store, for tests that need thousands of stores or a deterministic order of calls: it has no timers and
 * no input or output. A removed stream that begins again continues after its last revision, as in EventStoreDB.
 */
export function inMemoryLog({ now = () => new Date() }: { now?: () => Date } = {}): InMemoryLog {
  const streams = new Map<string, Stream>()
  /** Serialized, like events. */
  const snapshots = new Map<string, string>()
  let log: Stored[] = []
  let written = 0
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const proceed of [...waiting]) proceed()
  }
  const head = () => encode(written)

  const append = (stream: string, events: NewEvent[], expected: ExpectedRevision): Appended => {
    check(stream, events)
    const known = streams.get(stream) ?? { first: 0, last: NO_STREAM, events: [] }
    const actual = known.events.length > 0 ? known.last : NO_STREAM
    if (actual !== expected) {
      const earlier = earlierAppend(known, events, expected)
      if (earlier) return earlier
      throw new WrongExpectedRevision(stream, expected, actual)
    }
    streams.set(stream, known)
    if (actual === NO_STREAM) known.first = known.last + 1
    for (const event of events) {
      const position = encode(++written)
      const revision = ++known.last
      const text = JSON.stringify({
        ...event,
        stream,
        revision,
        position,
        recordedAt: now().toISOString(),
      } satisfies Omit<RecordedEvent, 'data'> & { data: object })
      const stored = { id: event.id, stream, position, text }
      known.events.push(stored)
      log.push(stored)
    }
    wake()
    return { revision: known.last, position: head() }
  }

  const remove = (stream: string, expected: number) => {
    const known = streams.get(stream)
    if (!known || known.events.length === 0) return
    if (known.last !== expected) throw new WrongExpectedRevision(stream, expected, known.last)
    known.events = []
    snapshots.delete(stream)
    log = log.filter(event => event.stream !== stream)
  }

  const readStream = (stream: string, from: number) => {
    const known = streams.get(stream)
    return known ? known.events.slice(Math.max(from - known.first, 0)).map(toEvent) : []
  }

  /** The events between two positions, the first one exclusive. */
  const between = (after: Position, until: Position, streamPrefixes?: string[]) =>
    log
      .slice(log.findLastIndex(({ position }) => position <= after) + 1)
      .filter(({ position }) => position <= until)
      .filter(({ stream }) => streamPrefixes?.some(prefix => stream.startsWith(prefix)) ?? true)

  /** Resolves when the head is no longer at a position, or the signal is aborted. */
  const moved = async (position: Position, signal: AbortSignal) => {
    if (signal.aborted || head() !== position) return
    await new Promise<void>(resolve => {
      const proceed = () => {
        waiting.delete(proceed)
        signal.removeEventListener('abort', proceed)
        resolve()
      }
      waiting.add(proceed)
      signal.addEventListener('abort', proceed)
    })
  }

  async function* subscription(
    { after, streamPrefixes }: ReadAllOptions,
    ending: AbortSignal,
  ): AsyncGenerator<SubscriptionItem> {
    let delivered = after
    let caughtUpAt: Position | undefined
    while (!ending.aborted) {
      const end = head()
      for (const stored of between(delivered, end, streamPrefixes)) {
        yield { kind: 'event', event: toEvent(stored) }
        if (ending.aborted) return
      }
      if (end > delivered) delivered = end
      if (delivered !== caughtUpAt) yield { kind: 'caughtUp', position: delivered }
      caughtUpAt = delivered
      await moved(end, ending)
    }
  }

  const connect = (): EventStore => {
    const closing = new AbortController()
    const answering = async <T>(call: () => T): Promise<T> => {
      if (closing.signal.aborted) throw new EventStoreUnavailable('it is closed')
      return call()
    }
    return {
      system: 'memory',
      append: (...given) => answering(() => append(...given)),
      readStream: (stream, from = 0) => answering(() => readStream(stream, from)),
      readLast: stream => answering(() => readStream(stream, 0).at(-1)),
      async *readAll({ after, streamPrefixes }) {
        const events = await answering(() => between(after, head(), streamPrefixes))
        for (const stored of events) yield toEvent(stored)
      },
      subscribe: ({ signal, ...options }) => subscription(options, AbortSignal.any([signal, closing.signal])),
      remove: (...given) => answering(() => remove(...given)),
      saveSnapshot: (stream, snapshot) =>
        answering(() => void snapshots.set(stream, JSON.stringify(snapshot))),
      readSnapshot: stream =>
        answering(() => {
          const text = snapshots.get(stream)
          return text === undefined ? undefined : JSON.parse(text)
        }),
      head: () => answering(head),
      close: async () => closing.abort(),
    }
  }

  return { connect }
}

function check(stream: string, events: NewEvent[]) {
  if (events.length === 0) throw new RangeError('an append needs at least one event')
  const bytes = events.reduce(
    (sum, { data, metadata }) => sum + Buffer.byteLength(JSON.stringify(data) + JSON.stringify(metadata)),
    0,
  )
  if (events.length > MAX_APPEND_EVENTS || bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream)
}

/** The result of an earlier append of exactly these events after exactly this revision; undefined when there was none. */
function earlierAppend(
  { first, events: stored }: Stream,
  events: NewEvent[],
  expected: ExpectedRevision,
): Appended | undefined {
  const from = expected === NO_STREAM ? 0 : expected + 1 - first
  if (from < 0) return undefined
  const same = stored.slice(from, from + events.length)
  const last = same.at(-1)
  if (!last || same.length < events.length) return undefined
  if (same.some(({ id }, index) => id !== events[index]?.id)) return undefined
  return { revision: first + from + events.length - 1, position: last.position }
}

const toEvent = ({ text }: Stored): RecordedEvent => recordedEvent(JSON.parse(text))

/** Padded to 16 digits, the width of Number.MAX_SAFE_INTEGER, so that the string order equals the numeric order. */
const encode = (position: number): Position => (position === 0 ? START : String(position).padStart(16, '0'))

/** The read models of an aggregate whose commands project all documents, because no projector runs. */
export const withoutProjector = (readModels: Pick<ReadModels, 'write'>): ProjectionTarget => ({
  readModels,
  register() {},
  contains: async () => false,
})
