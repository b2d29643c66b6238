import type { Lease } from '@gantry/stores'
import { type RecordedEvent, START, streamCategory } from '../log/event.ts'
import { continueInOrder } from './ordered-projection.ts'
import type { ModelGeneration } from './projected-models.ts'
import { heldMalformed, projectStream, type StreamWrites, writeStreams } from './stream-writes.ts'

const BATCH = 1_000
/** Size of the batches of a build: small ones become garbage while they are still in V8's young generation. */
const BUILD_BATCH = 200

export interface LogProjectionOptions {
  lease: Lease
  signal: AbortSignal
  /** Whether to project events that this process has projected before, into another generation. */
  again?: boolean
  untilCaughtUp?: boolean
  /** Called with what has been written. */
  onWritten?(events: readonly RecordedEvent[]): Promise<void>
}

/** Projects the log from the checkpoint of a generation on, and saves the checkpoint with the documents. */
export async function projectLog(models: ModelGeneration, options: LogProjectionOptions): Promise<void> {
  const { checkpoint: name, eventStore, readModels, projections, ordered, group } = models
  const { lease, signal, again = false, untilCaughtUp = false } = options
  const batchSize = again ? BUILD_BATCH : BATCH
  const streamPrefixes = [...projections.keys()].map(category => `${category}-`)
  // Undefined before the first write, so that an empty log gets a checkpoint as well.
  let saved = await readModels.checkpoints.get(name)
  const after = saved ?? START
  const inOrder = ordered && (await continueInOrder(models, ordered, { after, lease }))
  let batch: RecordedEvent[] = []

  /** Writes the documents of the batch, and the position as the checkpoint. */
  const flush = async (position: string) => {
    if (position === saved && batch.length === 0) return
    const streams: StreamWrites[] = []
    if (inOrder) {
      streams.push({ events: [], writes: inOrder.project(batch), holds: false })
      for (const event of inOrder.malformed(batch)) streams.push(await heldMalformed(models, event))
    }
    for (const events of Map.groupBy(batch, event => event.stream).values()) {
      const projection = projections.get(streamCategory(events[0]?.stream ?? ''))
      if (projection) streams.push(await projectStream(models, projection, events, again))
    }
    await writeStreams(models, streams, { checkpoint: { name, position, lease } })
    await inOrder?.written(position)
    await options.onWritten?.(batch)
    // Commands do not project what is noted as written. While they write several generations, another may still lack it.
    const { written } = await group.current()
    if (written.length === 1)
      for (const { projection, events, holds } of streams) if (!holds) projection?.written(events)
    batch = []
    saved = position
  }

  for await (const item of eventStore.subscribe({ after, ...(!ordered && { streamPrefixes }), signal })) {
    if (item.kind === 'event') {
      batch.push(item.event)
      if (batch.length >= batchSize) await flush(item.event.position)
    } else {
      await flush(saved === undefined || item.position > saved ? item.position : saved)
      if (item.kind === 'caughtUp' && untilCaughtUp) return
    }
  }
}
