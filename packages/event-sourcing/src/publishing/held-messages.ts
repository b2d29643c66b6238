import { randomUUID } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import type { StoredMessage } from '@gantry/messaging'
import { sleep } from '@gantry/pacing'
import { type JsonObject, type NewEvent, streamName } from '../log/event.ts'
import { AppendTooLarge, type EventStore, NO_STREAM, WrongExpectedRevision } from '../log/event-store.ts'
import { StreamQuarantined } from '../log/fold.ts'
import { type Log, supervise, type Worker } from '../supervision/worker.ts'

export interface HeldMessagesOptions {
  /** Name of the consumer, which names the stream. */
  consumer: string
  eventStore: EventStore
  now(): Date
  log: Log
  /** Interval at which held messages are tried again, in milliseconds. Default: 10 seconds. */
  retryMs?: number
}

/** The held messages in the log, by their ids, and the revision of the stream. */
interface Held {
  messages: Map<string, StoredMessage>
  revision: number
}

const RETRY_MS = 10_000

/**
 * Messages to a consumer whose reaction needs a quarantined stream. They are kept in a stream of the log and handled when
 * that stream is released. They may be handled after later messages, and twice: reactions compare revisions and times.
 */
export class HeldMessages {
  readonly #options: HeldMessagesOptions
  readonly #stream: string

  constructor(options: HeldMessagesOptions) {
    this.#options = options
    this.#stream = streamName('heldmessages', options.consumer)
  }

  /** @returns a reaction that keeps a message if its own reaction needs a quarantined stream @throws EventStoreUnavailable */
  holding(react: (message: StoredMessage) => Promise<void>): (message: StoredMessage) => Promise<void> {
    return message =>
      react(message).catch(error => {
        if (!(error instanceof StreamQuarantined)) throw error
        return this.#hold(message, error)
      })
  }

  async #hold(message: StoredMessage, { event }: StreamQuarantined): Promise<void> {
    const { log, consumer } = this.#options
    const details = { consumer, message: message.id, subject: message.subject, stream: event.stream }
    for (;;) {
      const { messages, revision } = await this.#read()
      if (messages.has(message.id)) return
      try {
        await this.#append('MessageHeld', { message: message as unknown as JsonObject }, revision)
        return log.warn(details, 'holds a message until its stream is released')
      } catch (error) {
        if (error instanceof AppendTooLarge)
          return log.error(details, 'skips a message that is too large to hold')
        if (!(error instanceof WrongExpectedRevision)) throw error
      }
    }
  }

  /** Starts to try held messages again. */
  start(react: (message: StoredMessage) => Promise<void>): Worker {
    const { consumer, log, retryMs = RETRY_MS } = this.#options
    return supervise(`${consumer}.held`, log, async signal => {
      for (; !signal.aborted; await sleep(retryMs, { signal })) await this.#retry(react)
    })
  }

  async #retry(react: (message: StoredMessage) => Promise<void>): Promise<void> {
    const { log, consumer } = this.#options
    const { messages, revision } = await this.#read()
    const handled: string[] = []
    for (const message of messages.values()) {
      try {
        await react(message)
      } catch (error) {
        if (error instanceof StreamQuarantined) continue
        if (!(error instanceof Refusal)) throw error
        log.warn({ consumer, message: message.id, code: error.code }, 'a reaction was refused')
      }
      handled.push(message.id)
    }
    if (handled.length === 0) return
    try {
      if (handled.length === messages.size) await this.#options.eventStore.remove(this.#stream, revision)
      else await this.#append('MessagesHandled', { ids: handled }, revision)
      log.info({ consumer, messages: handled.length }, 'has handled held messages')
    } catch (error) {
      // Another message is held meanwhile. The next try handles these again.
      if (!(error instanceof WrongExpectedRevision)) throw error
    }
  }

  async #read(): Promise<Held> {
    const messages = new Map<string, StoredMessage>()
    let revision = NO_STREAM
    for (const { type, data, ...event } of await this.#options.eventStore.readStream(this.#stream)) {
      revision = event.revision
      // The audit log names the stream.
      if (event.malformed !== undefined) continue
      if (type === 'MessageHeld') {
        const message = data.message as unknown as StoredMessage
        messages.set(message.id, message)
      } else if (type === 'MessagesHandled') for (const id of data.ids as string[]) messages.delete(id)
    }
    return { messages, revision }
  }

  async #append(type: string, data: object, revision: number): Promise<void> {
    const { consumer, eventStore, now } = this.#options
    const id = randomUUID()
    const metadata = { actor: { id: null, name: consumer }, requestId: id, at: now().toISOString() }
    const event: NewEvent = { id, type, data, metadata }
    await eventStore.append(this.#stream, [event], revision)
  }
}
