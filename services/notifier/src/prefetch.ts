import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import type { Bus, StoredMessage } from '@gantry/messaging'
import { measureBuffer } from '@gantry/service-kit'
import type { Registry } from 'prom-client'

export interface PrefetchOptions {
  bus: Bus
  subjects: readonly string[]
  /** Messages wait until the projector has caught up. */
  projector: { readonly caughtUp: boolean }
  /** Must tolerate concurrent calls, any order, and repeated calls for a message. */
  react(message: StoredMessage): Promise<void>
  /** Maximum number of messages that are handled ahead of the consumer. */
  window: number
  signal: AbortSignal
  log: Log
  metrics: Registry
}

/** Interval of the checks whether the projector has caught up. */
const POLL_MS = 20

/**
 * Prefetch: handles messages concurrently before the consumer delivers them. The consumer acknowledges one message after
 * the other, so its position is durable; concurrent handling lets messages share the commits of the stores. Messages that
 * were handled but not acknowledged when the process died are handled again by the process that resumes the consumer.
 *
 * Handling starts in the order of the messages. After a failure no further message is started until the consumer has
 * reached all that were started. The consumer handles the failed message again, so no later message overtakes it.
 * @returns the handler of the messages that the consumer delivers
 */
export function prefetching(options: PrefetchOptions): (message: StoredMessage) => Promise<void> {
  const { bus, subjects, projector, react, window, signal, log, metrics } = options
  /** Running or finished handling, by sequence. */
  const begun = new Map<number, Promise<void>>()
  /** Messages that are being handled. */
  const held = new Set<StoredMessage>()
  measureBuffer(metrics, 'bus-messages', () =>
    held.values().reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0),
  )
  let reached = 0
  /** Sequence of the last started message. */
  let furthest = 0
  let reading = false
  let resume = () => {}

  const begin = (message: StoredMessage, stop: () => void) => {
    const { sequence } = message
    const work = react(message)
    furthest = sequence
    begun.set(sequence, work)
    work.catch(error => {
      // A refusal is final: it is kept, and the consumer receives it when it reaches the message.
      if (error instanceof Refusal) return
      begun.delete(sequence)
      stop()
    })
    // Beside `work` and not part of it: a failure must stop the next message at once.
    held.add(message)
    const release = () => void held.delete(message)
    work.then(release, release)
  }

  const read = async () => {
    const failed = new AbortController()
    const ending = AbortSignal.any([signal, failed.signal])
    const stop = () => {
      failed.abort()
      resume()
    }
    for await (const message of bus.read({ subjects, after: reached, live: true, signal: ending })) {
      if (begun.size >= window) await new Promise<void>(resolve => (resume = resolve))
      if (ending.aborted) return
      if (message.sequence > reached) begin(message, stop)
    }
  }

  signal.addEventListener('abort', () => resume(), { once: true })

  return async message => {
    while (!projector.caughtUp) await pause(POLL_MS, undefined, { signal })
    const { sequence } = message
    const work = begun.get(sequence) ?? react(message)
    reached = Math.max(reached, sequence)
    for (const passed of begun.keys()) if (passed <= reached) begun.delete(passed)
    resume()
    if (!reading && reached >= furthest) {
      reading = true
      read()
        .catch(error => log.warn({ err: error }, 'cannot prefetch messages, handles them one by one'))
        .finally(() => {
          reading = false
        })
    }
    await work
  }
}
