import { DocumentTooLarge, type Lease, type Write } from '@gantry/stores'
import type { Position, RecordedEvent } from '../log/event.ts'
import { StreamQuarantined } from '../log/fold.ts'
import { held, incompleteStream, quarantinedStream } from '../supervision/quarantine.ts'
import { type ModelGeneration, madeOf } from './projected-models.ts'
import type { Projected, Projection } from './projection.ts'

/** Consecutive events of one stream, and what to write for them. Those of an ordered projection belong to no stream. */
export interface StreamWrites {
  projection?: Projection
  events: readonly RecordedEvent[]
  writes: Write[]
  /** Whether these events leave the stream held. The writes then contain the record of the hold. */
  holds: boolean
}

/**
 * The writes for events of a stream, up to the first event that cannot be processed.
 * @param again whether to project events that this process has projected before
 */
export async function projectStream(
  models: ModelGeneration,
  projection: Projection,
  events: readonly RecordedEvent[],
  again: boolean,
): Promise<StreamWrites> {
  let projected: Projected
  try {
    projected = await projection.writes(events, again, madeOf(models))
  } catch (error) {
    if (!(error instanceof StreamQuarantined)) throw error
    const before = events.filter(({ revision }) => revision < error.event.revision)
    const isShorter = before.length > 0 && before.length < events.length
    const earlier = isShorter ? await projectStream(models, projection, before, again) : undefined
    const { writes, holds } = await quarantine(models, error)
    return {
      projection,
      events,
      writes: [...(earlier?.holds ? [] : (earlier?.writes ?? [])), ...writes],
      holds,
    }
  }
  const { writes, unknown } = projected
  const last = events.at(-1)
  if (!last || unknown.length === 0) return { projection, events, writes, holds: false }
  const record = held(models.held, incompleteStream(last, unknown))
  return { projection, events, writes: [...writes, record], holds: true }
}

/** Holds the stream of a malformed event that a projection in the order of the log leaves out. */
export async function heldMalformed(models: ModelGeneration, event: RecordedEvent): Promise<StreamWrites> {
  return { events: [], ...(await quarantine(models, new StreamQuarantined(event, event.malformed))) }
}

interface WriteOptions {
  /** Whether documents of the same revision are written again. */
  force?: boolean
  checkpoint: { name: string; position: Position; lease: Lease }
}

/** Writes documents of a generation together with the checkpoint. A stream with a document that the store cannot hold is quarantined. */
export async function writeStreams(
  models: ModelGeneration,
  streams: readonly StreamWrites[],
  { force = false, checkpoint }: WriteOptions,
): Promise<void> {
  for (;;) {
    const writes = streams.flatMap(stream => stream.writes)
    for (const write of writes) {
      if (force) write.force = true
      if (write.collection.generation === undefined)
        write.collection = models.group.of(write.collection, models.generation)
    }
    try {
      return await models.readModels.write(writes, checkpoint)
    } catch (error) {
      if (!(error instanceof DocumentTooLarge)) throw error
      const isTooLarge = ({ id, collection }: Write) =>
        id === error.id && collection.name === error.collection
      const stream = streams.find(({ writes }) => writes.some(isTooLarge))
      const last = stream?.events.at(-1)
      if (!stream || !last) throw error
      Object.assign(stream, await quarantine(models, new StreamQuarantined(last, error)))
    }
  }
}

/** Reports a stream the first time that it is quarantined by an event. */
async function quarantine(
  { name, readModels, held: definition, log }: ModelGeneration,
  error: StreamQuarantined,
): Promise<Pick<StreamWrites, 'writes' | 'holds'>> {
  const stream = quarantinedStream(error)
  const known = await readModels.collection(definition).get(stream.id)
  if (known?.doc.status !== 'QUARANTINED' || known.doc.event !== stream.event) {
    const { id, event, type, revision, position, reason } = stream
    log.error(
      { projector: name, stream: id, event, type, revision, position, reason, err: error.cause },
      'a stream is quarantined: an event cannot be processed',
    )
  }
  return { writes: [held(definition, stream)], holds: true }
}
