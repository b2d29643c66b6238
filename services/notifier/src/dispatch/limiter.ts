import { CIRCUIT } from '@gantry/contracts'
import { atMost } from '@gantry/event-sourcing'
import { LRUCache } from 'lru-cache'
import type { Queue } from '../delivery/delivery.projection.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'

/** State of the circuit breaker of an endpoint, in this process. */
export type BreakerState =
  | 'closed'
  /** Too many consecutive attempts failed: no attempts are made until a pause has passed. */
  | 'open'
  /** The pause is over: one attempt at a time probes the endpoint. */
  | 'half-open'

export interface BreakerRules {
  /** Number of consecutive failures that open the breaker. */
  failures: number
  /** First pause after the breaker opens, in milliseconds. Each failed probe doubles the pause, up to `longestPauseMs`. */
  firstPauseMs: number
  longestPauseMs: number
}

export const BREAKER: BreakerRules = CIRCUIT

/** A circuit breaker (Nygard, "Release It!"). Times are milliseconds of any clock. */
export class Breaker {
  readonly #rules: BreakerRules
  #failures = 0
  #pauseMs: number
  #openUntil = Number.NEGATIVE_INFINITY
  #openedAt: number | undefined
  #probing = false

  constructor(rules: BreakerRules) {
    this.#rules = rules
    this.#pauseMs = rules.firstPauseMs
  }

