import { sleep } from '@gantry/messaging'
import type { CollectionDefinition, Document, ReadModels } from '@gantry/read-models'
import { START } from './event.ts'
import { type Log, supervise, type Worker } from './worker.ts'

export interface PreviousProjector {
  /** Whether it is known that no process of the previous release projects any more. Once true, it stays true. */
  ended(): Promise<boolean>
  /** Checks whether the previous release still holds its lease. @returns like `ended` */
  check(): Promise<boolean>
  /** Starts to check it every second until it has ended. */
  start(): Worker
}

/**
 * A lease must stay free for this long, in milliseconds. When a process stops, another one of its release takes the lease
 * over after some seconds.
 */
const FREE_MS = 20_000
const CHECK_LEASE_MS = 1
const CHECKED_EVERY_MS = 1_000
const IDLE_MS = 3_600_000

/**
 * Finds out whether processes of the previous release still run: their projector has a lease and a checkpoint of its own,
 * because its collections have other versions. When none runs any more, the collections are dropped and the checkpoint is
 * cleared, so that a rollback builds them again. Where there is no checkpoint, none has ever run.
 * @param key of the projector, see `projectorKey`
 */
export function previousProjector({
  key,
  obsolete,
  readModels,
  holder,
  log,
  elapsed = () => performance.now(),
}: {
  key: string
  /** Collections of the previous release that this one does not have in the same version. */
  obsolete: readonly Pick<CollectionDefinition<Document>, 'name' | 'version'>[]
  readModels: Pick<ReadModels, 'checkpoints' | 'leases' | 'drop'>
  holder: string
  log: Log
  /** Reads a monotonic clock, in milliseconds. */
  elapsed?: () => number
}): PreviousProjector {
  const { checkpoints, leases } = readModels
  let over = false
  let freeSince: number | undefined

  const isFree = async () => {
    const lease = await leases.acquire(key, `${holder} looks for earlier releases`, CHECK_LEASE_MS)
    if (lease) await leases.release(lease)
    return lease !== undefined
  }

  const ended = async () => {
    over ||= (await checkpoints.get(key)) === undefined
    return over
  }

  const check = async () => {
    if (await ended()) return true
    if (!(await isFree())) freeSince = undefined
    else freeSince ??= elapsed()
    if (freeSince === undefined || elapsed() - freeSince < FREE_MS) return false
    // A rollback projects the whole log again, also if this process dies before the last of these writes.
    await checkpoints.save(key, START)
    for (const definition of obsolete) await readModels.drop(definition)
    await checkpoints.clear(key)
    return ended()
  }

  return {
    ended,
    check,
    start: () =>
      supervise(`the end of ${key}`, log, async signal => {
        while (!signal.aborted) await sleep((await check()) ? IDLE_MS : CHECKED_EVERY_MS, { signal })
      }),
  }
}
