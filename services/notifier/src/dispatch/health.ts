import { setImmediate } from 'node:timers/promises'
import type { WebhookHealth } from '@gantry/contracts'
import { LRUCache } from 'lru-cache'
import type { AttemptOutcome } from '../delivery/deliveries.ts'
import { concernsEndpoint } from '../http/failure.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import { BREAKER, type BreakerRules } from './limiter.ts'

/** What the health of a webhook depends on besides its deliveries. */
type Judged = Pick<WebhookDocument, 'id' | 'url' | 'failingSince'>

interface Healths {
  of(webhook: Judged): Promise<WebhookHealth>
  /** Of the webhooks of a page; may be a second old. Concurrent lists share the reads. */
  ofAll(webhooks: readonly Judged[]): Promise<WebhookHealth[]>
}

interface HealthOptions {
  deliveries: {
    /** The outcomes of attempts of a webhook, by delivery: of the deliveries with the latest attempts, the latest first. */
    outcomes(webhook: string, limit: number): Promise<AttemptOutcome[][]>
  }
  now(): Date
  rules?: BreakerRules | undefined
}

const DELIVERIES = 50
const ATTEMPTS = 100
/** How long a list uses a health again, in milliseconds: reading it takes about a millisecond for each webhook. */
const KEPT_MS = 1_000

/** Computes the health of webhooks from the records of their deliveries, so that all replicas and restarts agree on it. */
export function healths({ deliveries, now, rules = BREAKER }: HealthOptions): Healths {
  const kept = new LRUCache<string, Promise<WebhookHealth>>({ max: 1_000, ttl: KEPT_MS })
  const keyOf = ({ id, url }: Judged) => `${id} ${url}`
  const read = async (webhook: Judged) => {
    const outcomes = await deliveries.outcomes(webhook.id, DELIVERIES)
    return healthFrom(outcomes, webhook, { now: now().getTime(), rules })
  }
  const of = (webhook: Judged) => {
    const key = keyOf(webhook)
    const health = read(webhook)
    kept.set(key, health)
    health.catch(() => {
      if (kept.peek(key) === health) kept.delete(key)
    })
    return health
  }
  return {
    of,
    async ofAll(webhooks) {
      const found: WebhookHealth[] = []
      for (const webhook of webhooks) {
        const known = kept.get(keyOf(webhook))
        found.push(await (known ?? of(webhook)))
        // Other requests are answered between two webhooks.
        if (!known) await setImmediate()
      }
      return found
    },
  }
}

function healthFrom(
  outcomes: readonly AttemptOutcome[][],
  { url, failingSince: recorded }: Judged,
  { now, rules }: { now: number; rules: BreakerRules },
): WebhookHealth {
  const ended = outcomes
    .flatMap(attempts => attempts.filter(isEnded))
    .filter(attempt => attempt.url === url && concernsEndpoint(attempt))
    .toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
    .slice(0, ATTEMPTS)
  const succeeded = ended.filter(({ error }) => error === null).length
  const lastSuccess = ended.findIndex(({ error }) => error === null)
  const failures = lastSuccess === -1 ? ended.length : lastSuccess
  const durations = ended.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b)
  const [latest] = ended
  const first = ended[failures - 1]?.startedAt ?? null
  return {
    attempts: ended.length,
    successRate: latest ? succeeded / ended.length : null,
    p95LatencyMs: durations[Math.ceil(durations.length * 0.95) - 1] ?? null,
    consecutiveFailures: failures,
    failingSince: lastSuccess === -1 ? earlier(recorded, first) : first,
    ...(latest ? circuitAfter(latest, failures, { now, rules }) : CLOSED),
  }
}

type Ended = AttemptOutcome & { durationMs: number }
const isEnded = (attempt: AttemptOutcome): attempt is Ended => attempt.durationMs !== null

const earlier = (a: string | null, b: string | null) => (a === null || b === null ? (a ?? b) : a < b ? a : b)

const CLOSED = { circuit: 'CLOSED', pausedUntil: null } as const

/** The state of the circuit breaker of a process that has seen all attempts, see Breaker. */
function circuitAfter(
  { startedAt, durationMs }: Ended,
  failures: number,
  { now, rules }: { now: number; rules: BreakerRules },
): Pick<WebhookHealth, 'circuit' | 'pausedUntil'> {
  const probes = failures - rules.failures
  if (probes < 0) return CLOSED
  const pauseMs = Math.min(rules.firstPauseMs * 2 ** probes, rules.longestPauseMs)
  const end = Date.parse(startedAt) + durationMs + pauseMs
  return { circuit: now < end ? 'OPEN' : 'HALF_OPEN', pausedUntil: new Date(end).toISOString() }
}
