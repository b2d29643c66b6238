import type { Leases } from '@gantry/stores'
import { Gauge, type Registry } from 'prom-client'

/**
 * The same leases, with a gauge of the leases that this process holds. A lease that was not renewed in time counts as
 * lost, so the sum over replicas is 0 or 1, except for moments after a takeover.
 */
export function watchedLeases(registry: Registry, leases: Leases): Leases {
  /** The end of each requested lease, by name, in the monotonic time of this process. */
  const ends = new Map<string, number>()
  const notHeld = Number.NEGATIVE_INFINITY
  new Gauge({
    name: 'gantry_lease_held',
    help: '1 in the process that holds the lease and does its work, 0 in processes that wait for it',
    labelNames: ['lease'],
    registers: [registry],
    collect() {
      this.reset()
      const now = performance.now()
      const held = new Set([...ends].filter(([, end]) => now < end).map(([name]) => labelOf(name)))
      for (const name of ends.keys()) this.set({ lease: labelOf(name) }, held.has(labelOf(name)) ? 1 : 0)
    },
  })
  return {
    async acquire(name, holder, ttlMs) {
      const askedAt = performance.now()
      const lease = await leases.acquire(name, holder, ttlMs)
      ends.set(name, lease ? askedAt + ttlMs : notHeld)
      return lease
    },
    async release(lease) {
      ends.set(lease.name, notHeld)
      await leases.release(lease)
    },
  }
}

/** The name without the versions of collections, which the ids of projectors have. */
const labelOf = (name: string) => name.split(' ')[0] ?? name
