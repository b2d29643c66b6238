import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import type { EngineWatch } from './engine.ts'

/** From this level of pino on, what is logged wants somebody's attention. */
const ERROR = 50

/** What every process tells operators, beside its requests. */
export interface ProcessMetrics {
  /** To be called for everything that is logged, with the level of pino and what comes before the message. */
  logged(level: number, details: unknown): void
  /** Tells of these from now on. */
  watches(engines: EngineWatch): void
}

/** @param name of the process, which all of its metrics carry in the label `process` */
export function processMetrics(name: string, registry: Registry): ProcessMetrics {
  registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const errors = new Counter({
    name: 'gantry_log_errors_total',
    help: 'Errors in the log, by the worker that failed and starts again (empty for others)',
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
    watches(engines) {
      new Gauge({
        name: 'gantry_engine_up',
        help: '1 while the engine of a setting can be used, 0 while it cannot',
        labelNames: ['setting'],
        registers,
        collect() {
          for (const [setting, up] of engines.up()) this.set({ setting }, up ? 1 : 0)
        },
      })
    },
  }
}
