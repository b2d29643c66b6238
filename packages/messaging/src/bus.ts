/** JSON as it is stored and sent: no undefined, no dates, no class instances. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** An event for other services. Subjects are dotted, e.g. events.catalog.API_CREATED; see contracts. */
export interface Message {
  /** Publishing the same id again within at least two minutes changes nothing. */
  id: string
  subject: string
  data: Json
  /** E.g. the W3C trace context. */
  headers?: Record<string, string>
}

export interface StoredMessage extends Message {
  /** Position in the stream of all messages, from 1, increasing. */
  sequence: number
  /** Time at which the bus stored it, ISO 8601 UTC. */
  storedAt: string
}

export interface Subjects {
  /** `*` matches one part, `>` all remaining parts. */
  subjects: readonly string[]
  signal: AbortSignal
}

/** A range of messages that were removed because of their age before a reader received them. */
export interface MissedMessages {
  /** Sequence up to which everything was received. */
  after: number
  /** Sequence of the last removed message. */
  through: number
}

/** What is read of the stream of all messages. */
export interface ReadOptions extends Subjects {
  /** Sequence (exclusive) to read from. */
  after: number
  /** Whether it continues with new messages. Otherwise it ends at the head. */
  live: boolean
  /**
   * A name, by which NATS can restrict its users. There, a read ends the one before with the same name. Default: a name of
   * the server.
   */
  reader?: string
  /** Called when messages were missed, before the messages that follow them. */
  missed?(range: MissedMessages): void
  /**
   * Called from time to time with a sequence up to which all messages were read. Only by servers whose `removedThrough` does
   * not distinguish subjects: a later read that begins there does not report other messages as missed.
   */
  passed?(sequence: number): void
}

/**
 * Communication between services. Adapters: packages/embedded (SQLite and memory), packages/messaging-nats (JetStream). All
 * calls can throw BusUnavailable.
 */
export interface Bus {
  /** Name of the message server in spans, as messaging.system. */
  readonly system: string
  /**
   * Stores the messages in order. They are as durable as the bus is when it returns. A caller can repeat the call,
   * because the messages are made from the log. With `after`, a sequence, the messages are stored only if no other
   * publisher has stored a later message on the same subject. The first message is checked; the others follow it
   * without a gap.
   * @returns the sequence of the last message; 0 for an empty list
   * @throws Overtaken when there is a message after `after`
   */
  publish(messages: readonly Message[], options?: { after?: number }): Promise<number>
  /** Reads messages in order. Ends when the signal is aborted. */
  read(options: ReadOptions): AsyncIterable<StoredMessage>
  /**
   * Sequence up to which messages on the subjects were removed because of their age; 0 when none was. Servers that do not
   * distinguish subjects answer with the sequence up to which any message was removed.
   */
  removedThrough(subjects: readonly string[]): Promise<number>
  /** The last message on any of the subjects, which must be stored by the bus; undefined when there is none. */
  last(subjects: readonly string[]): Promise<StoredMessage | undefined>
  /**
   * Number of messages on the subjects after a sequence. NATS answers with the number of messages that the last reader of
   * this name has not received, also on other subjects, or with 0 if there was no such reader in the last minutes.
   */
  backlog(options: Pick<Subjects, 'subjects'> & { reader: string; after: number }): Promise<number>
  /** Sequence of the last message; 0 when there is none. */
  head(): Promise<number>
  /**
   * Sends to every listener on every replica, also on this bus, at most once: for hints such as cache invalidations.
   * Broadcasts of several senders are received in the order in which the server took them; servers of a cluster may differ.
   */
  broadcast(subject: string, data: Json): Promise<void>
  /** Handles broadcasts until the returned function is called. */
  listen(subject: string, handler: (data: Json) => void): () => void
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

/** Another publisher has stored messages on the same subject. The messages that would follow them were not stored. */
export class Overtaken extends Error {
  constructor(subject: string, { after, end }: { after: number; end: number }) {
    super(`another publisher has stored message ${end} on ${subject}, after ${after}`)
    this.name = 'Overtaken'
  }
}

/** Whether a subject matches a pattern with `*` and `>`. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.')
  const parts = subject.split('.')
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] === '>') return parts.length > i
    if (parts[i] === undefined || (wanted[i] !== '*' && wanted[i] !== parts[i])) return false
  }
  return parts.length === wanted.length
}
