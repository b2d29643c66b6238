import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import {
  type CommandMetadata,
  type EventStore,
  NO_STREAM,
  nameUuids,
  type RecordedEvent,
  streamName,
} from '@gantry/event-sourcing'

const compressed = promisify(gzip)
const decompressed = promisify(gunzip)

/** Bytes of a piece. With its base64, an event is far below the limit of an append, 1 MiB. */
const PIECE_BYTES = 262_144
/** Number of jobs whose items are cached: running jobs take turns. */
const CACHED = 4
const pieceUuid = nameUuids('0b9c5a64-5a0e-4f51-8d20-7c9f6e1d3b42')
const streamOf = (job: string) => streamName('jobinput', job)

/** The items of a job, compressed, in pieces. */
export interface PackedItems {
  total: number
  pieces: readonly Buffer[]
}

/** @param items texts without line breaks */
export async function packItems(items: readonly string[]): Promise<PackedItems> {
  const bytes = await compressed(items.join('\n'))
  const count = Math.ceil(bytes.length / PIECE_BYTES)
  const pieces = Array.from({ length: count }, (_, n) =>
    bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES),
  )
  return { total: items.length, pieces }
}

/**
 * The items of jobs. They are in the log, which every replica reads and every backup contains. The blob store belongs to
 * media, which removes bytes that no document names. Each job has a stream of its own, removed after the job has ended.
 */
export interface JobInputs {
  /** Stores the items durably. A repeated call changes nothing. */
  store(job: string, items: PackedItems, metadata: CommandMetadata): Promise<void>
  /** The items; undefined while not all of them are stored. */
  load(job: string, pieces: number): Promise<readonly string[] | undefined>
  remove(job: string): Promise<void>
}

export function jobInputs(
  eventStore: Pick<EventStore, 'append' | 'readStream' | 'readLast' | 'remove'>,
): JobInputs {
  const loaded = new Map<string, readonly string[]>()
  return {
    async store(job, { pieces }, { actor, requestId, now: at }) {
      const stream = streamOf(job)
      for (const [n, piece] of pieces.entries()) {
        const data = { piece: piece.toString('base64') }
        const event = { id: pieceUuid(`${job}/${n}`), type: 'JobInputStored', data }
        await eventStore.append(stream, [{ ...event, metadata: { actor, requestId, at } }], n + NO_STREAM)
      }
    },
    async load(job, pieces) {
      const known = loaded.get(job)
      if (known) return known
      const stored = await eventStore.readStream(streamOf(job))
      if (stored.length < pieces) return undefined
      const bytes = await decompressed(Buffer.concat(stored.map(bytesOf)))
      const items = bytes.length === 0 ? [] : bytes.toString().split('\n')
      loaded.set(job, items)
      for (const earlier of [...loaded.keys()].slice(0, -CACHED)) loaded.delete(earlier)
      return items
    },
    async remove(job) {
      const stream = streamOf(job)
      const last = await eventStore.readLast(stream)
      if (last) await eventStore.remove(stream, last.revision)
      loaded.delete(job)
    },
  }
}

const bytesOf = ({ data }: RecordedEvent) => Buffer.from(String(data.piece), 'base64')
