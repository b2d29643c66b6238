import { sleep } from '@gantry/pacing'
import { type Lease, LeaseLost, type Leases } from '@gantry/stores'
import { type Log, supervise, type Worker } from './worker.ts'

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

type LeasedTask = (lease: Lease, signal: AbortSignal, confirm: ConfirmLease) => Promise<void>

/**
 * Waits for the lease, runs the task while the process holds it, and releases it. The task's signal is aborted when the
 * lease is lost. After a pause of the process the signal comes late: `confirm` compares the time since the last renewal,
 * so that it throws even before a timer has run. Writes of the task must still be fenced, since the process can be
 * paused between `confirm` and the write.
 */
export async function underLease(
  { leases, name, holder, signal, ttlMs = 5_000 }: LeaseOptions,
  task: LeasedTask,
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
  const acquired = lease
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
        if (renewed?.token !== acquired.token) return lost.abort(new LeaseLost(name))
        renewedAt = askedAt
      } catch {
        if (performance.now() - renewedAt > ttlMs) return lost.abort(new LeaseLost(name))
      }
    }
  })()
  try {
    await task(acquired, AbortSignal.any([signal, lost.signal]), confirm)
    if (lost.signal.aborted) throw new LeaseLost(name)
  } finally {
    done.abort()
    await renewing
    await leases.release(acquired).catch(() => {})
  }
}

/** Supervises a task that runs in one process at a time, under the lease `name`. */
export const superviseUnderLease = (
  { log, ...lease }: Omit<LeaseOptions, 'signal'> & { log: Log },
  task: LeasedTask,
): Worker => supervise(lease.name, log, signal => underLease({ ...lease, signal }, task))
