import { Backoff, sleep } from '@gantry/pacing'
import { CommandFailed, notice } from './command.ts'

/** A failure that another attempt may not have. */
export class TemporaryFailure extends CommandFailed {
  /** The pause that the other side asks for, in milliseconds. */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

interface RetriesOptions {
  /** Ends a pause. */
  signal: AbortSignal
  /** Time without progress after which a failure is final, in milliseconds. */
  giveUpMs?: number
  /** The time before the other side has answered. Default: `giveUpMs`. */
  firstGiveUpMs?: number
}

const PAUSES = { firstMs: 500, longestMs: 30_000, jitter: 0.5 }
const LONGEST_RETRY_AFTER_MS = 60_000
export const GIVE_UP_MS = 120_000
/** For requests to BASE_URL, which may be wrong. */
export const FIRST_GIVE_UP_MS = 10_000

/** Pauses between attempts, each longer than the one before until there is progress. */
export class Retries {
  readonly #options: RetriesOptions
  readonly #pauses = new Backoff(PAUSES)
  #giveUpMs: number
  #progressAt = performance.now()

  constructor(options: RetriesOptions) {
    const { giveUpMs = GIVE_UP_MS, firstGiveUpMs = giveUpMs } = options
    this.#options = options
    this.#giveUpMs = firstGiveUpMs
  }

  /** To be called when the other side has answered. That alone is no progress. */
  answered(): void {
    this.#giveUpMs = this.#options.giveUpMs ?? GIVE_UP_MS
  }

  /** To be called when there has been progress. */
  progress(): void {
    this.answered()
    this.#progressAt = performance.now()
    this.#pauses.reset()
  }

  /** Waits before the next attempt. @throws the failure when it is not temporary, or too long after the last progress */
  async failed(failure: unknown): Promise<void> {
    if (!(failure instanceof TemporaryFailure)) throw failure
    if (performance.now() - this.#progressAt > this.#giveUpMs) throw failure
    const pauseMs = Math.max(this.#pauses.next(), Math.min(failure.retryAfterMs, LONGEST_RETRY_AFTER_MS))
    notice(`${failure.message}; trying again in ${(pauseMs / 1_000).toFixed(1)} s`)
    await sleep(pauseMs, { signal: this.#options.signal })
  }

  /** Repeats an attempt until it succeeds. @returns undefined after the signal @throws like `failed` */
  async until<Result>(attempt: () => Promise<Result>): Promise<Result | undefined> {
    const { signal } = this.#options
    while (!signal.aborted) {
      try {
        return await attempt()
      } catch (error) {
        if (!signal.aborted) await this.failed(error)
      }
    }
    return undefined
  }
}

/** The reason of a failed fetch, whose own message says only that it failed. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error & { code?: string } }
  return cause?.message || cause?.code || message || String(error)
}
