import { Refusal } from '@gantry/contracts'
import { Gauge, type Registry } from 'prom-client'

/** Exports of one process at the same time. Each holds about 2 MB, and together they use the time of one thread. */
const MOST = 4
/** Exports of one user, whatever their credentials, so that a single user cannot block the others. */
const MOST_OF_USER = 2

export interface ExportSlots {
  /**
   * @param user id of the user who exports
   * @returns function that frees the slot; further calls do nothing
   * @throws Refusal too-many-exports
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
  const refused = (which: string) =>
    new Refusal('too-many-exports', { detail: `${which} are running: try again later` })
  return {
    take(user) {
      const own = [...running].filter(slot => slot.user === user).length
      if (own >= MOST_OF_USER) throw refused(`${own} exports of this user`)
      if (running.size >= MOST) throw refused(`${MOST} exports`)
      const slot = { user }
      running.add(slot)
      return () => void running.delete(slot)
    },
  }
}
