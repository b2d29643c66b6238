import type { Lease } from '@gantry/stores'
import { streamCategory } from '../log/event.ts'
import type { ModelGeneration } from '../projections/projected-models.ts'
import { projectStream, writeStreams } from '../projections/stream-writes.ts'
import { listHeld, released, requestedRetry, retryDone } from '../supervision/quarantine.ts'

/**
 * Projects held streams again from their first event: all of them, or the one that an operator has requested. A stream
 * that is incomplete is left until a release knows one of its unknown events.
 * @returns id of the last request, which is now carried out
 */
export async function retryHeld(
  models: ModelGeneration,
  { lease, signal }: { lease: Lease; signal: AbortSignal },
): Promise<string> {
  const { name, checkpoint, eventStore, readModels, projections, held, log } = models
  const request = await requestedRetry(name, readModels)
  const only = request.isDone ? undefined : request.stream
  for await (const stream of listHeld(held, readModels)) {
    if (signal.aborted) return request.id
    if (only !== undefined && stream.id !== only) continue
    const projection = projections.get(streamCategory(stream.id))
    if (!projection) continue
    if (stream.status === 'INCOMPLETE' && !stream.unknown.some(projection.knows)) continue
    const projected = await projectStream(models, projection, await eventStore.readStream(stream.id), true)
    if (!projected.holds) projected.writes.push(released(held, stream.id))
    const position = await readModels.checkpoints.get(checkpoint)
    if (position === undefined) return request.id
    await writeStreams(models, [projected], {
      force: true,
      checkpoint: { name: checkpoint, position, lease },
    })
    if (!projected.holds) log.info({ projector: name, stream: stream.id }, 'a held stream is projected again')
  }
  if (!request.isDone && !signal.aborted) await retryDone(name, readModels, request)
  return request.id
}
