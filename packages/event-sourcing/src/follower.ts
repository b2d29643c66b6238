import { Backoff, sleep } from '@gantry/messaging'
import { type Lease, LeaseLost, type Leases } from '@gantry/read-models'

/** The log of long-running parts. pino's logger implements it. */
export interface Log {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface Worker {
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>
  /** What the worker waits for before its service may answer; undefined when it is ready. */
  readonly waitsFor?: string | undefined
}

/** A failure that a restart does not end. The message says what an operator has to do. */
export class OperatorNeeded extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OperatorNeeded'
  }
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
    get waitsFor() {
      return waitsFor
    },
    async stop() {
      controller.abort()
      await running
    },
  }
}

export interface LeaseOptions {
  leases: Leases
  name: string
  /** Unique among replicas. */
  holder: string
  ttlMs?: number
  signal: AbortSignal
}

/** To be called right before an effect. @throws LeaseLost when another process may hold the lease */
export type ConfirmLease = () => void

/**
 * Waits for the lease, runs the task while the process holds it, and releases it. The task's signal is aborted when the
 * lease is lost. After a pause of the process the signal comes late: `confirm` compares the time since the last renewal,
 * so that it throws even before a timer has run. Writes of the task must still be fenced, since the process can be
 * paused between `confirm` and the write.
 */
export async function underLease(
  { leases, name, holder, signal, ttlMs = 5_000 }: LeaseOptions,
  task: (lease: Lease, signal: AbortSignal, confirm: ConfirmLease) => Promise<void>,
): Promise<void> {
  let lease: Lease | undefined
  // The store counts the duration of the lease from its answer, which is later.
  let renewedAt = performance.now()
  while (!lease) {
    if (signal.aborted) return
    renewedAt = performance.now()
    lease = await leases.acquire(name, holder, ttlMs)
    if (!lease) await sleep(ttlMs / 5, { signal })
  }
  const held = lease
  const lost = new AbortController()
  const done = new AbortController()
  const confirm = () => {
    if (lost.signal.aborted || performance.now() - renewedAt > ttlMs) throw new LeaseLost(name)
  }
  const renewing = (async () => {
    while (!done.signal.aborted) {
      await sleep(ttlMs / 3, { signal: done.signal })
      if (done.signal.aborted) return
      const askedAt = performance.now()
      try {
        const renewed = await leases.acquire(name, holder, ttlMs)
        if (renewed?.token !== held.token) return lost.abort(new LeaseLost(name))
        renewedAt = askedAt
      } catch {
        if (performance.now() - renewedAt > ttlMs) return lost.abort(new LeaseLost(name))
      }
    }
  })()
  try {
    await task(held, AbortSignal.any([signal, lost.signal]), confirm)
    if (lost.signal.aborted) throw new LeaseLost(name)
  } finally {
    done.abort()
    await renewing
    await leases.release(held).catch(() => {})
  }
}
