/** How a webhook's endpoint is doing, as far as this process knows. */
export type BreakerState =
  | 'closed'
  /** It failed too often in a row: it is not called for a while. */
  | 'open'
  /** The while is over: one attempt at a time finds out how it is doing now. */
  | 'half-open'

export interface BreakerRules {
  /** Attempts in a row that fail before it opens. */
  failures: number
  /** How long it stays open at first; doubled for each probe that fails. Milliseconds. */
  firstPauseMs: number
  longestPauseMs: number
}

export const BREAKER: BreakerRules = { failures: 10, firstPauseMs: 1_000, longestPauseMs: 60_000 }

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

  /** Since when it has not been closed; undefined while it is. */
  get openedAt(): number | undefined {
    return this.#openedAt
  }

  /** For how long nothing may be begun, in milliseconds. */
  openForMs(now: number): number {
    return this.state(now) === 'open' ? this.#openUntil - now : 0
  }

  /** Whether it remembers anything. */
  get untroubled(): boolean {
    return this.#failures === 0
  }

  admits(now: number): boolean {
    const state = this.state(now)
    return state === 'closed' || (state === 'half-open' && !this.#probing)
  }

  /** @returns whether the attempt that is begun is a probe */
  begin(now: number): boolean {
    const probe = this.state(now) === 'half-open' && !this.#probing
    if (probe) this.#probing = true
    return probe
  }

  /** @param succeeded undefined when it is not known what the endpoint would have said */
  end(now: number, probe: boolean, succeeded: boolean | undefined): void {
    if (probe) this.#probing = false
    if (succeeded) {
      this.#failures = 0
      this.#pauseMs = this.#rules.firstPauseMs
      this.#openedAt = undefined
    } else if (succeeded === false) {
      this.#failures++
      // What was under way when it opened says nothing new.
      if (this.#openedAt === undefined ? this.#failures >= this.#rules.failures : probe) this.#open(now)
    }
  }

  #open(now: number) {
    this.#openedAt ??= now
    this.#openUntil = now + this.#pauseMs
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#rules.longestPauseMs)
  }
}
