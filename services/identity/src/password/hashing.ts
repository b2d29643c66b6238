import type { Argon2Algorithm, Argon2Parameters } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import { Piscina } from 'piscina'

export interface Hashing {
  algorithm: Argon2Algorithm
  parameters: Argon2Parameters
}

export interface HashingLimits {
  /** Maximum number of hashes that are computed at the same time. */
  concurrent: number
  /** Maximum number of hashes that wait. */
  queued: number
}

/**
 * Hashes in worker threads, so that neither the event loop nor libuv's thread pool, which file access and DNS lookups
 * need, is blocked. Hashes start in the order of their calls. The first hash starts the first thread. Idle threads are
 * reused and do not keep the process alive.
 * @throws Refusal too-many-requests when the maximum number of hashes is waiting
 */
export function hashingThreads({
  concurrent,
  queued,
}: HashingLimits): (hashing: Hashing) => Promise<Uint8Array> {
  let pool: Piscina<Hashing, Uint8Array> | undefined
  let unfinished = 0

  const threads = () =>
    new Piscina<Hashing, Uint8Array>({
      filename: new URL('./hashing-thread.ts', import.meta.url).href,
      name: 'hash',
      // Piscina replaces a thread that has failed only up to the minimum; without one, waiting hashes would stay.
      minThreads: 1,
      maxThreads: concurrent,
      idleTimeout: Number.POSITIVE_INFINITY,
      stricterFIFO: true,
      execArgv: [],
    })

  return async hashing => {
    if (unfinished >= concurrent + queued)
      throw new Refusal('too-many-requests', { headers: { 'retry-after': '1' } })
    unfinished++
    try {
      pool ??= threads()
      return await pool.run(hashing)
    } finally {
      unfinished--
    }
  }
}
