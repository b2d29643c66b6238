import {
  type EventStore,
  type RecordedEvent,
  START,
  supervise,
  underLease,
  upcast,
  type Worker,
} from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Dependencies, ServiceProcess } from '@gantry/service-runtime'
import type { ImageBytes } from './image.bytes.ts'
import { imageEvents } from './image.ts'

type SweeperDependencies = Pick<Dependencies, 'eventStore' | 'readModels' | 'now'> & {
  process: Pick<ServiceProcess, 'holder' | 'log'>
}

/** Name of the checkpoint and the lease. */
const NAME = 'media.sweeper'
/** Time between two sweeps. It must be far longer than an upload takes from storing its bytes to appending its event. */
const SWEEP_INTERVAL_MS = 3_600_000
const POLL_MS = 60_000
const LEASE_MS = 5_000

/**
 * Removes bytes that no image references, in one process at a time, by lease, at most once an hour even after restarts.
 * While the log has an image event that this release cannot read, it removes nothing: the event may name bytes. A
 * blob store does not support fencing tokens. So the lease is renewed before each deletion, and a holder that was paused
 * deletes nothing based on an outdated list.
 */
export function startSweeper(
  bytes: Pick<ImageBytes, 'sweep'>,
  { eventStore, readModels, now, process }: SweeperDependencies,
): Worker {
  const { holder, log } = process
  const { checkpoints, leases } = readModels

  const isDue = async () => {
    const last = await checkpoints.get(NAME)
    return last === undefined || now().getTime() - Date.parse(last) >= SWEEP_INTERVAL_MS
  }

  return supervise(NAME, log, signal =>
    underLease({ leases, name: NAME, holder, signal, ttlMs: LEASE_MS }, async (lease, leaseSignal) => {
      const saveTime = () => checkpoints.save(NAME, now().toISOString(), lease)
      const holdsLease = async () =>
        !leaseSignal.aborted && (await leases.acquire(NAME, holder, LEASE_MS))?.token === lease.token
      while (!leaseSignal.aborted) {
        if (await isDue()) {
          // Saved before the sweep too, so that a sweep whose process died is not repeated too soon.
          await saveTime()
          let unreadable: RecordedEvent | undefined
          const referenced = await referencedBytes(eventStore, event => {
            unreadable = event
          })
          if (unreadable === undefined) await bytes.sweep(referenced, holdsLease)
          else {
            const { stream, revision, type } = unreadable
            const message = 'keeps all bytes: an event that cannot be read may name some'
            log.warn({ worker: NAME, stream, revision, type }, message)
          }
          await saveTime()
        }
        await sleep(POLL_MS, { signal: leaseSignal })
      }
    }),
  )
}

/**
 * The SHA-256 of every existing image, from the event log. Read models may lag behind, and removed bytes cannot be
 * restored.
 * @param unreadable called for each event that is malformed or unknown to this release; it drops no reference
 */
export async function referencedBytes(
  eventStore: Pick<EventStore, 'readAll'>,
  unreadable: (event: RecordedEvent) => void = () => {},
): Promise<Set<string>> {
  const referenced = new Map<string, string>()
  for await (const event of eventStore.readAll({ after: START, streamPrefixes: ['image-'] })) {
    const known = event.malformed === undefined ? upcast(imageEvents, event) : undefined
    if (!known) unreadable(event)
    else if (known.type === 'ImageUploaded') referenced.set(event.stream, known.data.sha256)
    else referenced.delete(event.stream)
  }
  return new Set(referenced.values())
}
