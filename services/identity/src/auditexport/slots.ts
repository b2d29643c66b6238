import { Refusal } from '@gantry/contracts'
import { Gauge, type Registry } from 'prom-client'

/** Exports of one process at the same time. Each holds about 2 MB, and together they use the time of one thread. */
const MOST = 4

export interface ExportSlots {
  /** @returns function that frees the slot; further calls do nothing @throws Refusal too-many-exports */
  take(): () => void
}

export function exportSlots(registry: Registry): ExportSlots {
  let running = 0
  new Gauge({
    name: 'gantry_audit_exports',
    help: 'Exports of the audit log that are running',
    registers: [registry],
    collect() {
      this.set(running)
    },
  })
  return {
    take() {
      if (running >= MOST)
        throw new Refusal('too-many-exports', { detail: `${MOST} exports are running: try again later` })
      running++
      let isHeld = true
      return () => {
        if (isHeld) running--
        isHeld = false
      }
    },
  }
}
