import { setMaxListeners } from 'node:events'
import type { Dependencies } from '@gantry/service-runtime'
import type { Deliveries } from '../delivery/deliveries.ts'
import { hostResolver, type Resolve } from '../http/host-resolver.ts'
import { sender } from '../http/post.ts'
import type { NotifierSettings } from '../settings.ts'
import type { SigningKeys } from '../webhook/signing.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import { attempts, sendingAttempts } from './attempts.ts'
import { Dispatcher } from './dispatcher.ts'
import { removeFinished } from './expiry.ts'
import { BREAKER, type BreakerRules, LIMITS, Limiter } from './limiter.ts'
import { notifierMetrics, registerGauges } from './metrics.ts'
import { Scheduler, type Starter } from './scheduler.ts'

/** External dependencies of deliveries; tests replace them. */
export interface ExternalDependencies {
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number
  resolve: Resolve
  /** Certificates to trust in addition to the public ones, as PEM. */
  ca?: string
  breaker: BreakerRules
}

export interface DeliveringOptions {
  deliveries: Deliveries
  webhooks: Webhooks
  keys: SigningKeys
  settings: NotifierSettings
  dependencies: Pick<Dependencies, 'readModels' | 'bus' | 'now' | 'process'>
  externals: Partial<ExternalDependencies>
}

export interface Delivering {
  dispatcher: Dispatcher
  /** Starts no more attempts and finishes the running ones, for a limited time. */
  release(): Promise<void>
  /** Completes the creation of deliveries and closes the connections. Called after `release`. */
  stop(): Promise<void>
}

/**
 * Timeout of the look-up of a host name, unless half of the timeout of an attempt is less: an attempt whose name is not
 * resolved fails as such and not by its timeout, which would be the fault of the receiver.
 */
const LOOK_UP_MS = 5_000
/** Time after the timeout of an attempt to record its outcome, before it counts as lost. */
const RECORDING_MS = 5_000
/** How long running attempts may continue when the service stops, unless a quarter of SHUTDOWN_TIMEOUT is less. */
const GRACE_MS = 5_000
/**
 * Maximum difference of clocks. It delays the removal of streams, so that none is removed while its event is recent
 * enough to create the delivery again, or while the outcome of an attempt may still arrive.
 */
const SKEW_MS = 60_000

/** Connects what creates deliveries and makes their attempts. */
export function delivering(options: DeliveringOptions): Delivering {
  const { deliveries, webhooks, keys, settings, dependencies } = options
  const { readModels, bus, now, process } = dependencies
  const { holder, log } = process
  const { WEBHOOK_TIMEOUT: timeoutMs, WEBHOOK_RETENTION: retentionMs } = settings
  const lookUpMs = Math.min(LOOK_UP_MS, timeoutMs / 2)
  const { random = Math.random, ca, breaker = BREAKER } = options.externals
  const { resolve = hostResolver({ timeoutMs: lookUpMs }) } = options.externals
  const lostAfterMs = timeoutMs + RECORDING_MS

  const limiter = new Limiter({ ...LIMITS, perSecond: settings.WEBHOOK_RATE_PER_SECOND }, { rules: breaker })
  const metrics = notifierMetrics(process.metrics)
  registerGauges(process.metrics, limiter, deliveries)

  const http = sender({ resolve, allowed: settings.WEBHOOK_ALLOWED_CIDRS, timeoutMs, ...(ca && { ca }) })
  const interruption = new AbortController()
  const abandonment = new AbortController()
  // Every running attempt adds listeners to these signals.
  setMaxListeners(0, interruption.signal, abandonment.signal)
  const send = sendingAttempts({
    sender: http,
    payloads: deliveries.payloads,
    keys,
    timeoutMs,
    now,
    interrupted: interruption.signal,
    ...process,
  })
  const abandoned = abandonment.signal
  const makeAttempt = attempts({ deliveries, webhooks, send, metrics, random, abandoned, log })

  const housekeeping = (signal: AbortSignal) => {
    const before = new Date(now().getTime() - retentionMs - lostAfterMs - SKEW_MS).toISOString()
    return removeFinished({ deliveries, before, signal, log })
  }
  const { leases } = readModels
  const scheduler = (starter: Starter) =>
    new Scheduler({ deliveries, limiter, housekeeping, leases, holder, bus, now, log }, starter)
  const dispatcher = new Dispatcher({
    deliveries,
    webhooks,
    makeAttempt,
    limiter,
    scheduler,
    metrics,
    lostAfterMs,
    log,
  })

  return {
    dispatcher,
    async release() {
      // After the grace period the attempts are aborted, and there is the same time to record their outcomes.
      const graceMs = Math.min(GRACE_MS, settings.SHUTDOWN_TIMEOUT / 4)
      const grace = setTimeout(() => interruption.abort(), graceMs)
      const end = setTimeout(() => abandonment.abort(), 2 * graceMs)
      try {
        await dispatcher.stop()
      } finally {
        clearTimeout(grace)
        clearTimeout(end)
      }
    },
    async stop() {
      await dispatcher.stop()
      await http.close()
    },
  }
}
