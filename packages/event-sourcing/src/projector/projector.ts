import { setTimeout } from 'node:timers/promises'
import { sleep } from '@gantry/pacing'
import { type CollectionDefinition, type Lease, LeaseLost, type ReadModels } from '@gantry/stores'
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
import { lastKeyOf, ReadModelReport } from './read-model-record.ts'
import {
  abandonBuild,
  beginBuild,
  build,
  buildingOf,
  finishSwitch,
  type Rebuilding,
  reportEnd,
  switchTo,
} from './rebuild.ts'
import { RebuildRequests } from './rebuild-requests.ts'
import { forgetRemovals } from './removals.ts'
import { retryHeld } from './retry-held.ts'

export interface ProjectorOptions {
  /** Names the checkpoint and the lease, together with the shape of the collections; e.g. catalog.projector. */
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

/** Name of the checkpoint and of the lease of a projector. It depends on the shape of the collections. */
export const projectorKey = ({ name, collections }: Pick<ProjectorOptions, 'name' | 'collections'>) =>
  [name, ...[...collections, heldStreams(name)].map(({ name, version }) => `${name}@${version}`)].join(' ')

/**
 * Projects the log, also the events that a crash kept out of the read models. A lease makes sure that one replica does.
 * Documents are guarded by revision and the checkpoint by the lease, so that a paused holder that continues does no harm.
 * A stream with an event that cannot be processed is quarantined: its documents stay, and the checkpoint advances. Held
 * streams are projected again from their first event at each start of the projector and on request.
 * On request a new generation of the read models is built beside the live one. They are made again when they were
 * dropped, and for the first time when a collection has changed its shape. During an upgrade that changes a shape, a
 * projector of each shape runs, so that neither waits for the other.
 */
export class Projector implements Worker, ProjectionTarget {
  readonly name: string
  readonly background: boolean
  readonly readModels: ReadModels
  readonly #options: ProjectorOptions
  readonly #projections = new Map<string, Projection>()
  readonly #models: ProjectedModels
  readonly #requests: RebuildRequests
  readonly #report: ReadModelReport
  #workers: Worker[] = []
  #caughtUp = false

