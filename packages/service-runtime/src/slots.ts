/** Permission to work, beside a limited number of others. */
export interface Slot {
  held(): boolean
  /** Returns the slot; further calls do nothing. The end of the signal returns it too. */
  release(): void
}

/** Limits how much work is done at the same time. */
export class Slots<Key = undefined> {
  readonly #limit: number
  readonly #order: (a: Key, b: Key) => number
  readonly #waiting = new Set<{ key: Key; settle(given: boolean): void }>()
  /** Number of slots that are held. */
  running = 0

  /** @param order sorts the keys of callers that wait, the next one first; equal ones get slots in the order of their calls */
  constructor(limit: number, order: (a: Key, b: Key) => number = () => 0) {
    this.#limit = limit
    this.#order = order
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** @returns undefined when no slot came within `waitMs` milliseconds, or before the signal was aborted */
  async take(
    key: Key,
    { waitMs, signal }: { waitMs?: number | undefined; signal?: AbortSignal } = {},
  ): Promise<Slot | undefined> {
    if (signal?.aborted) return undefined
    if (this.running < this.#limit) this.running++
    else if (!(await this.#turn(key, waitMs, signal))) return undefined
    let held = true
    const release = () => {
      if (!held) return
      held = false
      signal?.removeEventListener('abort', release)
      this.#passOn()
    }
    signal?.addEventListener('abort', release)
    if (signal?.aborted) release()
    return { held: () => held, release }
  }

  #turn(key: Key, waitMs: number | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise(resolve => {
      const settle = (given: boolean) => {
        this.#waiting.delete(waiting)
        clearTimeout(deadline)
        signal?.removeEventListener('abort', giveUp)
        resolve(given)
      }
      const waiting = { key, settle }
      const giveUp = () => settle(false)
      const deadline = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      signal?.addEventListener('abort', giveUp)
      this.#waiting.add(waiting)
    })
  }

  #passOn(): void {
    const [next] = [...this.#waiting].toSorted((a, b) => this.#order(a.key, b.key))
    if (next) next.settle(true)
    else this.running--
  }
}
