import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Deferral, Endpoint } from './dispatch/room.ts'

export interface NotifierMetrics {
  /** A first attempt has to wait. */
  deferred(reason: Deferral): void
  /** `error` is empty for a success. */
  attempted(trigger: string, error: string, ms: number): void
  /** A delivery came to its end; `ms` since its event was committed. */
  finished(status: string, ms: number): void
}

export interface Gauges {
  /** Attempts under way in this process. */
  underWay(): number
  /** Deliveries that wait for an attempt or its outcome. */
  pending(): Promise<number>
  /** For how long the one that is due longest has been due, in milliseconds. */
  overdueMs(): Promise<number>
  /** Endpoints whose breaker is not closed in this process. */
  troubled(): Endpoint[]
}

/** Endpoints that are told of one by one; beyond it they are only counted, so that labels stay bounded. */
const NAMED_ENDPOINTS = 20

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
    help: 'Time from the commit of an event to its receipt by the webhook',
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

  const deferrals = new Counter({
    name: 'gantry_webhook_deferrals_total',
    help: 'First attempts that had to wait, by reason: breaker, rate or room',
    labelNames: ['reason'],
    registers,
  })
  new Gauge({
    name: 'gantry_webhook_breakers',
    help: 'Endpoints whose circuit breaker is not closed, in this process, by its state: open or half-open',
    labelNames: ['state'],
    registers,
    collect() {
      const troubled = gauges.troubled()
      for (const state of ['open', 'half-open'] as const)
        this.set({ state }, troubled.filter(endpoint => endpoint.state === state).length)
    },
  })
  new Gauge({
    name: 'gantry_webhook_breaker_open_seconds',
    help: `For how long the breaker of a webhook has not been closed; the ${NAMED_ENDPOINTS} longest`,
    labelNames: ['webhook'],
    registers,
    collect() {
      this.reset()
      const longest = gauges.troubled().toSorted((a, b) => b.troubledMs - a.troubledMs)
      for (const { webhook, troubledMs } of longest.slice(0, NAMED_ENDPOINTS))
        this.set({ webhook }, troubledMs / 1_000)
    },
  })

  return {
    deferred: reason => deferrals.inc({ reason }),
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
