import { performance } from 'node:perf_hooks'
import { logErrorCounter, RELEASE } from '@gantry/service-runtime'
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import type { BackingStoreWatch } from './stores/backing-stores.ts'

/** Level `error` of pino. Records of this level and above are counted. */
const ERROR = 50

/** The metrics of a process, without those of requests. */
export interface ProcessMetrics {
  /** To be called for every log record, with the level of pino and the details of the record. */
  logged(level: number, details: unknown): void
  /** Registers a gauge of the backing stores. */
  watches(backingStores: BackingStoreWatch): void
}

/** @param name name of the process, the value of the label `process` of all metrics */
export function processMetrics(name: string, registry: Registry): ProcessMetrics {
  registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  const registers = [registry]
  new Counter({
    name: 'gantry_event_loop_active_seconds_total',
    help: 'Time that the event loop of the process was not idle; its rate is the utilization, at most 1',
    registers,
    collect() {
      this.reset()
      this.inc(performance.eventLoopUtilization().active / 1_000)
    },
  })
  new Gauge({
    name: 'gantry_build_info',
    help: '1, with the release of the process and its Node',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: RELEASE, node: process.versions.node }, 1)
  const errors = logErrorCounter(registry)
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
