import {
  type EventStore,
  type RecordedEvent,
  START,
  supervise,
  superviseUnderLease,
  upcast,
  type Worker,
} from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Dependencies, ServiceProcess } from '@gantry/service-runtime'
import type { StoredBytes } from './bytes/bytes.ts'
import { type DocumentEvent, documentEvents, idOf } from './document/document.ts'
import { type ImageEvent, imageEvents } from './image/image.ts'

type SweeperDependencies = Pick<Dependencies, 'eventStore' | 'readModels' | 'now'> & {
  process: Pick<ServiceProcess, 'holder' | 'log'>
  /** How long the bytes of replaced documents are kept. */
  retentionMs: number
}

/** Name of the checkpoint and the lease. */
const NAME = 'media.sweeper'
/** Time between two sweeps. It must be far longer than an upload takes from storing its bytes to appending its event. */
const SWEEP_INTERVAL_MS = 3_600_000
const POLL_MS = 60_000
const LEASE_MS = 5_000

/**
 * Removes bytes that nothing references, and those of documents that were replaced before the retention. It runs in one
 * process at a time, by lease, and at most once an hour, even after restarts.
 *
 * While the log has an event of media that this release cannot read, it removes nothing: the event may name bytes. A
 * blob store does not support fencing tokens. So the lease is renewed before each deletion, and a holder that was paused
 * deletes nothing based on an outdated list.
 */
export function startSweeper(
  bytes: Pick<StoredBytes, 'sweep'>,
  { eventStore, readModels, now, process, retentionMs }: SweeperDependencies,
): Worker {
  const { holder, log } = process
  const { checkpoints, leases } = readModels

  const isDue = async () => {
    const last = await checkpoints.get(NAME)
    return last === undefined || now().getTime() - Date.parse(last) >= SWEEP_INTERVAL_MS
  }

  return superviseUnderLease(
    { leases, name: NAME, holder, log, ttlMs: LEASE_MS },
    async (lease, leaseSignal) => {
      const saveTime = () => checkpoints.save(NAME, now().toISOString(), lease)
      const holdsLease = async () =>
        !leaseSignal.aborted && (await leases.acquire(NAME, holder, LEASE_MS))?.token === lease.token
      while (!leaseSignal.aborted) {
        if (await isDue()) {
          // Saved before the sweep too, so that a sweep whose process died is not repeated too soon.
          await saveTime()
          let unreadable: RecordedEvent | undefined
          const { live, replaced } = await referencedBytes(eventStore, {
            since: new Date(now().getTime() - retentionMs).toISOString(),
            unreadable(event) {
              unreadable = event
            },
          })
          if (unreadable === undefined) await bytes.sweep(new Set([...live, ...replaced]), holdsLease)
          else {
            const { stream, revision, type } = unreadable
            const message = 'keeps all bytes: an event that cannot be read may name some'
            log.warn({ worker: NAME, stream, revision, type }, message)
          }
          await saveTime()
        }
        await sleep(POLL_MS, { signal: leaseSignal })
      }
    },
  )
}

/**
 * Removes what uploads of processes that died have left, when it starts and each hour. Every process does so, since drafts
 * may be files of its machine.
 */
export const startDraftSweeper = (
  bytes: Pick<StoredBytes, 'removeAbandoned'>,
  { log }: Pick<ServiceProcess, 'log'>,
): Worker =>
  supervise('media.drafts', log, async signal => {
    while (!signal.aborted) {
      await bytes.removeAbandoned()
      await sleep(SWEEP_INTERVAL_MS, { signal })
    }
  })

const EVENTS = { ...imageEvents, ...documentEvents }

/** What the log references, by SHA-256. */
interface Referenced {
  /** The bytes of existing images and documents. */
  live: Set<string>
  /** The bytes of documents that were replaced or removed later than `since`, which requests with `at` read. */
  replaced: Set<string>
}

/**
 * The bytes that images and documents reference, from the event log. Read models may lag behind, and removed bytes cannot be
 * restored.
 * @param options.since ISO 8601 UTC. Default: since the first event
 * @param options.unreadable called for each event that is malformed or unknown to this release; it drops no reference
 */
export async function referencedBytes(
  eventStore: Pick<EventStore, 'readAll'>,
  { since = '', unreadable = () => {} }: { since?: string; unreadable?: (event: RecordedEvent) => void } = {},
): Promise<Referenced> {
  /** By stream, and in it by the version and the name of a document. An image has no name. */
  const live = new Map<string, Map<string, string>>()
  const replaced = new Set<string>()
  for await (const event of eventStore.readAll({ after: START, streamPrefixes: ['image-', 'documents-'] })) {
    const { stream } = event
    const known =
      event.malformed === undefined ? upcast<ImageEvent | DocumentEvent>(EVENTS, event) : undefined
    const ofStream = live.get(stream) ?? new Map<string, string>()
    live.set(stream, ofStream)
    const end = (keys: Iterable<string>) => {
      for (const key of keys) {
        const sha256 = ofStream.get(key)
        if (sha256 !== undefined && event.metadata.at >= since) replaced.add(sha256)
        ofStream.delete(key)
      }
    }
    switch (known?.type) {
      case 'ImageUploaded':
        ofStream.set('', known.data.sha256)
        break
      case 'ImageDeleted':
      case 'ImageDiscarded':
        live.delete(stream)
        break
      case 'DocumentUploaded': {
        const key = idOf(known.data.apiVersion, known.data.name)
        if (ofStream.get(key) !== known.data.sha256) end([key])
        ofStream.set(key, known.data.sha256)
        break
      }
      case 'DocumentDeleted':
        end([idOf(known.data.apiVersion, known.data.name)])
        break
      case 'VersionDocumentsDiscarded':
        end(known.data.names.map(name => idOf(known.data.apiVersion, name)))
        break
      case 'DocumentsDiscarded':
        end(ofStream.keys())
        live.delete(stream)
        break
      default:
        unreadable(event)
    }
  }
  return { live: new Set([...live.values()].flatMap(keys => [...keys.values()])), replaced }
}