  constructor(options: ProjectorOptions) {
    const { name, eventStore, readModels, log, background = false, ordered } = options
    const key = projectorKey(options)
    const held = heldStreams(name)
    const collections = [...options.collections, held]
    this.name = name
    this.background = background
    this.readModels = readModels
    this.#options = options
    this.#models = {
      name,
      key,
      eventStore,
      readModels,
      projections: this.#projections,
      ...(ordered && { ordered }),
      collections,
      held,
      group: readModels.group(key, collections),
      log,
    }
    this.#requests = new RebuildRequests(this.#models)
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
    const { name, key, log } = this.#models
    const lease = { leases: this.readModels.leases, name: key, holder: this.#options.holder }
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
    if ((await this.#requests.carriedOut()) === undefined) return false
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
    const rebuilding = { models: this.#models, requests: this.#requests, report: this.#report, lease }
    try {
      while (!signal.aborted) {
        const wanted = await this.#requests.wanted()
        if (!(await this.complete())) await this.#make(wanted, rebuilding, signal)
        else await this.#follow(wanted, rebuilding, signal)
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
  async #make(wanted: string, { lease }: Rebuilding, signal: AbortSignal): Promise<void> {
    const live = await this.#live()
    if ((await this.readModels.checkpoints.get(live.checkpoint)) === undefined) await this.#requests.forget()
    live.log.info({ projector: this.name }, 'makes the read models from the log')
    await projectLog(live, { lease, signal, again: true, untilCaughtUp: true })
    if (!signal.aborted) await this.#requests.complete(wanted, lease)
  }

  /**
   * Begins, continues or abandons the build of the next generation, as the latest request wants. Tries the streams again
   * that are held back. Then follows the log into the live generation; meanwhile it deletes old tombstones, finishes an
   * earlier switch and builds the next generation. Ends when the build ends, when there is another request or a
   * cancellation, or when the read models are dropped. Switches to the next generation if it is built.
   */
  async #follow(wanted: string, rebuilding: Rebuilding, signal: AbortSignal): Promise<void> {
    const { lease } = rebuilding
    const live = await this.#live()
    const building = await this.#wantedBuild(wanted, rebuilding)
    const retried = await retryHeld(live, { lease, signal })
    if (signal.aborted) return
    const { request } = await this.#models.group.current()
    const isOver = building === undefined && request === undefined
    const { generation, checkpoint } = live
    // A holder may have died before it reported the end of its build.
    await this.#report.change({ generation, checkpoint, error: null, ...(isOver && { build: null }) })
    let isBuilt = false
    await untilOneEnds(signal, [
      signal => projectLog(live, { lease, signal }),
      signal => this.#pollRequests({ wanted, retried, isBuilding: building !== undefined }, signal),
      signal => forgetRemovals(live, signal),
      signal => finishSwitch(rebuilding, signal),
      ...(building === undefined ? [] : [building]).map(generation => async (signal: AbortSignal) => {
        isBuilt = await build(rebuilding, generation, signal)
      }),
    ])
    if (isBuilt && building !== undefined && !signal.aborted) await switchTo(rebuilding, building, signal)
  }

  /** Begins, continues or abandons the build of a generation. @returns its number; undefined when none is wanted */
  async #wantedBuild(wanted: string, rebuilding: Rebuilding): Promise<number | undefined> {
    const { lease, models } = rebuilding
    const generations = await models.group.current()
    const building = buildingOf(generations)
    const isDone = wanted === generations.request || wanted === (await this.#requests.carriedOut())
    const isCancelled = !isDone && (await this.#requests.isCancelled(wanted))
    if (!isDone && !isCancelled) return building ?? beginBuild(rebuilding)
    if (building !== undefined) await abandonBuild(rebuilding, building)
    else if (isCancelled) await reportEnd(rebuilding, 'CANCELLED')
    if (isCancelled) await this.#requests.complete(wanted, lease)
    return undefined
  }

  /**
   * Ends when a new request arrives, when the build is cancelled, or when the checkpoint is gone. Also ends when a
   * cancellation is not reported yet, after an earlier switch has finished, because the switch reports its own request.
   */
  async #pollRequests(
    { wanted, retried, isBuilding }: { wanted: string; retried: string; isBuilding: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const requests = this.#requests
    for (await sleep(POLL_MS, { signal }); !signal.aborted; await sleep(POLL_MS, { signal })) {
      try {
        const [wantedNow, retryNow, carriedOut, isComplete] = await Promise.all([
          requests.wanted(),
          requestedRetry(this.name, this.readModels),
          requests.carriedOut(),
          this.complete(),
        ])
        if (wantedNow !== wanted || retryNow.id !== retried || !isComplete) return
        if (carriedOut === wanted) await requests.repairReport(wanted)
        else if (await requests.isCancelled(wanted)) {
          const { request } = await this.#models.group.current()
          if (isBuilding || request === undefined) return
        }
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
 * Refuses changes of the generations by earlier holders of the lease. Read models of a new shape begin with a generation
 * of their own: those of the former shape may use some of the same collections.
 */
async function claimGenerations(
  { name, key, group, readModels }: ProjectedModels,
  lease: Lease,
): Promise<void> {
  const { checkpoints } = readModels
  const last = await lastKeyOf(name, readModels)
  const isNew = !(await group.exists()) && (await checkpoints.get(key)) === undefined
  const live = isNew && last !== undefined && last !== key ? (await readModels.time()).getTime() : undefined
  await group.change(lease, current =>
    live === undefined ? current : { live, written: [live], dropped: [] },
  )
}

/** Runs tasks until one of them ends, then stops the others. @throws the error of the first one that failed */
async function untilOneEnds(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const over = new AbortController()
  const current = AbortSignal.any([signal, over.signal])
  const outcomes = await Promise.allSettled(tasks.map(task => task(current).finally(() => over.abort())))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
