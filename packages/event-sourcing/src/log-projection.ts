import type { Lease } from '@gantry/read-models'
import { type Position, type RecordedEvent, START } from './event.ts'
import { continueInOrder } from './ordered-projection.ts'
import type { ReadSide } from './read-side.ts'
import { streamCategory } from './stream-name.ts'
import { projectStream, type StreamWrites, writeStreams } from './stream-writes.ts'

const BATCH = 1_000
/** Size of the batches of a rebuild: small ones become garbage while they are still in V8's young generation. */
const REBUILD_BATCH = 200

interface LogProjectionOptions {
  lease: Lease
  signal: AbortSignal
  from?: Position
  /** Generation of a rebuild: documents of the same revision are written again, and marked with it. */
  generation?: number
  /** Whether readers see the documents meanwhile: a removed document must not reappear until its removal is projected. */
  serving?: boolean
  untilCaughtUp?: boolean
  /** Called with what has been written. */
  onWritten?(events: readonly RecordedEvent[], position: Position): void
}

/** Projects the log from the checkpoint or a position on, and saves the checkpoint with the documents. */
export async function projectLog(readSide: ReadSide, options: LogProjectionOptions): Promise<void> {
  const { key, eventStore, readModels, projections, ordered } = readSide
  const { lease, signal, generation, serving = false, untilCaughtUp = false } = options
  const again = generation !== undefined
  const most = again ? REBUILD_BATCH : BATCH
  const streamPrefixes = [...projections.keys()].map(category => `${category}-`)
  // Undefined before the first write, so that an empty log gets a checkpoint as well.
  let saved = options.from === undefined ? await readModels.checkpoints.get(key) : undefined
  const after = options.from ?? saved ?? START
  const inOrder = ordered && (await continueInOrder(readSide, ordered, after))
  let batch: RecordedEvent[] = []

  const flush = async (position: Position) => {
    if (position === saved && batch.length === 0) return
    const streams: StreamWrites[] = []
    if (inOrder) streams.push({ events: [], writes: inOrder.project(batch), holds: false })
    for (const events of Map.groupBy(batch, event => event.stream).values()) {
      const projection = projections.get(streamCategory(events[0]?.stream ?? ''))
      if (projection) streams.push(await projectStream(readSide, projection, events, again))
    }
    if (again && serving) await projectToTheEnd(readSide, streams)
    await writeStreams(readSide, streams, { generation, checkpoint: { name: key, position, lease } })
    await inOrder?.written(position, lease)
    options.onWritten?.(batch, position)
    for (const { projection, events, holds } of streams) if (!holds) projection?.written(events)
    batch = []
    saved = position
  }

  for await (const item of eventStore.subscribe({ after, ...(!ordered && { streamPrefixes }), signal })) {
    if (item.kind === 'event') {
      batch.push(item.event)
      if (batch.length >= most) await flush(item.event.position)
    } else {
      await flush(saved === undefined || item.position > saved ? item.position : saved)
      if (item.kind === 'caughtUp' && untilCaughtUp) return
    }
  }
}

/**
 * Projects the whole stream where one of its documents does not exist. Such a document may have been removed later in
 * the stream, and its tombstone may be forgotten.
 */
async function projectToTheEnd(readSide: ReadSide, streams: StreamWrites[]): Promise<void> {
  const { readModels, eventStore } = readSide
  const missing = new Set<StreamWrites>()
  const live = streams.flatMap(stream =>
    stream.holds || !stream.projection
      ? []
      : stream.writes.filter(({ doc }) => doc).map(write => ({ stream, write })),
  )
  for (const [definition, writes] of Map.groupBy(live, ({ write }) => write.collection)) {
    const there = await readModels.collection(definition).existing(writes.map(({ write }) => write.id))
    for (const { stream, write } of writes) if (!there.has(write.id)) missing.add(stream)
  }
  for (const stream of missing) {
    if (!stream.projection) continue
    const events = await eventStore.readStream(stream.events[0]?.stream ?? '')
    const { writes, holds } = await projectStream(readSide, stream.projection, events, true)
    Object.assign(stream, { writes, holds })
  }
}
