import { Backoff, sleep } from '@gantry/pacing'
import { LeaseLost } from '@gantry/stores'

/** The log of long-running parts. pino's logger implements it. */
export interface Log {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface Worker {
  /** The name in the log lines of its failures; left out for work that has none. */
  readonly name?: string
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>
  /** What the worker waits for before its service may answer; undefined when it is ready. */
  readonly waitsFor?: string | undefined
}

/** A failure that a restart does not end. The message says what an operator has to do. */
export class OperatorNeeded extends Error {
  override name = 'OperatorNeeded'
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/**
 * Runs a task until it is stopped. A failure is logged, and the task starts again after a growing pause; after
 * OperatorNeeded it does not.
 */
export function supervise(name: string, log: Log, task: (signal: AbortSignal) => Promise<void>): Worker {
  const controller = new AbortController()
  const { signal } = controller
  let waitsFor: string | undefined
  const running = (async () => {
    const pauses = new Backoff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS })
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        await task(signal)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof OperatorNeeded) {
          waitsFor = `an operator: ${error.message}`
          return log.error({ worker: name }, `has stopped and waits for ${waitsFor}`)
        }
        if (error instanceof LeaseLost) log.info({ worker: name }, 'lost its lease, waits for it')
        else log.error({ worker: name, err: error }, 'failed, starts again from its checkpoint')
      }
      if (performance.now() - startedAt > LONGEST_PAUSE_MS * 2) pauses.reset()
      await sleep(pauses.next(), { signal })
    }
  })()
  return {
    name,
    get waitsFor() {
      return waitsFor
    },
    async stop() {
      controller.abort()
      await running
    },
  }
}
