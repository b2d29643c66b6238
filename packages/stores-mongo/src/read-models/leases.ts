import type { Lease, Leases } from '@gantry/stores'
import type { Collection } from 'mongodb'
import type { Progress } from '../connection/progress.ts'
import { isDuplicate } from './guarded-writes.ts'

/**
 * Leases that do not depend on synchronized clocks. A process that wants the lease of another holder watches it. It
 * takes the lease if its own monotonic clock shows that the lease was not renewed for its duration.
 * @param elapsed reads a monotonic clock, in milliseconds
 */
export function mongoLeases(progress: Collection<Progress>, elapsed: () => number): Leases {
  const watched = new Map<string, { state: string; since: number }>()

  /** Whether the lease has not been renewed for its duration since this process first saw its current state. */
  const expired = ({ _id, token, beat, ttlMs = 0 }: Progress): boolean => {
    const state = `${token}/${beat}`
    const seen = watched.get(_id)
    if (seen?.state === state) return elapsed() - seen.since >= ttlMs
    watched.set(_id, { state, since: elapsed() })
    return false
  }

  const isFree = (known: Progress, holder: string) =>
    !known.holder || known.holder === holder || expired(known)

  /** @returns whether the lease was still in the known state, and was thus acquired */
  const take = async (known: Progress, change: Pick<Progress, 'holder' | 'token' | 'ttlMs'>) => {
    const unchanged = { _id: known._id, token: known.token, beat: known.beat }
    const { matchedCount } = await progress.updateOne(unchanged, { $set: change, $inc: { beat: 1 } })
    return matchedCount === 1
  }

  /** @returns whether there was no lease of that name, and it was thus acquired */
  const giveFirst = async (name: string, change: Pick<Progress, 'holder' | 'token' | 'ttlMs'>) => {
    const never = { _id: name, token: { $exists: false } }
    try {
      await progress.updateOne(never, { $set: { ...change, beat: 0 } }, { upsert: true })
      return true
    } catch (error) {
      if (isDuplicate(error)) return false
      throw error
    }
  }

  return {
    async acquire(name, holder, ttlMs) {
      for (;;) {
        const known = await progress.findOne({ _id: name })
        if (known?.token !== undefined && !isFree(known, holder)) return undefined
        const token = (known?.token ?? 0) + (known?.holder === holder ? 0 : 1)
        const change = { holder, token, ttlMs }
        const taken = await (known?.token === undefined ? giveFirst(name, change) : take(known, change))
        if (!taken) continue
        watched.delete(name)
        return { name, holder, token }
      }
    },
    async release({ name, holder, token }: Lease) {
      await progress.updateOne({ _id: name, holder, token }, { $set: { holder: null }, $inc: { beat: 1 } })
    },
  }
}
