import type { Lane } from '../delivery/lane.ts'
import { BREAKER, Breaker, type BreakerRules, type BreakerState } from './breaker.ts'

export interface Limits {
  /** Maximum number of concurrent attempts. */
  overall: number
  /** Maximum rate of attempts to one webhook, per second. No limit when left out or 0. */
  perSecond?: number
}

/** A concurrency slot, held by one attempt. */
export interface Slot {
  /**
   * Releases the slot. Further calls have no effect.
   * @param succeeded whether the endpoint accepted the attempt; undefined when no attempt was made, or when its outcome
   *   says nothing about the endpoint
   */
  release(succeeded?: boolean): void
}

/** Why no slot was granted: the concurrency limit, the rate limit of the webhook, or its open circuit breaker. */
export type Deferral = 'room' | 'rate' | 'breaker'

export interface OpenBreaker {
  webhook: string
  state: BreakerState
  /** Time since the breaker opened, in milliseconds. */
  openMs: number
}

/**
 * Limits concurrent attempts, overall and for each endpoint, so that a slow endpoint does not use up the slots of the
 * others. An endpoint is a webhook, not an origin: webhooks of many users share an origin, and a failing one must not
 * delay the others.
 *
 * A webhook gets another slot only while it holds less than an eighth of the free slots, rounded up (dynamic thresholds:
 * Choudhury and Hahne, 1998). A quarter of both limits is reserved for attempts that are not retries. Attempts that a
 * user requested are exempt from circuit breaker and rate limit.
 */
export interface Limiter {
  /** @returns a slot, or the reason why none is granted */
  acquire(lane: Lane): Slot | Deferral
  /**
   * Time until circuit breaker and rate limit admit the next attempt of the lane, in milliseconds. Free slots do not
   * matter.
   */
  delayMs(lane: Lane): number
  /**
   * Resolves when more than half of the slots are free, or after `atMostMs`. Each released slot resumes one caller. A
   * delivery that is created then can start its first attempt at once, which costs less than scheduling it.
   */
  halfFree(atMostMs: number): Promise<void>
  /** Discards circuit breaker, rate limit and slot count of a webhook, because it changed. */
  reset(webhook: string): void
  readonly running: number
  /** Endpoints whose circuit breaker is open or half-open. */
  openBreakers(): OpenBreaker[]
}

export const LIMITS: Limits = { overall: 256 }
const SHARE_OF_WEBHOOK = 1 / 8
const SHARE_OF_RETRIES = 0.75

/** Number of held slots, and how many of them retries hold. */
class SlotCount {
  all = 0
  retries = 0

  has(size: number, retry: boolean) {
    return this.all < size && (!retry || this.retries < size * SHARE_OF_RETRIES)
  }
  add(retry: boolean, count: 1 | -1) {
    this.all += count
    if (retry) this.retries += count
  }
}

interface Known {
  readonly places: SlotCount
  readonly breaker: Breaker
  /** Theoretical arrival time of the next attempt at the configured rate (GCRA: ITU-T I.371, Annex A). */
  evenly: number
}

const BURST_MS = 1_000

export function limiter(
  { overall, perSecond }: Limits = LIMITS,
  { now = () => performance.now(), rules = BREAKER }: { now?: () => number; rules?: BreakerRules } = {},
): Limiter {
  const all = new SlotCount()
  const known = new Map<string, Known>()
  const anew = (): Known => ({
    places: new SlotCount(),
    breaker: new Breaker(rules),
    evenly: Number.NEGATIVE_INFINITY,
  })
  const waiting = new Set<() => void>()
  const isHalfFree = () => all.all < overall / 2
  const paceMs = perSecond ? 1_000 / perSecond : 0
  const byHand = ({ kind }: Lane) => kind === 'test' || kind === 'manual'
  /** Earliest time at which the rate limit admits another attempt. */
  const nextAt = ({ evenly }: Known) => (paceMs > 0 ? evenly + paceMs - BURST_MS : Number.NEGATIVE_INFINITY)

  const deferral = (own: Known, lane: Lane, time: number): Deferral | undefined => {
    const retry = lane.kind === 'retry'
    if (!byHand(lane)) {
      if (!own.breaker.admits(time)) return 'breaker'
      if (nextAt(own) > time) return 'rate'
    }
    const share = Math.ceil((overall - all.all) * SHARE_OF_WEBHOOK)
    return all.has(overall, retry) && own.places.has(share, retry) ? undefined : 'room'
  }

  return {
    get running() {
      return all.all
    },
    acquire(lane) {
      const { webhook, kind } = lane
      const retry = kind === 'retry'
      const own = known.get(webhook) ?? anew()
      const time = now()
      const deferred = deferral(own, lane, time)
      if (deferred) return deferred
      known.set(webhook, own)
      all.add(retry, 1)
      own.places.add(retry, 1)
      if (paceMs > 0) own.evenly = Math.max(own.evenly, time) + paceMs
      const probe = own.breaker.begin(time)
      let given = true
      return {
        release(succeeded) {
          if (!given) return
          given = false
          all.add(retry, -1)
          own.places.add(retry, -1)
          own.breaker.end(now(), probe, succeeded)
          const idle = own.places.all === 0 && own.breaker.flawless && nextAt(own) <= now() - BURST_MS
          if (idle && known.get(webhook) === own) known.delete(webhook)
          if (isHalfFree()) for (const proceed of waiting) return proceed()
        },
      }
    },
    delayMs(lane) {
      const own = known.get(lane.webhook)
      if (!own || byHand(lane)) return 0
      const time = now()
      return Math.max(own.breaker.openForMs(time), nextAt(own) - time, 0)
    },
    async halfFree(atMostMs) {
      if (waiting.size === 0 && isHalfFree()) return
      await new Promise<void>(resolve => {
        const proceed = () => {
          clearTimeout(timer)
          waiting.delete(proceed)
          resolve()
        }
        const timer = setTimeout(proceed, atMostMs)
        waiting.add(proceed)
      })
    },
    reset(webhook) {
      known.delete(webhook)
    },
    openBreakers() {
      const time = now()
      return [...known].flatMap(([webhook, { breaker }]) =>
        breaker.openedAt === undefined
          ? []
          : [{ webhook, state: breaker.state(time), openMs: time - breaker.openedAt }],
      )
    },
  }
}
