import type { Bus, StoredMessage } from '@gantry/messaging'
import { Refusal } from './decider.ts'
import { type Log, supervise, type Worker } from './follower.ts'

export interface ReactorOptions {
  /** Durable name of the consumer, e.g. catalog. */
  consumer: string
  subjects: readonly string[]
  bus: Bus
  /** Turns a foreign fact into own commands; the same fact again must change nothing. */
  react(message: StoredMessage): Promise<void>
  log: Log
}

/**
 * Handles what other services published, one message at a time. A failure is tried again from the same message, since
 * going on would break the order; only a refusal, which would be the same for ever, is logged and passed over.
 */
export function startReactor({ consumer, subjects, bus, react, log }: ReactorOptions): Worker {
  return supervise(`${consumer}.reactor`, log, async signal => {
    for await (const { message, ack } of bus.consume({ consumer, subjects, signal })) {
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
