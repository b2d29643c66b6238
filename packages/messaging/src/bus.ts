export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A fact for other services. Subjects are dotted, e.g. events.catalog.API_CREATED; see contracts. */
export interface Message {
  /** Publishing the same id again within two minutes at least changes nothing. */
  id: string
  subject: string
  data: Json
  /** W3C trace context and the like. */
  headers?: Record<string, string>
}

export interface StoredMessage extends Message {
  /** Place in the stream of all messages, from 1, ever increasing. */
  sequence: number
  /** When the bus stored it, ISO 8601 UTC. */
  storedAt: string
}

/** A message to be handled; the next one comes after `ack`. */
export interface Delivered {
  message: StoredMessage
  /** The message is handled for good. One that is never acknowledged comes again, also after a restart. */
  ack(): Promise<void>
}

export interface Subjects {
  /** `*` stands for one part, `>` for all the rest. */
  subjects: readonly string[]
  signal: AbortSignal
}

/** Messages that a consumer or reader has not received before they were removed because of their age. */
export interface MissedMessages {
  /** Place up to which it has received everything. */
  after: number
  /** Sequence of the last message that is gone. */
  through: number
}

/** Called when messages were missed, before the messages that follow. */
export interface Missing {
  missed?(range: MissedMessages): void
}

/**
 * What services tell each other. Adapters: packages/embedded (SQLite and memory), packages/messaging-nats (JetStream).
 * Calls may throw BusUnavailable.
 */
export interface Bus {
  /**
   * Stores the messages in order; durable as far as the bus is when it returns. The log can publish them again.
   * With `after`, a sequence, the messages are stored only where no other publisher has stored a message after that
   * one on the same subject: this is checked for the first message, and each of the others follows it.
   * @returns the sequence of the last message; 0 when there is none
   * @throws Overtaken when there is a message after `after`
   */
  publish(messages: readonly Message[], options?: { after?: number }): Promise<number>
  /**
   * Durable consumption in order, at least once. Consumers of the same name share one place in the stream, and only
   * one of them receives at a time; a new name begins at the beginning. Ends when the signal is aborted.
   */
  consume(options: Subjects & Missing & { consumer: string }): AsyncIterable<Delivered>
  /** The stream from a place on (exclusive), then what comes; without `live` it ends at the end. */
  read(options: Subjects & Missing & { after: number; live: boolean }): AsyncIterable<StoredMessage>
  /**
   * Place up to which messages on the subjects have been removed because of their age; 0 when none has. A server that
   * does not tell subjects apart answers with the place up to which any message has been removed.
   */
  removedThrough(subjects: readonly string[]): Promise<number>
  /** The last message on any of the subjects, which lie within what the bus stores; undefined when there is none. */
  last(subjects: readonly string[]): Promise<StoredMessage | undefined>
  /** Sequence of the last message; 0 when there is none. */
  head(): Promise<number>
  /**
   * Tells every listener on every replica, those on this bus too, now or never: for hints such as cache invalidations.
   * What several send at the same time is heard in the order in which the server took it; servers of a cluster may differ.
   */
  broadcast(subject: string, data: Json): Promise<void>
  /** Handles broadcasts until the returned function is called. */
  listen(subject: string, handler: (data: Json) => void): () => void
  /** Asks whichever replica answers. @throws RequestTimeout, NoResponder, RequestFailed */
  request(subject: string, data: Json, options: { timeoutMs: number }): Promise<Json>
  /** Answers requests, shared with the other replicas, until the returned function is called. */
  respond(subject: string, handler: (data: Json) => Promise<Json>): () => void
  /** Resolves when the bus answers. @throws BusUnavailable */
  ping(): Promise<void>
  close(): Promise<void>
}

export class BusUnavailable extends Error {
  constructor(cause: unknown) {
    super(`bus unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'BusUnavailable'
  }
}

/** Another publisher has stored messages on the same subject: nothing was stored that would come after those. */
export class Overtaken extends Error {
  constructor(subject: string, { after, end }: { after: number; end: number }) {
    super(`another publisher has stored message ${end} on ${subject}, after ${after}`)
    this.name = 'Overtaken'
  }
}

export class RequestTimeout extends Error {
  constructor(subject: string) {
    super(`no answer in time on ${subject}`)
    this.name = 'RequestTimeout'
  }
}

export class NoResponder extends Error {
  constructor(subject: string) {
    super(`nobody answers on ${subject}`)
    this.name = 'NoResponder'
  }
}

/** The responder threw; carries its code when that was a refusal. */
export class RequestFailed extends Error {
  readonly code: string
  readonly details: Record<string, unknown>
  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'RequestFailed'
    this.code = code
    this.details = details
  }
}

/** Whether a subject falls under a pattern with `*` and `>`. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.')
  const parts = subject.split('.')
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] === '>') return parts.length > i
    if (parts[i] === undefined || (wanted[i] !== '*' && wanted[i] !== parts[i])) return false
  }
  return parts.length === wanted.length
}
