import { setTimeout } from 'node:timers/promises'
import type { CollectionDefinition, Lease, ReadModels, Write } from '@gantry/read-models'
import { type Aggregate, type Snapshot, streamCategory, streamId } from './aggregate.ts'
import type { DomainCommand } from './decider.ts'
import { type DomainEvent, type Position, type RecordedEvent, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import { type Log, supervise, underLease, type Worker } from './follower.ts'

/**
 * What readers see of an aggregate: pure, from the folded state and the events that led to it last. A document must
 * depend on the state alone, so that applying twice, or a later state first, ends the same.
 */
export type Project<State, Event> = (id: string, snapshot: Snapshot<State>, events: Event[]) => Write[]

/** One aggregate and what it projects to. */
export interface Projection {
  category: string
  /** The writes of a run of events of one stream; `all` includes what this process has projected already. */
  writes(events: RecordedEvent[], all: boolean): Promise<Write[]>
}

export function projectionOf<State, Command extends DomainCommand, Event extends DomainEvent>(
  source: Aggregate<State, Command, Event>,
  project: Project<State, Event>,
): Projection {
  return {
    category: source.category,
    async writes(events, all) {
      const [first, last] = [events[0], events.at(-1)]
      if (!first || !last) return []
      const id = streamId(first.stream)
      if (!all && source.projectedRevision(id) >= last.revision) return []
      let snapshot: Snapshot<State> = await source.follow(first)
      for (const event of events.slice(1)) snapshot = await source.follow(event)
      return project(id, snapshot, events as unknown as Event[])
    },
  }
}

/** A projection of single events, e.g. the audit log: each event gives documents of its own. */
export function projectionOfEach(category: string, project: (event: RecordedEvent) => Write[]): Projection {
  return { category, writes: async events => events.flatMap(project) }
}

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

/** What the checkpoint and the lease of a projector are called: collections of another shape have others. */
export const projectorKey = ({ name, collections }: Pick<ProjectorOptions, 'name' | 'collections'>) =>
  [name, ...collections.map(collection => `${collection.name}@${collection.version}`)].join(' ')

/**
 * Follows the log and repairs what a crash left out of the read models; by lease, so that one replica does.
 * Writes are guarded by revision, the checkpoint by the lease: a paused holder that wakes up does no harm.
 * The read models are made anew when they were dropped, when a collection changed its shape, or when asked. During an
 * upgrade that changes a shape, a projector of each runs, so that none waits for the other.
 */
export function startProjector(given: ProjectorOptions): Projector {
  const options = { ...given, name: projectorKey(given) }
  const { name, readModels, log, holder } = options
  const { checkpoints, leases } = readModels
  const wanted = async () => `${(await checkpoints.get(`${given.name}.rebuild.requested`)) ?? 'none'} ${name}`
  const built = () => checkpoints.get(`${name}.rebuild.done`)
  const complete = async () => (await built()) !== undefined && (await checkpoints.get(name)) !== undefined
  let caughtUp = false

  const worker = supervise(given.name, log, signal =>
    underLease({ leases, name, holder, signal }, async (lease, held) => {
      const goal = await wanted()
      if ((await built()) !== goal || !(await checkpoints.get(name))) {
        log.info({ projector: given.name }, 'makes the read models from the log')
        await rebuild(options, lease, held)
        if (held.aborted) return
        // For who asked, and knows nothing of shapes; first, since nobody would come back to it.
        await checkpoints.save(`${given.name}.rebuild.done`, goal)
        await checkpoints.save(`${name}.rebuild.done`, goal, lease)
      }
      const stale = new AbortController()
      const looking = setInterval(async () => {
        const answers = await Promise.all([wanted(), checkpoints.get(name)]).catch(() => undefined)
        if (answers && (answers[0] !== goal || answers[1] === undefined)) stale.abort()
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
async function rebuild(options: ProjectorOptions, lease: Lease, signal: AbortSignal): Promise<void> {
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

interface FollowOptions {
  lease: Lease
  signal: AbortSignal
  from?: Position
  /** Write documents of the same revision again. */
  force?: boolean
  untilCaughtUp?: boolean
  onWrite?(write: Write): void
}

async function follow(options: ProjectorOptions, run: FollowOptions): Promise<void> {
  const { name, eventStore, readModels, projections } = options
  const byCategory = new Map(projections.map(projection => [projection.category, projection]))
  const streamPrefixes = [...byCategory.keys()].map(category => `${category}-`)
  const after = run.from ?? (await readModels.checkpoints.get(name)) ?? START
  let saved = after
  let batch: RecordedEvent[] = []

  const flush = async (position: Position) => {
    if (position === saved && batch.length === 0) return
    const writes: Write[] = []
    for (const events of Map.groupBy(batch, event => event.stream).values()) {
      const projection = byCategory.get(streamCategory(events[0]?.stream ?? ''))
      if (projection) writes.push(...(await projection.writes(events, run.force === true)))
    }
    for (const write of writes) {
      if (run.force) write.force = true
      run.onWrite?.(write)
    }
    await readModels.write(writes, { name, position, lease: run.lease })
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
