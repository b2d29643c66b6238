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
