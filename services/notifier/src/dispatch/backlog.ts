/** A receiver whose oldest running attempt is older is slow. Its deliveries wait for it and not for this process. */
const SLOW_MS = 500
/** A delivery that waits longer waits for something else, e.g. it was cancelled. */
const FORGOTTEN_MS = 10_000

interface Lines {
  /** Time at which each delivery began to wait, and at which each running attempt began, in milliseconds; oldest first. */
  waiting: Map<string, number>
  running: Map<string, number>
}

/** First attempts that wait for a slot although their receivers answer quickly: this process does not keep up. */
export class Backlog {
  readonly #webhooks = new Map<string, Lines>()
  readonly #now: () => number

  /** @param now a monotonic clock in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  waits(webhook: string, delivery: string): void {
    this.#of(webhook).waiting.set(delivery, this.#now())
  }

  begins(webhook: string, delivery: string): void {
    const lines = this.#of(webhook)
    lines.waiting.delete(delivery)
    lines.running.set(delivery, this.#now())
  }

  ends(webhook: string, delivery: string): void {
    const lines = this.#of(webhook)
    lines.running.delete(delivery)
    if (lines.running.size === 0 && lines.waiting.size === 0) this.#webhooks.delete(webhook)
  }

  /** Number of deliveries. */
  get size(): number {
    const time = this.#now()
    let size = 0
    for (const { waiting, running } of this.#webhooks.values()) {
      for (const [delivery, since] of waiting) {
        if (time - since < FORGOTTEN_MS) break
        waiting.delete(delivery)
      }
      const [oldest] = running.values()
      if (oldest !== undefined && time - oldest < SLOW_MS) size += waiting.size
    }
    return size
  }

  #of(webhook: string): Lines {
    const known = this.#webhooks.get(webhook)
    if (known) return known
    const lines: Lines = { waiting: new Map(), running: new Map() }
    this.#webhooks.set(webhook, lines)
    return lines
  }
}
