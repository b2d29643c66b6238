import { setTimeout } from 'node:timers/promises'
import type { CollectionDefinition, Lease, ReadModels, Write } from '@gantry/read-models'
import { type Position, type RecordedEvent, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import { type Log, supervise, underLease, type Worker } from './follower.ts'
import type { Projection } from './projection.ts'
import { projectRun, type Run, writeRuns } from './projection-run.ts'
import { type HeldStream, heldStreams, listHeld, released, requestedRetry, retryDone } from './quarantine.ts'
import { streamCategory } from './stream-name.ts'

export interface ProjectorOptions {
  /** With the shape of the collections it names the checkpoint and the lease, e.g. catalog.projector. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  projections: readonly Projection[]
  /** What the projections write to; a rebuild removes what the log does not know from these. */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
  holder: string
  log: Log
}

export interface Projector extends Worker {
  /** Whether the read models are there, with everything that was in the log at some moment since the start. */
  readonly caughtUp: boolean
  /** Whether the read models are there now, and not missing since somebody dropped them. */
  complete(): Promise<boolean>
  /** Waits until the read models have everything up to a position. @returns false when it took longer */
  reached(position: Position, timeoutMs: number): Promise<boolean>
}

const BATCH = 1_000
const LOOK_MS = 1_000
const pause = (ms: number, signal?: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

/**
 * Asks the projector, in whatever process it runs, to make its read models anew from the log while they are read.
 * @returns a function that tells whether that has happened
 */
export async function requestRebuild(
  name: string,
  { checkpoints }: ReadModels,
  id: string,
): Promise<() => Promise<boolean>> {
  await checkpoints.save(`${name}.rebuild.requested`, id)
  return async () => ((await checkpoints.get(`${name}.rebuild.done`)) ?? '').startsWith(`${id} `)
}

/** Name of the checkpoint and of the lease of a projector: collections of another shape have others. */
export const projectorKey = ({ name, collections }: Pick<ProjectorOptions, 'name' | 'collections'>) =>
  [name, ...[...collections, heldStreams(name)].map(({ name, version }) => `${name}@${version}`)].join(' ')

/** The options of a running projector. */
interface Running extends ProjectorOptions {
  /** Names its checkpoint and its lease. */
  key: string
  held: CollectionDefinition<HeldStream>
  byCategory: ReadonlyMap<string, Projection>
}

/**
 * Follows the log and repairs what a crash left out of the read models; by lease, so that one replica does.
 * Writes are guarded by revision, the checkpoint by the lease: a paused holder that wakes up does no harm.
 * A stream with an event that cannot be processed is quarantined: its documents stay, the checkpoint goes on. Streams
 * that are held are projected again from their first event whenever the projector starts, and when asked.
 * The read models are made anew when they were dropped, when a collection changed its shape, or when asked. During an
 * upgrade that changes a shape, a projector of each runs, so that none waits for the other.
 */
export function startProjector(given: ProjectorOptions): Projector {
  const name = projectorKey(given)
  const streams = heldStreams(given.name)
  const options: Running = {
    ...given,
    collections: [...given.collections, streams],
    key: name,
    held: streams,
    byCategory: new Map(given.projections.map(projection => [projection.category, projection])),
  }
  const { readModels, log, holder } = options
  const { checkpoints, leases } = readModels
  const wanted = async () => `${(await checkpoints.get(`${given.name}.rebuild.requested`)) ?? 'none'} ${name}`
  const built = () => checkpoints.get(`${name}.rebuild.done`)
  const complete = async () => (await built()) !== undefined && (await checkpoints.get(name)) !== undefined
  let caughtUp = false
  for (const projection of given.projections)
    projection.attach(async position => ((await checkpoints.get(name)) ?? START) >= position)

  const worker = supervise(given.name, log, signal =>
    underLease({ leases, name, holder, signal }, async (lease, held) => {
      const goal = await wanted()
      if ((await built()) !== goal || !(await checkpoints.get(name))) {
        log.info({ projector: given.name }, 'makes the read models from the log')
        await rebuild(options, lease, held)
        if (held.aborted) return
        // The name without shapes is for the command that asked. It comes first: a projector that dies between the two
        // writes rebuilds again and then writes both.
        await checkpoints.save(`${given.name}.rebuild.done`, goal)
        await checkpoints.save(`${name}.rebuild.done`, goal, lease)
      }
      const retry = await requestedRetry(given.name, readModels)
      await retryHeld(options, { lease, signal: held, stream: retry.isDone ? undefined : retry.stream })
      if (held.aborted) return
      if (!retry.isDone) await retryDone(given.name, readModels, retry)
      const stale = new AbortController()
      const looking = setInterval(async () => {
        const asked = [wanted(), requestedRetry(given.name, readModels), checkpoints.get(name)] as const
        const found = await Promise.all(asked).catch(() => undefined)
        if (found && (found[0] !== goal || found[1].id !== retry.id || found[2] === undefined)) stale.abort()
      }, LOOK_MS)
      try {
        await follow(options, { lease, signal: AbortSignal.any([held, stale.signal]) })
      } finally {
        clearInterval(looking)
      }
    }),
  )

  // Ready when the read models have what was in the log at some moment, whichever replica brings them there; and not
  // while they are missing, since somebody dropped them.
  const readiness = supervise(`${given.name}.readiness`, log, async signal => {
    while (!signal.aborted) {
      const head = await options.eventStore.head()
      while (!caughtUp && !signal.aborted) {
        const reached = ((await checkpoints.get(name)) ?? START) >= head
        caughtUp = reached && (await built()) === (await wanted())
        if (!caughtUp) await pause(10, signal)
      }
      while (caughtUp && !signal.aborted) {
        await pause(LOOK_MS, signal)
        if (!(await complete())) caughtUp = false
      }
    }
  })

  return {
    get caughtUp() {
      return caughtUp
    },
    complete,
    async reached(position, timeoutMs) {
      const deadline = performance.now() + timeoutMs
      while (((await checkpoints.get(name)) ?? START) < position) {
        if (performance.now() >= deadline) return false
        await pause(5)
      }
      return true
    },
    async stop() {
      await Promise.all([worker.stop(), readiness.stop()])
    },
  }
}

/** Projects the whole log over what is there, then removes what the log does not know. Readers go on meanwhile. */
async function rebuild(options: Running, lease: Lease, signal: AbortSignal): Promise<void> {
  const { readModels, collections } = options
  const leftOver = new Map<string, Set<string>>()
  for (const definition of collections) {
    const ids = new Set<string>()
    for await (const id of readModels.collection(definition).ids()) ids.add(id)
    leftOver.set(definition.name, ids)
  }
  const forget = (write: Write) => leftOver.get(write.collection.name)?.delete(write.id)
  await follow(options, { lease, signal, from: START, force: true, untilCaughtUp: true, onWrite: forget })
  if (signal.aborted) return
  for (const definition of collections) {
    const collection = readModels.collection(definition)
    for (const id of leftOver.get(definition.name) ?? []) {
      const stored = await collection.get(id)
      if (stored) await collection.remove(id, stored.revision)
    }
  }
}

/**
 * Projects held streams again from their first event. A stream that is incomplete is left until a release knows one of
 * its unknown events.
 */
async function retryHeld(
  options: Running,
  { lease, signal, stream: only }: { lease: Lease; signal: AbortSignal; stream: string | undefined },
): Promise<void> {
  const { name, key, eventStore, readModels, byCategory, log } = options
  for await (const stream of listHeld(options.held, readModels)) {
    if (signal.aborted) return
    if (only !== undefined && stream.id !== only) continue
    const projection = byCategory.get(streamCategory(stream.id))
    if (!projection) continue
    if (stream.status === 'INCOMPLETE' && !stream.unknown.some(projection.knows)) continue
    const run = await projectRun(options, projection, await eventStore.readStream(stream.id), true)
    if (!run.holds) run.writes.push(released(options.held, stream.id))
    const position = await readModels.checkpoints.get(key)
    if (position === undefined) return
    await writeRuns(options, [run], { force: true, checkpoint: { name: key, position, lease } })
    if (!run.holds) log.info({ projector: name, stream: stream.id }, 'a held stream is projected again')
  }
}

interface FollowOptions {
  lease: Lease
  signal: AbortSignal
  from?: Position
  /** Write documents of the same revision again. */
  force?: boolean
  untilCaughtUp?: boolean
  onWrite?(write: Write): void
}

async function follow(options: Running, run: FollowOptions): Promise<void> {
  const { key, eventStore, readModels, byCategory } = options
  const streamPrefixes = [...byCategory.keys()].map(category => `${category}-`)
  const after = run.from ?? (await readModels.checkpoints.get(key)) ?? START
  let saved = after
  let batch: RecordedEvent[] = []

  const flush = async (position: Position) => {
    if (position === saved && batch.length === 0) return
    const runs: Run[] = []
    for (const events of Map.groupBy(batch, event => event.stream).values()) {
      const projection = byCategory.get(streamCategory(events[0]?.stream ?? ''))
      if (projection) runs.push(await projectRun(options, projection, events, run.force === true))
    }
    await writeRuns(options, runs, {
      force: run.force === true,
      checkpoint: { name: key, position, lease: run.lease },
    })
    for (const { writes } of runs) for (const write of writes) run.onWrite?.(write)
    for (const { projection, events, holds } of runs) if (!holds) projection.written(events)
    batch = []
    saved = position
  }

  for await (const item of eventStore.subscribe({ after, streamPrefixes, signal: run.signal })) {
    if (item.kind === 'event') {
      batch.push(item.event)
      if (batch.length >= BATCH) await flush(item.event.position)
    } else {
      await flush(item.position > saved ? item.position : saved)
      if (item.kind === 'caughtUp' && run.untilCaughtUp) return
    }
  }
}