  state(now: number): BreakerState {
    if (this.#openedAt === undefined) return 'closed'
    return now < this.#openUntil ? 'open' : 'half-open'
  }

  /** Time at which the breaker opened; undefined while it is closed. */
  get openedAt(): number | undefined {
    return this.#openedAt
  }

  /** Time until the next probe is admitted, in milliseconds; 0 unless the breaker is open. */
  openForMs(now: number): number {
    return this.state(now) === 'open' ? this.#openUntil - now : 0
  }

  /** Whether no attempt has failed since the last success. */
  get withoutFailures(): boolean {
    return this.#failures === 0
  }

  admits(now: number): boolean {
    const state = this.state(now)
    return state === 'closed' || (state === 'half-open' && !this.#probing)
  }

  /** @returns whether the attempt is a probe */
  begin(now: number): boolean {
    const probe = this.state(now) === 'half-open' && !this.#probing
    if (probe) this.#probing = true
    return probe
  }

  /** @param succeeded undefined when the attempt says nothing about the endpoint */
  end(now: number, probe: boolean, succeeded: boolean | undefined): void {
    if (probe) this.#probing = false
    if (succeeded) {
      this.#failures = 0
      this.#pauseMs = this.#rules.firstPauseMs
      this.#openedAt = undefined
    } else if (succeeded === false) {
      this.#failures++
      // Failures of attempts that started before the breaker opened do not extend the pause.
      if (this.#openedAt === undefined ? this.#failures >= this.#rules.failures : probe) this.#open(now)
    }
  }

  #open(now: number) {
    this.#openedAt ??= now
    this.#openUntil = now + this.#pauseMs
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#rules.longestPauseMs)
  }
}

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
export const DEFERRALS = ['room', 'rate', 'breaker'] as const
export type Deferral = (typeof DEFERRALS)[number]

export interface OpenBreaker {
  webhook: string
  state: BreakerState
  /** Time since the breaker opened, in milliseconds. */
  openMs: number
}

export const LIMITS: Limits = { overall: 256 }
/** Slots that an owner may hold for each free slot. */
const PER_FREE_SLOT = 3
const SHARE_OF_WEBHOOK = 1 / 8
const SHARE_OF_RETRIES = 0.75
/** Number of webhooks whose owner and URL are known. */
const KNOWN = 10_000

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

interface Endpoint {
  readonly slots: SlotCount
  readonly breaker: Breaker
  /** Theoretical arrival time of the next attempt at the configured rate (GCRA: ITU-T I.371, Annex A). */
  nextArrival: number
}

const BURST_MS = 1_000

/**
 * Limits concurrent attempts, overall, for each owner and for each endpoint, so that slow endpoints do not use up the slots
 * of the others. An endpoint is a webhook, not an origin: webhooks of many users share an origin, and a failing one must
 * not delay the others.
 *
 * The webhooks of an owner get another slot only while they hold less than three times the free slots, and one of them only
 * while it holds less than an eighth of the free slots that its owner may get, rounded up (dynamic thresholds: Choudhury and
 * Hahne, 1998). So a slot stays free for the next owner. A quarter of each limit is reserved for attempts that are not
 * retries. Attempts that a user requested are exempt from circuit breaker and rate limit.
 */
export class Limiter {
  readonly #limits: Limits
  readonly #now: () => number
  readonly #rules: BreakerRules
  readonly #all = new SlotCount()
  /** Webhooks whose owner is unknown here count as those of one owner. */
  readonly #known = new LRUCache<string, Pick<WebhookDocument, 'owner' | 'url'>>(atMost(KNOWN))
  readonly #owners = new Map<string | null | undefined, SlotCount>()
  readonly #webhooks = new Map<string, Endpoint>()
  readonly #waiting = new Set<() => void>()
  readonly #intervalMs: number

  constructor(
    limits: Limits = LIMITS,
    { now = () => performance.now(), rules = BREAKER }: { now?: () => number; rules?: BreakerRules } = {},
  ) {
    this.#limits = limits
    this.#now = now
    this.#rules = rules
    this.#intervalMs = limits.perSecond ? 1_000 / limits.perSecond : 0
  }

  /** Number of slots that are held. */
  get running(): number {
    return this.#all.all
  }

  /** Tells owner and URL of a webhook. Another URL than before is another endpoint, without failures. */
  know({ id, owner, url }: Pick<WebhookDocument, 'id' | 'owner' | 'url'>): void {
    const known = this.#known.get(id)
    if (known && known.url !== url) this.#webhooks.delete(id)
    this.#known.set(id, { owner, url })
  }

  /** Discards what is known of a deleted webhook. */
  forget(webhook: string): void {
    this.#known.delete(webhook)
    this.#webhooks.delete(webhook)
  }

  /** @returns a slot, or the reason why none is granted */
  acquire(queue: Queue): Slot | Deferral {
    const { webhook } = queue
    const retry = queue.kind === 'retry'
    const endpoint = this.#webhooks.get(webhook) ?? {
      slots: new SlotCount(),
      breaker: new Breaker(this.#rules),
      nextArrival: Number.NEGATIVE_INFINITY,
    }
    const owner = this.#known.get(webhook)?.owner
    const ofOwner = this.#owners.get(owner) ?? new SlotCount()
    const time = this.#now()
    const deferred = this.#deferral(endpoint, ofOwner, queue, time)
    if (deferred) return deferred
    this.#webhooks.set(webhook, endpoint)
    this.#owners.set(owner, ofOwner)
    const counts = [this.#all, ofOwner, endpoint.slots]
    for (const count of counts) count.add(retry, 1)
    if (this.#intervalMs > 0) endpoint.nextArrival = Math.max(endpoint.nextArrival, time) + this.#intervalMs
    const probe = endpoint.breaker.begin(time)
    let held = true
    return {
      release: succeeded => {
        if (!held) return
        held = false
        for (const count of counts) count.add(retry, -1)
        if (ofOwner.all === 0) this.#owners.delete(owner)
        endpoint.breaker.end(this.#now(), probe, succeeded)
        this.#removeIfIdle(webhook, endpoint)
        if (this.#isHalfFree()) for (const proceed of this.#waiting) return proceed()
      },
    }
  }

  /**
   * Time until circuit breaker and rate limit admit the next attempt of the queue, in milliseconds. Free slots do not
   * matter.
   */
  delayMs(queue: Queue): number {
    const endpoint = this.#webhooks.get(queue.webhook)
    if (!endpoint || isRequested(queue)) return 0
    const time = this.#now()
    return Math.max(endpoint.breaker.openForMs(time), this.#admitsAt(endpoint) - time, 0)
  }

  /**
   * Resolves when more than half of the slots are free, or after `atMostMs`. Each released slot resumes one caller. A
   * delivery that is created then can start its first attempt at once, which costs less than scheduling it.
   */
  async halfFree(atMostMs: number): Promise<void> {
    if (this.#waiting.size === 0 && this.#isHalfFree()) return
    await new Promise<void>(resolve => {
      const proceed = () => {
        clearTimeout(timer)
        this.#waiting.delete(proceed)
        resolve()
      }
      const timer = setTimeout(proceed, atMostMs)
      this.#waiting.add(proceed)
    })
  }

  /** Endpoints whose circuit breaker is open or half-open. */
  openBreakers(): OpenBreaker[] {
    const time = this.#now()
    return [...this.#webhooks].flatMap(([webhook, { breaker }]) =>
      breaker.openedAt === undefined
        ? []
        : [{ webhook, state: breaker.state(time), openMs: time - breaker.openedAt }],
    )
  }

  #deferral(endpoint: Endpoint, ofOwner: SlotCount, queue: Queue, time: number): Deferral | undefined {
    if (!isRequested(queue)) {
      if (!endpoint.breaker.admits(time)) return 'breaker'
      if (this.#admitsAt(endpoint) > time) return 'rate'
    }
    const { overall } = this.#limits
    const retry = queue.kind === 'retry'
    const free = overall - this.#all.all
    const most = free * PER_FREE_SLOT
    const share = Math.ceil(Math.min(free, most - ofOwner.all) * SHARE_OF_WEBHOOK)
    const granted =
      this.#all.has(overall, retry) && ofOwner.has(most, retry) && endpoint.slots.has(share, retry)
    return granted ? undefined : 'room'
  }

  /** Earliest time at which the rate limit admits another attempt. */
  #admitsAt({ nextArrival }: Endpoint): number {
    return this.#intervalMs > 0 ? nextArrival + this.#intervalMs - BURST_MS : Number.NEGATIVE_INFINITY
  }

  #isHalfFree(): boolean {
    return this.#all.all < this.#limits.overall / 2
  }

  #removeIfIdle(webhook: string, endpoint: Endpoint): void {
    const idle =
      endpoint.slots.all === 0 &&
      endpoint.breaker.withoutFailures &&
      this.#admitsAt(endpoint) <= this.#now() - BURST_MS
    if (idle && this.#webhooks.get(webhook) === endpoint) this.#webhooks.delete(webhook)
  }
}

/** Whether a user requested the attempts of the queue. */
const isRequested = ({ kind }: Queue) => kind === 'test' || kind === 'manual'
