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
  /** No event of the subscription lies between the last one and this position. A saved position shortens a restart. */
  | { kind: 'checkpoint'; position: Position }
  /** The subscription has delivered everything that was in the log at this moment. Repeats after each pause. */
  | { kind: 'caughtUp'; position: Position }

export interface ReadAllOptions {
  /** Exclusive; START reads from the beginning. */
  after: Position
  /** Only streams whose name begins with one of these; all streams when left out. */
  streamPrefixes?: string[]
}

/** A folded state, stored beside its stream as a text. */
export interface StoredSnapshot {
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
  /** Name of the database in spans, as db.system.name. */
  readonly system: string
  /**
   * Appends all events or none. At least one event, at most 1,000, at most 1 MiB together.
   * Repeating an append with the same event ids and the same expected revision returns the result of the first one, also
   * while the first one is in progress.
   * @throws WrongExpectedRevision when the stream has another revision
   * @throws AppendTooLarge
   */
  append(stream: string, events: NewEvent[], expected: ExpectedRevision): Promise<Appended>
  /** Events of a stream in order, from a revision on (inclusive); empty when there are none. */
  readStream(stream: string, from?: number): Promise<RecordedEvent[]>
  /** The last event of a stream; undefined when there is none. Its cost does not depend on the length of the stream. */
  readLast(stream: string): Promise<RecordedEvent | undefined>
  /** The events in the log, in order of position. Ends after the last one. */
  readAll(options: ReadAllOptions): AsyncIterable<RecordedEvent>
  /** The events in the log and all later ones. Ends without an error when the signal is aborted. */
  subscribe(options: ReadAllOptions & { signal: AbortSignal }): AsyncIterable<SubscriptionItem>
  /**
   * Removes a stream whose last event has this revision. A stream that does not exist counts as removed. Afterwards
   * `readStream` and `readSnapshot` return nothing of it; nor do `readAll` and `subscribe`, on EventStoreDB only after a
   * scavenge. Positions of other events stay, `head` does not go back, and every known position remains valid.
   * A stream of that name is created again with NO_STREAM: at revision 0, on EventStoreDB after its last revision.
   * @throws WrongExpectedRevision when the stream has later events
   */
  remove(stream: string, expected: ExpectedRevision): Promise<void>
  /**
   * Replaces the snapshot of a stream. A snapshot is no event: `readAll`, `subscribe` and `head` do not show it.
   * @throws AppendTooLarge
   */
  saveSnapshot(stream: string, snapshot: StoredSnapshot): Promise<void>
  /**
   * The last snapshot that was saved. It may belong to a stream that was removed and created again since: it is valid
   * only where the stream has an event at its revision and position.
   */
  readSnapshot(stream: string): Promise<StoredSnapshot | undefined>
  /** Position of the last event written to the log, also if it was removed since; START when there was none. */
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

/** The store does not answer or is not ready. The outcome of an append is unknown: try again with the same ids. */
export class EventStoreUnavailable extends Error {
  /** Carried across bus requests, so that the requesting service also answers 503. */
  readonly code = 'unavailable'
  readonly details = {}
  constructor(cause: unknown) {
    super(`event store unavailable: ${messageOfCause(cause)}`, { cause })
    this.name = 'EventStoreUnavailable'
  }
}

/** Never empty: the name of the class stands for a missing message. */
const messageOfCause = (cause: unknown): string =>
  (cause instanceof Error ? cause.message || cause.constructor.name : String(cause)) || 'no reason given'

export class AppendTooLarge extends Error {
  constructor(stream: string) {
    super(`append to ${stream} is over 1 MiB or 1,000 events`)
    this.name = 'AppendTooLarge'
  }
}

export const MAX_APPEND_BYTES = 1_048_576
export const MAX_APPEND_EVENTS = 1_000
