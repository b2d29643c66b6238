import { Attempt } from '@gantry/contracts'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Deliveries } from '../delivery/deliveries.ts'
import { type DeliveryState, isTest } from '../delivery/delivery.ts'
import { FAILURE_CODES } from '../http/failure.ts'
import { DEFERRALS, type Deferral, type Limiter } from './limiter.ts'

export interface NotifierMetrics {
  /** Observes the time from an event to its new delivery, unless a caller has asked for the delivery. */
  created(state: DeliveryState): void
  /** Counts a first attempt that got no slot at once. */
  deferred(reason: Deferral): void
  /** Counts an attempt. `error` is its error code, empty for a success. */
  attempted(trigger: string, error: string, ms: number): void
  finished(state: DeliveryState): void
}

const FINAL = ['SUCCESS', 'GIVE_UP', 'CANCELLED'] as const
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]

/**
 * Registers the counters of attempts and deliveries. Each begins with 0 for all values of its labels: a counter that begins
 * with its first failure has no increase for `rate()`.
 */
export function notifierMetrics(registry: Registry): NotifierMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'gantry_webhook_attempts_total',
    help: 'Delivery attempts, by trigger and error code (empty for a success)',
    labelNames: ['trigger', 'error'],
    registers,
  })
  const attemptTime = new Histogram({
    name: 'gantry_webhook_attempt_seconds',
    help: 'Time from the start of an attempt to the end of its response',
    buckets: SECONDS,
    registers,
  })
  const deliveries = new Counter({
    name: 'gantry_webhook_deliveries_total',
    help: 'Finished deliveries, by status',
    labelNames: ['status'],
    registers,
  })
  const latency = new Histogram({
    name: 'gantry_webhook_delivery_seconds',
    help: 'Time from the commit of an event to its receipt by the webhook',
    buckets: [...SECONDS, 600, 3_600, 86_400],
    registers,
  })
  const deferrals = new Counter({
    name: 'gantry_webhook_deferrals_total',
    help: 'First attempts that did not start at once, by reason: breaker, rate or room (no free slot)',
    labelNames: ['reason'],
    registers,
  })
  const delay = new Histogram({
    name: 'gantry_webhook_dispatch_delay_seconds',
    help: 'Time from the commit of an event to its delivery, which then starts or waits for the limits of its receiver',
    buckets: [...SECONDS, 600, 3_600, 86_400],
    registers,
  })
  for (const trigger of Attempt.shape.trigger.options)
    for (const error of ['', ...FAILURE_CODES]) attempts.inc({ trigger, error }, 0)
  for (const status of FINAL) deliveries.inc({ status }, 0)
  for (const reason of DEFERRALS) deferrals.inc({ reason }, 0)
  return {
    created(state) {
      if (state.status === 'Absent' || isTest(state) || state.recovery !== null) return
      delay.observe(Math.max(0, Date.parse(state.createdAt) - Date.parse(state.committedAt)) / 1_000)
    },
    deferred: reason => deferrals.inc({ reason }),
    attempted(trigger, error, ms) {
      attempts.inc({ trigger, error })
      attemptTime.observe(ms / 1_000)
    },
    finished(state) {
      if (state.status === 'Absent' || state.finishedAt === null) return
      const { status, finishedAt, committedAt } = state
      deliveries.inc({ status })
      if (status === 'SUCCESS') latency.observe((Date.parse(finishedAt) - Date.parse(committedAt)) / 1_000)
    },
  }
}

/** Maximum number of endpoints with their own label value, so that the number of time series is bounded. */
const NAMED_ENDPOINTS = 20

/** Registers the gauges of the attempts of this process and of the pending deliveries in the store. */
export function registerGauges(registry: Registry, limiter: Limiter, deliveries: Deliveries): void {
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // If a store is unavailable, the other metrics are still reported.
        this.set(await Promise.resolve(value()).catch(() => Number.NaN))
      },
    })
  gauge('gantry_webhook_attempts_under_way', 'Running attempts in this process', () => limiter.running)
  gauge('gantry_webhook_deliveries_pending', 'Unfinished deliveries', () => deliveries.countPending())
  gauge('gantry_webhook_overdue_seconds', 'How long the most overdue delivery has been due', async () =>
    Math.max(0, (await deliveries.overdueMs()) / 1_000),
  )

  new Gauge({
    name: 'gantry_webhook_breakers',
    help: 'Endpoints of this process whose circuit breaker is open or half-open, by state',
    labelNames: ['state'],
    registers,
    collect() {
      const open = limiter.openBreakers()
      for (const state of ['open', 'half-open'] as const)
        this.set({ state }, open.filter(breaker => breaker.state === state).length)
    },
  })
  new Gauge({
    name: 'gantry_webhook_breaker_open_seconds',
    help: `Time since the circuit breaker of a webhook opened; the ${NAMED_ENDPOINTS} longest`,
    labelNames: ['webhook'],
    registers,
    collect() {
      this.reset()
      const longest = limiter.openBreakers().toSorted((a, b) => b.openMs - a.openMs)
      for (const { webhook, openMs } of longest.slice(0, NAMED_ENDPOINTS))
        this.set({ webhook }, openMs / 1_000)
    },
  })
}
