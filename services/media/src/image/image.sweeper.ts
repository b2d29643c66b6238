import { setTimeout } from 'node:timers/promises'
import { type EventStore, type Log, START, supervise, underLease, type Worker } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/read-models'
import type { ImageBytes } from './image.bytes.ts'

export interface SweeperOptions {
  /** Names the checkpoint and the lease. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  bytes: ImageBytes
  now(): Date
  holder: string
  log: Log
}

/** Between two sweeps: far longer than any upload takes from storing its bytes to naming them. */
const EVERY_MS = 3_600_000
const LOOK_MS = 60_000
const LEASE_MS = 5_000

/**
 * Removes the bytes that no image names any more, by lease, at most once in an hour however often it starts. A blob
 * store knows no fence: the lease is renewed before each delete, so that a holder that was paused deletes nothing by an
 * old list.
 */
export function startSweeper(options: SweeperOptions): Worker {
  const { name, eventStore, readModels, bytes, now, holder, log } = options
  const { checkpoints, leases } = readModels

  const isDue = async () => {
    const last = await checkpoints.get(name)
    return last === undefined || now().getTime() - Date.parse(last) >= EVERY_MS
  }

  return supervise(name, log, signal =>
    underLease({ leases, name, holder, signal, ttlMs: LEASE_MS }, async (lease, held) => {
      const note = () => checkpoints.save(name, now().toISOString(), lease)
      const holdsLease = async () =>
        !held.aborted && (await leases.acquire(name, holder, LEASE_MS))?.token === lease.token
      while (!held.aborted) {
        if (await isDue()) {
          // Noted before it begins as well, so that one that dies midway is not begun again too soon.
          await note()
          await bytes.sweep(await namedBytes(eventStore), holdsLease)
          await note()
        }
        await setTimeout(LOOK_MS, undefined, { signal: held }).catch(() => {})
      }
    }),
  )
}

/** The SHA-256 of every image that there is, by the log: read models may lag behind, and what is removed stays removed. */
async function namedBytes(eventStore: EventStore): Promise<Set<string>> {
  const named = new Map<string, string>()
  for await (const { stream, type, data } of eventStore.readAll({
    after: START,
    streamPrefixes: ['image-'],
  })) {
    if (type === 'ImageUploaded') named.set(stream, String(data.sha256))
    else named.delete(stream)
  }
  return new Set(named.values())
}
