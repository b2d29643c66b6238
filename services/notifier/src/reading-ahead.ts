import { type Log, Refusal } from '@gantry/event-sourcing'
import type { Bus, StoredMessage } from '@gantry/messaging'

export interface ReadingAheadOptions {
  bus: Bus
  subjects: readonly string[]
  /** May run for many messages at once, in any order, and more than once for the same. */
  react(message: StoredMessage): Promise<void>
  /** Messages that may be begun before the consumer comes to them. */
  window: number
  signal: AbortSignal
  log: Log
}

/**
 * Begins what a consumer will come to before it does. The consumer acknowledges one message after the other, which
 * keeps its place durable; their handling goes on side by side, so that it shares the commits of the stores. What was
 * begun and not acknowledged when the process died is handled again by the one that the consumer goes on in.
 *
 * Messages are begun in order. When one fails, no more are begun until the consumer has come to all that were: it
 * handles again, one by one, what failed, so that nothing overtakes it.
 * @returns handles a message that the consumer has come to
 */
export function readingAhead(options: ReadingAheadOptions): (message: StoredMessage) => Promise<void> {
  const { bus, subjects, react, window, signal, log } = options
  /** By sequence. */
  const begun = new Map<number, Promise<void>>()
  let reached = 0
  /** The last that was begun. */
  let furthest = 0
  let reading = false
  let goOn = () => {}

  const begin = (message: StoredMessage, stop: () => void) => {
    const { sequence } = message
    const work = react(message)
    furthest = sequence
    begun.set(sequence, work)
    work.catch(error => {
      // A refusal is the same for ever: whoever comes to the message hears of it.
      if (error instanceof Refusal) return
      begun.delete(sequence)
      stop()
    })
  }

  const read = async () => {
    const failed = new AbortController()
    const ending = AbortSignal.any([signal, failed.signal])
    const stop = () => {
      failed.abort()
      goOn()
    }
    for await (const message of bus.read({ subjects, after: reached, live: true, signal: ending })) {
      if (begun.size >= window) await new Promise<void>(resolve => (goOn = resolve))
      if (ending.aborted) return
      if (message.sequence > reached) begin(message, stop)
    }
  }

  signal.addEventListener('abort', () => goOn(), { once: true })

  return async message => {
    const { sequence } = message
    const work = begun.get(sequence) ?? react(message)
    reached = Math.max(reached, sequence)
    for (const passed of begun.keys()) if (passed <= reached) begun.delete(passed)
    goOn()
    if (!reading && reached >= furthest) {
      reading = true
      read()
        .catch(error => log.warn({ err: error }, 'cannot read ahead, goes on message by message'))
        .finally(() => {
          reading = false
        })
    }
    await work
  }
}
