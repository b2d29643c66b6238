import { type Log, supervise, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Dispatcher } from './dispatcher.ts'

export interface LostAttemptsOptions {
  dispatcher: Dispatcher
  /** Start of this process, ISO 8601. */
  startedAt: string
  /** Whether the read models contain all deliveries. */
  caughtUp(): boolean
  log: Log
}

const POLL_MS = 20

/**
 * Makes the attempts again, once, that the previous process was making when it died. Only for a process that is alone: the
 * attempts of another one would not be over.
 */
export function startLostAttempts({ dispatcher, startedAt, caughtUp, log }: LostAttemptsOptions): Worker {
  return supervise('notifier.lost-attempts', log, async signal => {
    while (!caughtUp() && !signal.aborted) await sleep(POLL_MS, { signal })
    if (signal.aborted) return
    await dispatcher.loseAttempts(startedAt)
    await new Promise(ended => signal.addEventListener('abort', ended, { once: true }))
  })
}
