import { setTimeout } from 'node:timers/promises'
import type { CommandMetadata } from './decider.ts'
import { EventStoreUnavailable, WrongExpectedRevision } from './event-store.ts'

const TRIES_ON_CONFLICT = 20
const TRIES_WHEN_UNAVAILABLE = 3
/** Another process repeats a command only after a longer time; see the idempotency of requests in service-kit. */
const OTHER_TRY_AFTER_MS = 1_000

/** The tries of one command: after which failures there is another one, and what it has to find out first. */
export class Tries {
  readonly #startedAt = performance.now()
  #count = 1
  #mayHaveAppended: boolean
  #conflicted = false

  constructor({ repeated = false }: CommandMetadata) {
    this.#mayHaveAppended = repeated
  }

  /** Whether an earlier try may have appended the events of the command without being acknowledged. */
  get mayHaveAppended(): boolean {
    return this.#mayHaveAppended
  }

  /** Whether the stream had more events than the cached state when an earlier try appended. */
  get conflicted(): boolean {
    return this.#conflicted
  }

  /** Whether an acknowledged append is certainly that of this try. Tries in other processes are far apart in time. */
  get isOnlyTry(): boolean {
    return !this.#mayHaveAppended && performance.now() - this.#startedAt < OTHER_TRY_AFTER_MS
  }

  /**
   * Waits until the command may be tried again after a failed append.
   * @throws the error itself when the command is not tried again
   */
  async next(error: unknown): Promise<void> {
    if (error instanceof EventStoreUnavailable && this.#count < TRIES_WHEN_UNAVAILABLE) {
      this.#mayHaveAppended = true
      await setTimeout(100 * this.#count)
    } else if (error instanceof WrongExpectedRevision && this.#count < TRIES_ON_CONFLICT) {
      this.#conflicted = true
    } else throw error
    this.#count++
  }
}
