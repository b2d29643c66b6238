import { setTimeout } from 'node:timers/promises'
import { sleep } from '@gantry/pacing'
import {
  type CollectionDefinition,
  type Lease,
  LeaseLost,
  type ReadModels,
  storedGenerations,
} from '@gantry/stores'
import type { Position } from '../log/event.ts'
import type { EventStore } from '../log/event-store.ts'
import { projectLog } from '../projections/log-projection.ts'
import {
  generationOf,
  type ModelGeneration,
  type ProjectedModels,
  projectedPosition,
} from '../projections/projected-models.ts'
import type { OrderedProjection, Projection, ProjectionTarget } from '../projections/projection.ts'
import { underLease } from '../supervision/lease.ts'
import { heldStreams, requestedRetry } from '../supervision/quarantine.ts'
import { type Log, supervise, type Worker } from '../supervision/worker.ts'
import { latestIdOf, ReadModelReport } from './read-model-record.ts'
import {
  abandonBuild,
  beginBuild,
  build,
  buildingOf,
  deleteFormer,
  type Rebuilding,
  switchTo,
} from './rebuild.ts'
import { isCancelled, requestedRebuild } from './rebuild-requests.ts'
import { forgetRemovals } from './removals.ts'
import { retryHeld } from './retry-held.ts'

export interface ProjectorOptions {
  /** E.g. catalog.projector. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  /** The collections that the projections write to. */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
  /** A projection in the order of the log, instead of those that register themselves. */
  ordered?: OrderedProjection
  /** Whether the service is ready before this projector has caught up. */
  background?: boolean
  holder: string
  log: Log
}

/** Interval at which the projector looks for requests and for its checkpoint, in milliseconds. */
const POLL_MS = 1_000

/** The id of a projector: its name and the versions of its collections. It names the checkpoint and the lease. */
export const projectorId = ({ name, collections }: Pick<ProjectorOptions, 'name' | 'collections'>) =>
  [name, ...[...collections, heldStreams(name)].map(({ name, version }) => `${name}@${version}`)].join(' ')

/**
 * Projects the log, also the events that a crash kept out of the read models. A lease makes sure that one replica does.
 * Documents are guarded by revision and the checkpoint by the lease, so that a paused holder that continues does no harm.
 * A stream with an event that cannot be processed is quarantined: its documents stay, and the checkpoint advances. Held
 * streams are projected again from their first event at each start of the projector and on request.
 * On request a new generation of the read models is built beside the live one. They are made again when they were
 * dropped, and for the first time when a collection has a new version. During an upgrade that changes a version,
 * projectors of two ids run, so that neither waits for the other.
 */
export class Projector implements Worker, ProjectionTarget {
  readonly name: string
  readonly background: boolean
  readonly readModels: ReadModels
  readonly #options: ProjectorOptions
  readonly #projections = new Map<string, Projection>()
  readonly #models: ProjectedModels
  readonly #report: ReadModelReport
  #workers: Worker[] = []
  #caughtUp = false

