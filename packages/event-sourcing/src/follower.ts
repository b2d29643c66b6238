import { setTimeout } from 'node:timers/promises'
import { type Lease, LeaseLost, type Leases } from '@gantry/read-models'

/** Where long-running parts tell what they do. pino's logger fits. */
export interface Log {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface Worker {
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** Runs a task until it is stopped; a failure is logged and the task starts again after a growing pause. */
export function supervise(name: string, log: Log, task: (signal: AbortSignal) => Promise<void>): Worker {
  const controller = new AbortController()
  const { signal } = controller
  const running = (async () => {
    let pause = FIRST_PAUSE_MS
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        await task(signal)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof LeaseLost) log.info({ worker: name }, 'lost its lease, waits for it')
        else log.error({ worker: name, err: error }, 'failed, starts again from its checkpoint')
      }
      if (performance.now() - startedAt > LONGEST_PAUSE_MS * 2) pause = FIRST_PAUSE_MS
      await setTimeout(pause, undefined, { signal }).catch(() => {})
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  })()
  return {
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

/**
 * Waits for the lease, runs the task while it is held, and gives it up. The task's signal is aborted when the lease
 * is lost; what it writes must be fenced by the lease's token all the same, since a paused process hears of it late.
 */
export async function underLease(
  { leases, name, holder, signal, ttlMs = 5_000 }: LeaseOptions,
  task: (lease: Lease, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const pause = () => setTimeout(ttlMs / 5, undefined, { signal }).catch(() => {})
  let lease: Lease | undefined
  while (!lease) {
    if (signal.aborted) return
    lease = await leases.acquire(name, holder, ttlMs)
    if (!lease) await pause()
  }
  const held = lease
  const lost = new AbortController()
  const done = new AbortController()
  const renewing = (async () => {
    let renewedAt = performance.now()
    while (!done.signal.aborted) {
      await setTimeout(ttlMs / 3, undefined, { signal: done.signal }).catch(() => {})
      if (done.signal.aborted) return
      try {
        const renewed = await leases.acquire(name, holder, ttlMs)
        if (renewed?.token !== held.token) return lost.abort(new LeaseLost(name))
        renewedAt = performance.now()
      } catch {
        if (performance.now() - renewedAt > ttlMs) return lost.abort(new LeaseLost(name))
      }
    }
  })()
  try {
    await task(held, AbortSignal.any([signal, lost.signal]))
    if (lost.signal.aborted) throw new LeaseLost(name)
  } finally {
    done.abort()
    await renewing
    await leases.release(held).catch(() => {})
  }
}
