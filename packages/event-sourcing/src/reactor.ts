import { Refusal } from '@gantry/contracts'
import type { Bus, MissedMessages, StoredMessage } from '@gantry/messaging'
import { type Log, supervise, type Worker } from './worker.ts'

export interface ReactorOptions {
  /** Durable name of the consumer, e.g. catalog. */
  consumer: string
  subjects: readonly string[]
  bus: Bus
  /** Turns an event of another service into commands of this one. The same event again must change nothing. */
  react(message: StoredMessage): Promise<void>
  /** Called when retention has removed messages before they were handled. */
  missed?(range: MissedMessages): void
  log: Log
}

/**
 * Handles messages of other services, one at a time. After a failure the same message is tried again, since continuing
 * would break the order. Only a refusal, which a retry cannot change, is logged and skipped.
 */
export function startReactor(options: ReactorOptions): Worker {
  const { consumer, subjects, bus, react, log } = options
  const name = `${consumer}.reactor`
  const missed = (range: MissedMessages) => {
    log.error(
      { worker: name, ...range },
      'messages were removed before they were handled: follow "Missed messages" in docs/operations.md',
    )
    options.missed?.(range)
  }
  return supervise(name, log, async signal => {
    for await (const { message, ack } of bus.consume({ consumer, subjects, signal, missed })) {
      try {
        await react(message)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        log.warn(
          { message: message.id, subject: message.subject, code: error.code },
          'a reaction was refused',
        )
      }
      await ack()
    }
  })
}
