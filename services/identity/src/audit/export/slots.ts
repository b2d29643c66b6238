import { Refusal } from '@gantry/contracts'
import { Gauge, type Registry } from 'prom-client'

/** Exports of one process at the same time. Each holds about 2 MB, and together they use the time of one thread. */
const MOST = 4
/** Exports of one user, whatever their credentials, so that a single user cannot block the others. */
const MOST_OF_USER = 2
/** Advice to a user at their limit, in seconds. */
const RETRY_AFTER = '10'

export interface ExportSlots {
  /**
   * @param user id of the user who exports
   * @returns function that frees the slot; further calls do nothing
   * @throws Refusal too-many-requests at the limit of the user, too-many-exports at that of the process
   */
  take(user: string): () => void
}

export function exportSlots(registry: Registry): ExportSlots {
  const running = new Set<{ user: string }>()
  new Gauge({
    name: 'gantry_audit_exports',
    help: 'Exports of the audit log that are running',
    registers: [registry],
    collect() {
      this.set(running.size)
    },
  })
  return {
    take(user) {
      const own = [...running].filter(slot => slot.user === user).length
      if (own >= MOST_OF_USER)
        throw new Refusal('too-many-requests', {
          detail: `${own} exports of this user are running: try again later`,
          headers: { 'retry-after': RETRY_AFTER },
        })
      if (running.size >= MOST)
        throw new Refusal('too-many-exports', { detail: `${MOST} exports are running: try again later` })
      const slot = { user }
      running.add(slot)
      return () => void running.delete(slot)
    },
  }
}