  constructor(options: ProjectorOptions) {
    const { name, eventStore, readModels, log, background = false, ordered } = options
    const id = projectorId(options)
    const held = heldStreams(name)
    const collections = [...options.collections, held]
    this.name = name
    this.background = background
    this.readModels = readModels
    this.#options = options
    this.#models = {
      name,
      id,
      eventStore,
      readModels,
      projections: this.#projections,
      ...(ordered && { ordered }),
      collections,
      held,
      group: readModels.group(id, collections),
      log,
    }
    this.#report = new ReadModelReport(this.#models)
  }

  /** Adds a projection before the start. @throws Error when the category already has one */
  register(projection: Projection): void {
    const { category } = projection
    if (this.#models.ordered) throw new Error(`${this.name} projects in the order of the log`)
    if (this.#projections.has(category)) throw new Error(`${this.name} has two projections of ${category}`)
    this.#projections.set(category, projection)
  }

  start(): void {
    const { name, id, log } = this.#models
    const lease = { leases: this.readModels.leases, name: id, holder: this.#options.holder }
    this.#workers = [
      supervise(name, log, signal =>
        underLease({ ...lease, signal }, (acquired, signal) => this.#project(acquired, signal)),
      ),
      supervise(`${name}.readiness`, log, signal => this.#observe(signal)),
    ]
  }

  /** Whether the read models exist and have all events that were in the log at some moment since the start. */
  get caughtUp(): boolean {
    return this.#caughtUp
  }

  /** What it runs; none before the start. */
  get workers(): readonly Worker[] {
    return this.#workers
  }

  /** Whether the read models exist now; false after an operator has dropped them. */
  async complete(): Promise<boolean> {
    if ((await this.#models.group.current()).ended === undefined) return false
    return (await this.readModels.checkpoints.get((await this.#live()).checkpoint)) !== undefined
  }

  async contains(position: Position): Promise<boolean> {
    const { written } = await this.#models.group.current()
    const reached = await Promise.all(written.map(generation => projectedPosition(this.#models, generation)))
    return this.#workers.length > 0 && reached.every(through => through >= position)
  }

  /**
   * Waits until the read models have all events up to a position.
   * @returns false when the time was up before, and before the start
   */
  async reached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.#workers.length === 0) return false
    const deadline = performance.now() + timeoutMs
    while ((await projectedPosition(this.#models, (await this.#live()).generation)) < position) {
      if (performance.now() >= deadline) return false
      await setTimeout(5)
    }
    return true
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.stop()))
  }

  async #live(): Promise<ModelGeneration> {
    return generationOf(this.#models, (await this.#models.group.current()).live)
  }

  async #project(lease: Lease, signal: AbortSignal): Promise<void> {
    const { collections, log } = this.#models
    await claimGenerations(this.#models, lease)
    const { generation, checkpoint } = await this.#live()
    const named = collections.map(({ name, version }) => `${name}@${version}`)
    await this.#report.begin({ checkpoint, generation, collections: named })
    const rebuilding = { models: this.#models, report: this.#report, lease }
    try {
      while (!signal.aborted) {
        const request = await requestedRebuild(this.name, this.readModels)
        if (!(await this.complete())) await this.#make(request, lease, signal)
        else await this.#follow(request, rebuilding, signal)
      }
    } catch (error) {
      // Fails if the store is away, which interrupted the projection.
      if (!(error instanceof LeaseLost)) await this.#reportError(error).catch(() => {})
      log.info({ projector: this.name }, 'interrupts the projection')
      throw error
    }
  }

  async #reportError(error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error)
    const at = (await this.readModels.time()).toISOString()
    await this.#report.change({ error: { message, at } })
  }

  /** Makes the live read models for the first time, or after they were dropped. The service waits for them. */
  async #make(request: string, lease: Lease, signal: AbortSignal): Promise<void> {
    const { group } = this.#models
    const live = await this.#live()
    if ((await this.readModels.checkpoints.get(live.checkpoint)) === undefined)
      await group.change(lease, current => ({ ...current, ended: undefined }))
    live.log.info({ projector: this.name }, 'makes the read models from the log')
    await projectLog(live, { lease, signal, again: true, untilCaughtUp: true })
    if (!signal.aborted) await group.change(lease, current => ({ ...current, ended: request }))
  }

  /**
   * Begins or continues the build of the next generation if the request has not ended, and abandons it if the request is
   * cancelled. Projects the streams again that are held. Then follows the log into the live generation; meanwhile it builds
   * the next one and deletes old tombstones and the former generation. Ends when the build ends, when there is another
   * request or a cancellation, or when the read models are dropped. Switches to the next generation if it is built.
   */
  async #follow(request: string, rebuilding: Rebuilding, signal: AbortSignal): Promise<void> {
    const { lease } = rebuilding
    const live = await this.#live()
    const building = await this.#wantedBuild(request, rebuilding)
    const retried = await retryHeld(live, { lease, signal })
    if (signal.aborted) return
    const { generation, checkpoint } = live
    await this.#report.change({ generation, checkpoint, error: null })
    let isBuilt = false
    await untilOneEnds(signal, [
      signal => projectLog(live, { lease, signal }),
      signal => this.#untilAsked({ request, retried, isBuilding: building !== undefined }, signal),
      signal => forgetRemovals(live, signal),
      signal => deleteFormer(rebuilding, signal),
      ...(building === undefined ? [] : [building]).map(generation => async (signal: AbortSignal) => {
        isBuilt = await build(rebuilding, generation, signal)
      }),
    ])
    if (isBuilt && building !== undefined && !signal.aborted)
      await switchTo(rebuilding, { request, building }, signal)
  }

  /** Begins, continues or abandons the build of a generation. @returns its number; undefined when none is wanted */
  async #wantedBuild(request: string, rebuilding: Rebuilding): Promise<number | undefined> {
    const generations = await this.#models.group.current()
    const building = buildingOf(generations)
    const isEnded = request === generations.ended
    if (!isEnded && !(await isCancelled(this.name, this.readModels, request)))
      return building ?? beginBuild(rebuilding)
    if (!isEnded || building !== undefined) await abandonBuild(rebuilding, { request, building })
    return undefined
  }

  /** Ends when a new request arrives, when the build is cancelled, or when the checkpoint is gone. */
  async #untilAsked(
    { request, retried, isBuilding }: { request: string; retried: string; isBuilding: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { name, readModels } = this
    for (await sleep(POLL_MS, { signal }); !signal.aborted; await sleep(POLL_MS, { signal })) {
      try {
        const [requested, retry, isComplete] = await Promise.all([
          requestedRebuild(name, readModels),
          requestedRetry(name, readModels),
          this.complete(),
        ])
        if (requested !== request || retry.id !== retried || !isComplete) return
        if (isBuilding && (await isCancelled(name, readModels, request))) return
      } catch {
        // The store is away: the next poll is in a second.
      }
    }
  }

  /**
   * Ready when the read models have all events that were in the log at some moment, whichever replica projected them.
   * Not ready while they are missing because an operator dropped them.
   */
  async #observe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const head = await this.#models.eventStore.head()
      while (!this.#caughtUp && !signal.aborted) {
        this.#caughtUp = (await this.reached(head, 0)) && (await this.complete())
        if (!this.#caughtUp) await sleep(10, { signal })
      }
      while (this.#caughtUp && !signal.aborted) {
        await sleep(POLL_MS, { signal })
        if (!(await this.complete())) this.#caughtUp = false
      }
    }
  }
}

/**
 * Refuses changes of the generations by earlier holders of the lease. Read models of a new id begin with a generation of
 * their own: those of the former id may use some of the same collections.
 */
async function claimGenerations(
  { name, id, group, readModels }: ProjectedModels,
  lease: Lease,
): Promise<void> {
  const isNew = (await storedGenerations(id, readModels)) === undefined
  const isFirst = (await latestIdOf(name, readModels)) === undefined
  const live = isNew && !isFirst ? (await readModels.time()).getTime() : undefined
  await group.change(lease, current =>
    live === undefined ? current : { live, written: [live], dropped: [] },
  )
}

/** Runs tasks until the first one ends, then stops the others. @throws the error of the first one that failed */
async function untilOneEnds(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const over = new AbortController()
  const current = AbortSignal.any([signal, over.signal])
  const outcomes = await Promise.allSettled(tasks.map(task => task(current).finally(() => over.abort())))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
