import { Refusal } from '@gantry/contracts'
import type { Bus, MissedMessages, StoredMessage } from '@gantry/messaging'
import { StreamQuarantined } from '../log/fold.ts'
import { type Log, supervise, type Worker } from '../supervision/worker.ts'

export interface ReactorOptions {
  /** Durable name of the consumer, e.g. catalog. */
  consumer: string
  subjects: readonly string[]
  bus: Bus
  /** Turns an event of another service into commands of this one. The same event again must change nothing. */
  react(message: StoredMessage): Promise<void>
  /** Keeps a message whose reaction needs a quarantined stream, before it is acknowledged. Default: it is skipped. */
  hold?(message: StoredMessage, error: StreamQuarantined): Promise<void>
  /** Runs the work on a message, e.g. in the context of the request that caused it. Default: calls it. */
  within?(message: StoredMessage, work: () => Promise<void>): Promise<void>
  /** Called when retention has removed messages before they were handled. */
  missed?(range: MissedMessages): void
  log: Log
}

/**
 * Handles messages of other services, one at a time. After a failure the same message is tried again, since continuing
 * would break the order. A message about a quarantined stream is held. Another refusal, which a retry cannot change, is
 * logged and skipped.
 */
export function startReactor(options: ReactorOptions): Worker {
  const { consumer, subjects, bus, react, hold, log, within = (_, work) => work() } = options
  const name = `${consumer}.reactor`
  const missed = (range: MissedMessages) => {
    log.error(
      { worker: name, ...range },
      'messages were removed before they were handled: follow "Missed messages" in docs/operations.md',
    )
    options.missed?.(range)
  }
  const handle = async (message: StoredMessage) => {
    try {
      await react(message)
    } catch (error) {
      if (hold && error instanceof StreamQuarantined) return hold(message, error)
      if (!(error instanceof Refusal)) throw error
      log.warn({ message: message.id, subject: message.subject, code: error.code }, 'a reaction was refused')
    }
  }
  return supervise(name, log, async signal => {
    for await (const { message, ack } of bus.consume({ consumer, subjects, signal, missed })) {
      await within(message, () => handle(message))
      await ack()
    }
  })
}
