import { type Log, superviseUnderLease, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Leases } from '@gantry/stores'
import type { Owners } from './owners.ts'

export interface OwnerChecksOptions {
  owners: Owners
  /** Whether the read models contain all webhooks; a check before that would miss some. */
  caughtUp(): boolean
  leases: Leases
  holder: string
  log: Log
}

const NAME = 'notifier.owners'
const CHECK_MS = 60_000
/** Interval while the read models are not caught up. */
const POLL_MS = 100
/** How many rounds pass between two that request all owners from identity: one hour. */
const ROUNDS = 60
/** Pause after a failure, e.g. while identity starts. */
const AGAIN_MS = 5_000

/**
 * Checks the owners of all active webhooks periodically, in one process at a time, by lease. It covers checks
 * that were lost when a process died after it recorded a user. Requesting all owners covers messages that the bus removed
 * because of their age.
 */
export function startOwnerChecks({ owners, caughtUp, leases, holder, log }: OwnerChecksOptions): Worker {
  return superviseUnderLease({ leases, name: NAME, holder, log }, async (_, leaseSignal) => {
    for (let round = 0; !leaseSignal.aborted; ) {
      let wait = POLL_MS
      try {
        if (caughtUp()) {
          wait = CHECK_MS
          await owners.checkAll(round % ROUNDS === 0 ? 'all' : 'unknown', leaseSignal)
          round++
        }
      } catch (error) {
        if (leaseSignal.aborted) return
        log.warn({ err: error }, 'cannot check the owners of webhooks, tries again')
        wait = AGAIN_MS
      }
      await sleep(wait, { signal: leaseSignal })
    }
  })
}
