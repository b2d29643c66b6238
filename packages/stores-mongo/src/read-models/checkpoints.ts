import { type Checkpoints, type Lease, LeaseLost } from '@gantry/stores'
import type { Collection } from 'mongodb'
import type { Progress } from '../connection/progress.ts'
import { isDuplicate } from './guarded-writes.ts'

export interface FencedCheckpoints extends Checkpoints {
  /** @throws LeaseLost when the lease has been given to another holder since */
  requireHeld(lease: Lease): Promise<void>
}

/**
 * A checkpoint that is saved under the lease of its own name is in the same document as the lease, so that the check of the
 * lease and the save are atomic. Under a lease of another name, the checkpoint stores the greatest token: saves with a
 * smaller one are refused from then on.
 */
export function mongoCheckpoints(progress: Collection<Progress>): FencedCheckpoints {
  /**
   * A released lease is valid until another holder acquires it. Names of holders are unique; tokens start again after a loss
   * of the database.
   */
  const heldBy = ({ name, token, holder }: Lease) => ({ _id: name, token, holder: { $in: [holder, null] } })

  const requireHeld = async (lease: Lease) => {
    if (!(await progress.findOne(heldBy(lease)))) throw new LeaseLost(lease.name)
  }

  const saveFenced = async (name: string, position: string, { name: ofLease, token }: Lease) => {
    const notNewer = { _id: name, fence: { $not: { $gt: token } } }
    try {
      await progress.updateOne(notNewer, { $set: { position, fence: token } }, { upsert: true })
    } catch (error) {
      throw isDuplicate(error) ? new LeaseLost(ofLease) : error
    }
  }

  return {
    requireHeld,
    get: async name => (await progress.findOne({ _id: name }))?.position,
    async save(name, position, lease) {
      if (!lease) {
        await progress.updateOne({ _id: name }, { $set: { position } }, { upsert: true })
      } else if (lease.name === name) {
        const { matchedCount } = await progress.updateOne(heldBy(lease), { $set: { position } })
        if (matchedCount === 0) throw new LeaseLost(name)
      } else {
        await requireHeld(lease)
        await saveFenced(name, position, lease)
      }
    },
    clear: async name => void (await progress.updateOne({ _id: name }, { $unset: { position: '' } })),
  }
}
