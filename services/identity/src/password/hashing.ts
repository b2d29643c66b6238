import type { Argon2Algorithm, Argon2Parameters } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import { networkOf, Slots } from '@gantry/service-runtime'
import { Piscina } from 'piscina'

export interface Hashing {
  algorithm: Argon2Algorithm
  parameters: Argon2Parameters
}

/** What a hash is for, and how long it may wait for a thread. */
export interface HashRequest {
  address: string
  /** User name whose password is checked. */
  name: string
  /** Maximum time until the hash starts, in milliseconds. */
  waitMs: number
}

/** @throws Refusal too-many-requests when the hash does not start in time */
export type Derive = (hashing: Hashing, request: HashRequest) => Promise<Uint8Array>

/** Time after which the hashes that were started no longer count for the shares, in milliseconds. */
const SHARES_MS = 60_000

/**
 * Hashes in worker threads, so that neither the event loop nor libuv's thread pool, which file access needs, is blocked.
 * The first hash starts the first thread. Idle threads are reused and do not keep the process alive.
 *
 * The next hash is one whose address has had the fewest hashes within the minute, among these one whose name has had the
 * fewest, and then the oldest. Many logins from one address, or for one name, therefore delay each other and not the
 * logins of others.
 * @param concurrent maximum number of hashes that are computed at the same time
 */
export function hashingThreads(concurrent: number): Derive {
  let pool: Piscina<Hashing, Uint8Array> | undefined
  /** Hashes that were started, by network and by name, since `sharesFrom`. */
  const started = new Map<string, number>()
  let sharesFrom = performance.now()

  const threads = () =>
    new Piscina<Hashing, Uint8Array>({
      filename: new URL('./hashing-thread.ts', import.meta.url).href,
      name: 'hash',
      // Piscina replaces a thread that has failed only up to the minimum; without one, waiting hashes would stay.
      minThreads: 1,
      maxThreads: concurrent,
      idleTimeout: Number.POSITIVE_INFINITY,
      execArgv: [],
    })

  const startedFor = (keys: readonly string[]) => keys.map(key => started.get(key) ?? 0)

  const slots = new Slots<readonly string[]>(concurrent, (a, b) => {
    const [[network = 0, name = 0], [otherNetwork = 0, otherName = 0]] = [startedFor(a), startedFor(b)]
    return network - otherNetwork || name - otherName
  })

  return async (hashing, { address, name, waitMs }) => {
    const keys = [`network ${networkOf(address)}`, `name ${name}`]
    const slot = await slots.take(keys, { waitMs })
    if (!slot) {
      const seconds = String(Math.ceil(waitMs / 1_000))
      throw new Refusal('too-many-requests', { headers: { 'retry-after': seconds } })
    }
    if (performance.now() - sharesFrom >= SHARES_MS) {
      started.clear()
      sharesFrom = performance.now()
    }
    for (const key of keys) started.set(key, (started.get(key) ?? 0) + 1)
    try {
      pool ??= threads()
      return await pool.run(hashing)
    } finally {
      slot.release()
    }
  }
}
