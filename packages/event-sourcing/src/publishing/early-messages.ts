import { type Message, type StoredMessage, subjectMatches } from '@gantry/messaging'
import type { Reaction } from './reactor.ts'

/** The messages of the relays of a process, announced before the bus has them. */
export class EarlyMessages {
  readonly #listeners = new Set<(message: Message) => void>()
  /** The messages that are being handled. */
  readonly running = new Set<Promise<unknown>>()

  announce(message: Message): void {
    for (const listener of this.#listeners) listener(message)
  }

  /** @returns a function that ends the calls of the listener */
  listen(listener: (message: Message) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** Maximum number of messages that are handled early concurrently. Others wait for the bus. */
const MOST = 256
/** Maximum number of messages that were handled early and that the bus has not delivered yet. */
const KEPT = 1_000

export interface EarlyHandlingOptions {
  /** Left out: all messages wait for the bus. */
  messages: EarlyMessages | undefined
  /** Messages that arrive before it is true wait for the bus. */
  isReady(): boolean
  within(message: Message, work: () => Promise<void>): Promise<void>
}

/**
 * Handles messages as soon as their events are committed. The bus delivers each message nevertheless. It is then handled
 * again unless the early handling did everything: after a failure, after the death of the process, and in other processes.
 */
export function handlingEarly(
  { early, react, subjects }: Reaction,
  { messages, isReady, within }: EarlyHandlingOptions,
) {
  if (!early || !messages) return { react, stop: async () => {} }
  const handled = new Map<string, Promise<boolean>>()
  const { running } = messages
  const handle = async (message: Message) => {
    let isComplete = false
    await within(message, async () => {
      isComplete = await early(message)
    }).catch(() => {})
    return isComplete
  }
  const end = messages.listen(message => {
    if (running.size >= MOST || handled.size >= KEPT || handled.has(message.id) || !isReady()) return
    if (!subjects.some(pattern => subjectMatches(pattern, message.subject))) return
    const run = handle(message)
    running.add(run)
    handled.set(message.id, run)
    void run.then(() => running.delete(run))
  })
  return {
    async react(message: StoredMessage) {
      const isComplete = await handled.get(message.id)
      handled.delete(message.id)
      if (!isComplete) await react(message)
    },
    async stop() {
      end()
      await Promise.all(running)
    },
  }
}
