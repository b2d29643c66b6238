import type { CollectionDefinition, Lease } from '@gantry/read-models'
import { type Position, type RecordedEvent, START } from './event.ts'
import type { Projection } from './projection.ts'
import { projectRun, type Run, writeRuns } from './projection-run.ts'
import type { ProjectorOptions } from './projector.ts'
import type { HeldStream } from './quarantine.ts'
import { streamCategory } from './stream-name.ts'

/** The options of a running projector. */
export interface Running extends ProjectorOptions {
  /** Names its checkpoint and its lease. */
  key: string
  held: CollectionDefinition<HeldStream>
  byCategory: ReadonlyMap<string, Projection>
}

const BATCH = 1_000
/** Size of the batches of a rebuild: small ones become garbage while they are still in V8's young generation. */
const REBUILD_BATCH = 200

interface FollowOptions {
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
export async function follow(options: Running, run: FollowOptions): Promise<void> {
  const { key, eventStore, readModels, byCategory } = options
  const { generation, serving = false } = run
  const again = generation !== undefined
  const most = again ? REBUILD_BATCH : BATCH
  const streamPrefixes = [...byCategory.keys()].map(category => `${category}-`)
  // Undefined before the first write, so that an empty log gets a checkpoint as well.
  let saved = run.from === undefined ? await readModels.checkpoints.get(key) : undefined
  const after = run.from ?? saved ?? START
  let batch: RecordedEvent[] = []

  const flush = async (position: Position) => {
    if (position === saved && batch.length === 0) return
    const runs: Run[] = []
    for (const events of Map.groupBy(batch, event => event.stream).values()) {
      const projection = byCategory.get(streamCategory(events[0]?.stream ?? ''))
      if (projection) runs.push(await projectRun(options, projection, events, again))
    }
    if (again && serving) await projectToTheEnd(options, runs)
    await writeRuns(options, runs, { generation, checkpoint: { name: key, position, lease: run.lease } })
    run.onWritten?.(batch, position)
    for (const { projection, events, holds } of runs) if (!holds) projection.written(events)
    batch = []
    saved = position
  }

  for await (const item of eventStore.subscribe({ after, streamPrefixes, signal: run.signal })) {
    if (item.kind === 'event') {
      batch.push(item.event)
      if (batch.length >= most) await flush(item.event.position)
    } else {
      await flush(saved === undefined || item.position > saved ? item.position : saved)
      if (item.kind === 'caughtUp' && run.untilCaughtUp) return
    }
  }
}

/**
 * Projects the whole stream where one of its documents does not exist. Such a document may have been removed later in
 * the stream, and its tombstone may be forgotten.
 */
async function projectToTheEnd(options: Running, runs: Run[]): Promise<void> {
  const { readModels, eventStore } = options
  const missing = new Set<Run>()
  const live = runs.flatMap(run =>
    run.holds ? [] : run.writes.filter(({ doc }) => doc).map(write => ({ run, write })),
  )
  for (const [definition, writes] of Map.groupBy(live, ({ write }) => write.collection)) {
    const there = await readModels.collection(definition).existing(writes.map(({ write }) => write.id))
    for (const { run, write } of writes) if (!there.has(write.id)) missing.add(run)
  }
  for (const run of missing) {
    const stream = run.events[0]?.stream ?? ''
    const { writes, holds } = await projectRun(
      options,
      run.projection,
      await eventStore.readStream(stream),
      true,
    )
    Object.assign(run, { writes, holds })
  }
}
