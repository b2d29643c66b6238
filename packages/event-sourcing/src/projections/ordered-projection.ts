import type { Lease, Write } from '@gantry/stores'
import { type Position, type RecordedEvent, START } from '../log/event.ts'
import { type ModelGeneration, madeOf } from './projected-models.ts'
import type { OrderedProjection } from './projection.ts'

/** Number of events after which the state is saved, so that few are read again at the next start. */
const SAVED_EVERY = 1_000

/** The name under which the state at a checkpoint is saved. */
export const stateCheckpointOf = (checkpoint: string): string => `${checkpoint}.state`

/** An ordered projection while it reads the log. */
export interface OrderedProgress {
  /** Projects the next events of the log. @returns the documents to write */
  project(events: readonly RecordedEvent[]): Write[]
  /** The malformed events of services among these. */
  malformed(events: readonly RecordedEvent[]): RecordedEvent[]
  /** To be called once the documents of all events up to the position are written. @throws LeaseLost */
  written(position: Position): Promise<void>
}

/**
 * Continues an ordered projection after a position. Its state there is the last state that was saved before, with the events
 * since. It is not read from the documents: if a process died before it saved the checkpoint, they are ahead of the position.
 */
export async function continueInOrder(
  models: ModelGeneration,
  projection: OrderedProjection,
  { after, lease }: { after: Position; lease: Lease },
): Promise<OrderedProgress> {
  const { checkpoint, eventStore, readModels } = models
  const name = stateCheckpointOf(checkpoint)
  const ours = (event: RecordedEvent) => projection.isOurs(event.stream)
  const usable = (event: RecordedEvent) => event.malformed === undefined && ours(event)
  let state = projection.initial
  let unsaved = 0
  // A new build begins without the saved state: after a restore it can be that of another log.
  if (after === START) await readModels.checkpoints.clear(name)
  else {
    const text = await readModels.checkpoints.get(name)
    const saved =
      text === undefined ? undefined : (JSON.parse(text) as { position: Position; state: unknown })
    const isUsable = saved !== undefined && saved.position <= after
    if (isUsable) state = saved.state
    for await (const event of eventStore.readAll({ after: isUsable ? saved.position : START })) {
      if (event.position > after) break
      state = projection.next(state, [event].filter(usable)).state
      unsaved++
    }
  }
  const observer = projection.observe?.({ lease, ...madeOf(models) })
  await observer?.reached(state)
  return {
    project(events) {
      for (const event of events) if (!ours(event)) projection.foreign(event)
      const { state: next, writes } = projection.next(state, events.filter(usable))
      state = next
      unsaved += events.length
      return writes
    },
    malformed: events => events.filter(event => event.malformed !== undefined && ours(event)),
    async written(position) {
      await observer?.reached(state)
      if (unsaved < SAVED_EVERY) return
      await readModels.checkpoints.save(name, JSON.stringify({ position, state }), lease)
      unsaved = 0
    },
  }
}
