import { setTimeout } from 'node:timers/promises'
import { sleep } from '@gantry/messaging'
import type { CollectionDefinition, Lease, ReadModels } from '@gantry/read-models'
import type { Position } from './event.ts'
import type { EventStore } from './event-store.ts'
import { underLease } from './lease.ts'
import { projectLog } from './log-projection.ts'
import type { OrderedProjection, Projection, ProjectionTarget } from './projection.ts'
import { heldStreams, requestedRetry } from './quarantine.ts'
import { projectedPosition, type ReadSide } from './read-side.ts'
import { rebuild } from './rebuild.ts'
import { RebuildRequests } from './rebuild-requests.ts'
import { forgetRemovals } from './removals.ts'
import { retryHeld } from './retry-held.ts'
import { type Log, supervise, type Worker } from './worker.ts'

export interface ProjectorOptions {
  /** Names the checkpoint and the lease, together with the shape of the collections; e.g. catalog.projector. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  /** The collections that the projections write to. A rebuild removes documents from them that the log does not give. */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
  /** Projections other than those of aggregates, which register themselves; or one in the order of the log. */
  projections?: readonly Projection[] | OrderedProjection
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
 * The read models are rebuilt when they were dropped, when a collection changed its shape, and on request. During an
 * upgrade that changes a shape, a projector of each shape runs, so that neither waits for the other.
 */
export class Projector implements Worker, ProjectionTarget {
  readonly name: string
  readonly background: boolean
  readonly readModels: ReadModels
  readonly #options: ProjectorOptions
  readonly #projections = new Map<string, Projection>()
  readonly #readSide: ReadSide
  readonly #rebuilds: RebuildRequests
  #workers: Worker[] = []
  #caughtUp = false

  constructor(options: ProjectorOptions) {
    const { name, eventStore, readModels, log, background = false, projections = [] } = options
    const ordered = 'next' in projections ? projections : undefined
    const key = projectorKey(options)
    const held = heldStreams(name)
    const collections = [...options.collections, held]
    this.name = name
    this.background = background
    this.readModels = readModels
    this.#options = options
    this.#readSide = {
      name,
      key,
      eventStore,
      readModels,
      projections: this.#projections,
      ...(ordered && { ordered }),
      collections,
      held,
      log,
    }
    this.#rebuilds = new RebuildRequests(this.#readSide)
    for (const projection of 'next' in projections ? [] : projections) this.register(projection)
  }

  /** Adds a projection before the start. @throws Error when the category already has one */
  register(projection: Projection): void {
    const { category } = projection
    if (this.#readSide.ordered) throw new Error(`${this.name} projects in the order of the log`)
    if (this.#projections.has(category)) throw new Error(`${this.name} has two projections of ${category}`)
    this.#projections.set(category, projection)
  }

  start(): void {
    const { name, key, log } = this.#readSide
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

  /** Whether the read models exist now; false after an operator has dropped them. */
  async complete(): Promise<boolean> {
    return (await this.#rebuilds.carriedOut()) !== undefined && (await this.#checkpoint()) !== undefined
  }

  /**
   * Waits until the read models have all events up to a position.
   * @returns false when the time was up before, and before the start
   */
  async reached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.#workers.length === 0) return false
    const deadline = performance.now() + timeoutMs
    while ((await projectedPosition(this.#readSide)) < position) {
      if (performance.now() >= deadline) return false
      await setTimeout(5)
    }
    return true
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.stop()))
  }

  #checkpoint() {
    return this.#readSide.readModels.checkpoints.get(this.#readSide.key)
  }

  /** Makes the read models if necessary, then projects the log until there is a request or the read models are dropped. */
  async #project(lease: Lease, signal: AbortSignal): Promise<void> {
    const wanted = await this.#rebuilds.wanted()
    const carriedOut = await this.#rebuilds.carriedOut()
    const exists = (await this.#checkpoint()) !== undefined
    if (carriedOut !== wanted || !exists) {
      await rebuild(this.#readSide, { lease, signal, serving: carriedOut !== undefined && exists })
      if (signal.aborted) return
      await this.#rebuilds.complete(wanted, lease)
    }
    const retried = await retryHeld(this.#readSide, { lease, signal })
    if (signal.aborted) return
    const stale = new AbortController()
    const current = AbortSignal.any([signal, stale.signal])
    const polling = this.#pollRequests(wanted, retried, { signal: current, stop: () => stale.abort() })
    const forgetting = forgetRemovals(this.#readSide, current)
    try {
      await projectLog(this.#readSide, { lease, signal: current })
    } finally {
      stale.abort()
      await Promise.all([polling, forgetting])
    }
  }

  /** Calls `stop` when there is another request than these, or when the checkpoint is gone. */
  async #pollRequests(
    wanted: string,
    retried: string,
    { signal, stop }: { signal: AbortSignal; stop(): void },
  ): Promise<void> {
    const { name, readModels } = this.#readSide
    for (await sleep(POLL_MS, { signal }); !signal.aborted; await sleep(POLL_MS, { signal })) {
      try {
        const [wantedNow, retryNow, checkpoint] = await Promise.all([
          this.#rebuilds.wanted(),
          requestedRetry(name, readModels),
          this.#checkpoint(),
        ])
        if (wantedNow !== wanted || retryNow.id !== retried || checkpoint === undefined) stop()
        else await this.#rebuilds.repairReport(wanted)
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
      const head = await this.#readSide.eventStore.head()
      while (!this.#caughtUp && !signal.aborted) {
        this.#caughtUp =
          (await this.reached(head, 0)) &&
          (await this.#rebuilds.carriedOut()) === (await this.#rebuilds.wanted())
        if (!this.#caughtUp) await sleep(10, { signal })
      }
      while (this.#caughtUp && !signal.aborted) {
        await sleep(POLL_MS, { signal })
        if (!(await this.complete())) this.#caughtUp = false
      }
    }
  }
}
