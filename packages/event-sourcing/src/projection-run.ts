import {
  type CollectionDefinition,
  DocumentTooLarge,
  type Lease,
  type ReadModels,
  type Write,
} from '@gantry/read-models'
import type { Position, RecordedEvent } from './event.ts'
import { StreamQuarantined } from './fold.ts'
import type { Log } from './follower.ts'
import type { Projected, Projection } from './projection.ts'
import { type HeldStream, held, incompleteStream, quarantinedStream } from './quarantine.ts'

/** Consecutive events of one stream, and what to write for them. */
export interface Run {
  projection: Projection
  events: readonly RecordedEvent[]
  writes: Write[]
  /** Whether the stream is held after this run. The writes contain the record of that. */
  holds: boolean
}

/** The part of a projector that its runs use. */
export interface RunOptions {
  /** Name of the projector. */
  name: string
  readModels: ReadModels
  held: CollectionDefinition<HeldStream>
  log: Log
}

/** @param again whether to project events that this process has projected before */
export async function projectRun(
  options: RunOptions,
  projection: Projection,
  events: readonly RecordedEvent[],
  again: boolean,
): Promise<Run> {
  let projected: Projected
  try {
    projected = await projection.writes(events, again)
  } catch (error) {
    if (!(error instanceof StreamQuarantined)) throw error
    return { projection, events, ...(await quarantine(options, error)) }
  }
  const { writes, unknown } = projected
  const last = events.at(-1)
  if (!last || unknown.length === 0) return { projection, events, writes, holds: false }
  const record = held(options.held, incompleteStream(last, unknown))
  return { projection, events, writes: [...writes, record], holds: true }
}

interface WriteRunsOptions {
  /** Whether documents of the same revision are written again. */
  force?: boolean
  /** The same, and marks them with the generation of a rebuild. */
  generation?: number | undefined
  checkpoint: { name: string; position: Position; lease: Lease }
}

/** Writes runs together with the checkpoint. A run with a document that the store cannot hold quarantines its stream. */
export async function writeRuns(
  options: RunOptions,
  runs: readonly Run[],
  { force = false, generation, checkpoint }: WriteRunsOptions,
): Promise<void> {
  for (;;) {
    const writes = runs.flatMap(run => run.writes)
    if (force || generation !== undefined) for (const write of writes) write.force = true
    if (generation !== undefined) for (const write of writes) write.generation = generation
    try {
      return await options.readModels.write(writes, checkpoint)
    } catch (error) {
      if (!(error instanceof DocumentTooLarge)) throw error
      const isIts = ({ id, collection }: Write) => id === error.id && collection.name === error.collection
      const run = runs.find(({ writes }) => writes.some(isIts))
      const last = run?.events.at(-1)
      if (!run || !last) throw error
      Object.assign(run, await quarantine(options, new StreamQuarantined(last, error)))
    }
  }
}

/** Reports a stream the first time that it is quarantined by an event. */
async function quarantine(
  { name, readModels, held: definition, log }: RunOptions,
  error: StreamQuarantined,
): Promise<Pick<Run, 'writes' | 'holds'>> {
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
