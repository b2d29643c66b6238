import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import type { BackingStoreWatch } from './backing-stores.ts'

/** Level `error` of pino. Records of this level and above are counted. */
const ERROR = 50

/** The metrics of a process other than those of its requests. */
export interface ProcessMetrics {
  /** To be called for every log record, with the level of pino and the details of the record. */
  logged(level: number, details: unknown): void
  /** Registers a gauge of the backing stores. */
  watches(backingStores: BackingStoreWatch): void
}

/** @param name name of the process, the value of the label `process` of all metrics */
export function processMetrics(name: string, registry: Registry): ProcessMetrics {
  registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const errors = new Counter({
    name: 'gantry_log_errors_total',
    help: 'Errors in the log, by the worker that failed and is restarted (empty for other errors)',
    labelNames: ['worker'],
    registers,
  })
  errors.inc({ worker: '' }, 0)
  return {
    logged(level, details) {
      if (level < ERROR) return
      const worker =
        typeof details === 'object' && details !== null && 'worker' in details ? String(details.worker) : ''
      errors.inc({ worker })
    },
    watches(backingStores) {
      new Gauge({
        name: 'gantry_engine_up',
        help: '1 while the backing store of a setting can be used, 0 while it cannot',
        labelNames: ['setting'],
        registers,
        collect() {
          for (const [setting, up] of backingStores.up()) this.set({ setting }, up ? 1 : 0)
        },
      })
    },
  }
}
