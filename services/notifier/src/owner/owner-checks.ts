import { setTimeout as pause } from 'node:timers/promises'
import { type Log, supervise, underLease, type Worker } from '@gantry/event-sourcing'
import type { Leases } from '@gantry/read-models'
import type { Owners } from './owners.ts'

export interface OwnerChecksOptions {
  owners: Owners
  /** Whether the read models have all webhooks: before that, a check would find none. */
  caughtUp(): boolean
  leases: Leases
  holder: string
  log: Log
}

const NAME = 'notifier.owners'
const CHECK_MS = 60_000
/** While the read models are made. */
const LOOK_MS = 100
/** Rounds from one in which identity is asked about all owners to the next: an hour. */
const ROUNDS = 60
/** After a failure, for example while identity starts. */
const AGAIN_MS = 5_000

/**
 * Checks the owners of all active webhooks from time to time, in one process at a time, by lease. It finds owners from
 * before the notifier knew of users, and what a process did not finish that died after it had noted a user. Asking
 * about all owners finds what no message told: replicas of an earlier release take no notice of users during an
 * upgrade, and the bus may have removed messages because of their age.
 */
export function startOwnerChecks({ owners, caughtUp, leases, holder, log }: OwnerChecksOptions): Worker {
  return supervise(NAME, log, signal =>
    underLease({ leases, name: NAME, holder, signal }, async (_, held) => {
      for (let round = 0; !held.aborted; ) {
        let wait = LOOK_MS
        try {
          if (caughtUp()) {
            wait = CHECK_MS
            await owners.checkAll(round % ROUNDS === 0 ? 'all' : 'unknown', held)
            round++
          }
        } catch (error) {
          if (held.aborted) return
          log.warn({ err: error }, 'owners of webhooks could not be checked, tries again')
          wait = AGAIN_MS
        }
        await pause(wait, undefined, { signal: held }).catch(() => {})
      }
    }),
  )
}
