interface Pauses {
  firstMs: number
  longestMs: number
  /** The largest part of a pause that is left out at random, from 0 to 1, so that processes do not retry in step. */
  jitter?: number
}

/** Pauses between retries. Each is twice as long as the one before, up to the longest. */
export class Backoff {
  readonly #pauses: Pauses
  #ms: number

  constructor(pauses: Pauses) {
    this.#pauses = pauses
    this.#ms = pauses.firstMs
  }

  /** The next pause in milliseconds. */
  next(): number {
    const { longestMs, jitter = 0 } = this.#pauses
    const ms = this.#ms
    this.#ms = Math.min(2 * ms, longestMs)
    return ms * (1 - jitter * Math.random())
  }

  /** Begins again with the first pause. */
  reset(): void {
    this.#ms = this.#pauses.firstMs
  }
}
