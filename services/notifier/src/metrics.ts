import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface NotifierMetrics {
  /** `error` is empty for a success. */
  attempted(trigger: string, error: string, ms: number): void
  /** A delivery came to its end; `ms` since it was made. */
  finished(status: string, ms: number): void
}

export interface Gauges {
  /** Attempts under way in this process. */
  underWay(): number
  /** Deliveries that wait for an attempt or its outcome. */
  pending(): Promise<number>
  /** For how long the one that is due longest has been due, in milliseconds. */
  overdueMs(): Promise<number>
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]

/** What the notifier tells operators. */
export function notifierMetrics(registry: Registry, gauges: Gauges): NotifierMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'gantry_webhook_attempts_total',
    help: 'Attempts to deliver, by what caused them and by error code (empty for a success)',
    labelNames: ['trigger', 'error'],
    registers,
  })
  const attemptTime = new Histogram({
    name: 'gantry_webhook_attempt_seconds',
    help: 'Time from the beginning of an attempt to the end of its answer',
    buckets: SECONDS,
    registers,
  })
  const deliveries = new Counter({
    name: 'gantry_webhook_deliveries_total',
    help: 'Deliveries that came to an end, by status',
    labelNames: ['status'],
    registers,
  })
  const latency = new Histogram({
    name: 'gantry_webhook_delivery_seconds',
    help: 'Time from the making of a delivery to its success',
    buckets: [...SECONDS, 600, 3_600, 86_400],
    registers,
  })
  const gauge = (name: string, help: string, value: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // A store that is away must not take the other figures with it.
        this.set(await Promise.resolve(value()).catch(() => Number.NaN))
      },
    })
  gauge('gantry_webhook_attempts_under_way', 'Attempts under way in this process', gauges.underWay)
  gauge('gantry_webhook_deliveries_pending', 'Deliveries that are not finished', gauges.pending)
  gauge('gantry_webhook_overdue_seconds', 'For how long the oldest due delivery has been due', async () =>
    Math.max(0, (await gauges.overdueMs()) / 1_000),
  )

  return {
    attempted(trigger, error, ms) {
      attempts.inc({ trigger, error })
      attemptTime.observe(ms / 1_000)
    },
    finished(status, ms) {
      deliveries.inc({ status })
      if (status === 'SUCCESS') latency.observe(ms / 1_000)
    },
  }
}
