import type { Bus, MissedMessages, StoredMessage } from '@gantry/messaging'
import { Refusal } from './decider.ts'
import { type Log, supervise, type Worker } from './follower.ts'

export interface ReactorOptions {
  /** Durable name of the consumer, e.g. catalog. */
  consumer: string
  subjects: readonly string[]
  bus: Bus
  /** Turns a foreign fact into own commands; the same fact again must change nothing. */
  react(message: StoredMessage): Promise<void>
  /** Called when messages were removed because of their age before they were handled. */
  missed?(range: MissedMessages): void
  log: Log
}

/**
 * Handles what other services published, one message at a time. A failure is tried again from the same message, since
 * going on would break the order; only a refusal, which would be the same for ever, is logged and passed over.
 * Messages that the bus has removed before they were handled are told of, and cannot be handled any more.
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
