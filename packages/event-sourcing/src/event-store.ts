import type { NewEvent, Position, RecordedEvent } from './event.ts'

/** Revision that the last event of the stream must have: -1 for a stream that does not exist yet. */
export type ExpectedRevision = number
export const NO_STREAM: ExpectedRevision = -1

export interface Appended {
  /**
   * The store's revision of the last event appended; those before it count down to the first. Usually the expected
   * revision plus the number of events. A removed stream that begins anew may begin at a later revision than 0.
   */
  revision: number
  /** Position of the last event appended. */
  position: Position
}

export type SubscriptionItem =
  | { kind: 'event'; event: RecordedEvent }
  /** Nothing of interest lies before this position: save it, so that a restart does not look there again. */
  | { kind: 'checkpoint'; position: Position }
  /** Everything that was in the log when this was found out has been delivered. Repeats after each pause. */
  | { kind: 'caughtUp'; position: Position }

export interface ReadAllOptions {
  /** Exclusive; START reads from the beginning. */
  after: Position
  /** Only streams whose name begins with one of these; all streams when left out. */
  streamPrefixes?: string[]
}

/** A folded state, kept beside its stream; to the store it is a text. */
export interface StoredSnapshot {
  /** Of the shape of the state. */
  schemaVersion: number
  /** Revision and position of the last event that is folded into the state. */
  revision: number
  position: Position
  /** Every store takes 512 KiB of ASCII; a longer state may be refused. */
  state: string
}

/**
 * The log. Appends are durable when they return. Adapters: packages/embedded (SQLite), packages/event-store-esdb.
 * Every call may throw EventStoreUnavailable, or an error of the adapter when the store refuses the user of its URL.
 */
export interface EventStore {
  /**
   * Appends all events or none. At least one event, at most 1,000, at most 1 MiB together.
   * Repeating an append with the same event ids and the same expected revision gives the first answer again, also
   * while the first is under way.
   * @throws WrongExpectedRevision when the stream is elsewhere
   * @throws AppendTooLarge
   */
  append(stream: string, events: NewEvent[], expected: ExpectedRevision): Promise<Appended>
  /** Events of a stream in order, from a revision on (inclusive); empty when there are none. */
  readStream(stream: string, from?: number): Promise<RecordedEvent[]>
  /** The last event of a stream; undefined when there is none. Its cost does not depend on the length of the stream. */
  readLast(stream: string): Promise<RecordedEvent | undefined>
  /** What the log holds now, in order of position, then ends. */
  readAll(options: ReadAllOptions): AsyncIterable<RecordedEvent>
  /** What the log holds and what comes, until the signal is aborted (then it ends without an error). */
  subscribe(options: ReadAllOptions & { signal: AbortSignal }): AsyncIterable<SubscriptionItem>
  /**
   * Erases a stream whose last event has this revision; one that is not there is erased already. From then on
   * `readStream` and `readSnapshot` give nothing of it. `readAll` and `subscribe` do so too, in EventStoreDB only once its scavenge has
   * run. Positions of other events stay, `head` does not go back, and every place that was told can be gone on from.
   * A stream of that name begins anew with NO_STREAM: at revision 0, in EventStoreDB after its last one.
   * @throws WrongExpectedRevision when the stream went on
   */
  remove(stream: string, expected: ExpectedRevision): Promise<void>
  /**
   * Keeps the state of a stream in place of the one that was kept before. It is no event: `readAll`, `subscribe` and
   * `head` do not tell of it.
   * @throws AppendTooLarge
   */
  saveSnapshot(stream: string, snapshot: StoredSnapshot): Promise<void>
  /**
   * The snapshot that was saved last. It may be of a stream that was removed and begun anew meanwhile: it counts only
   * where the stream has an event at its revision and position.
   */
  readSnapshot(stream: string): Promise<StoredSnapshot | undefined>
  /** Position of the last event written to the log, be it removed since; START when there was none. */
  head(): Promise<Position>
  close(): Promise<void>
}

export class WrongExpectedRevision extends Error {
  readonly stream: string
  readonly expected: ExpectedRevision
  /** -1 when the stream does not exist. */
  readonly actual: number
  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`stream ${stream} is at revision ${actual}, not ${expected}`)
    this.name = 'WrongExpectedRevision'
    this.stream = stream
    this.expected = expected
    this.actual = actual
  }
}

/** The store is away or not ready; the outcome of an append under way is unknown. Try again with the same ids. */
export class EventStoreUnavailable extends Error {
  /** For who asked whoever met this: the same is true of him. */
  readonly code = 'unavailable'
  readonly details = {}
  constructor(cause: unknown) {
    super(`event store unavailable: ${reasonOf(cause)}`, { cause })
    this.name = 'EventStoreUnavailable'
  }
}

/** Never empty: an error without a message is told by the name of its class. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message || cause.constructor.name : String(cause)) || 'no reason given'

export class AppendTooLarge extends Error {
  constructor(stream: string) {
    super(`append to ${stream} is over 1 MiB or 1,000 events`)
    this.name = 'AppendTooLarge'
  }
}

export const MAX_APPEND_BYTES = 1_048_576
export const MAX_APPEND_EVENTS = 1_000
