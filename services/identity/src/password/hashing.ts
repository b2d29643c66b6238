import type { Argon2Algorithm, Argon2Parameters } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import { Piscina } from 'piscina'

export interface Hashing {
  algorithm: Argon2Algorithm
  parameters: Argon2Parameters
}

export interface Bounds {
  /** Maximum number of hashes that are computed at the same time. */
  atOnce: number
  /** Maximum number of hashes that wait. */
  waiting: number
}

/**
 * Hashes in worker threads, so that neither the event loop nor libuv's thread pool, which file access and DNS lookups
 * need, is blocked. Hashes start in the order of their calls. The first hash starts the first thread. Idle threads are
 * reused and do not keep the process alive.
 * @throws Refusal too-many-requests when the maximum number of hashes is waiting
 */
export function hashingThreads({ atOnce, waiting }: Bounds): (hashing: Hashing) => Promise<Uint8Array> {
  let pool: Piscina<Hashing, Uint8Array> | undefined
  let unfinished = 0

  const threads = () =>
    new Piscina<Hashing, Uint8Array>({
      filename: new URL('./hashing-thread.ts', import.meta.url).href,
      name: 'hash',
      // Piscina replaces a thread that has failed only up to the minimum; without one, waiting hashes would stay.
      minThreads: 1,
      maxThreads: atOnce,
      idleTimeout: Number.POSITIVE_INFINITY,
      stricterFIFO: true,
      execArgv: [],
    })

  return async hashing => {
    if (unfinished >= atOnce + waiting)
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
