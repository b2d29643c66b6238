import { FRESH_MS } from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { type DomainEvent, type Fact, knowsSchema, type RecordedEvent, streamId } from '../log/event.ts'
import { NO_STREAM } from '../log/event-store.ts'
import { StreamQuarantined, type StreamState } from '../log/fold.ts'
import { atMost } from '../log/snapshots.ts'
import {
  type Project,
  type Projected,
  type Projection,
  type ProjectionTarget,
  writesOf,
} from '../projections/projection.ts'
import type { DomainCommand } from './decider.ts'
import { StreamCache, type StreamCacheOptions } from './stream-cache.ts'

/** How the documents of an aggregate are made, and the projector that keeps them. */
export interface View<State, Event> {
  projector: ProjectionTarget
  project: Project<State, Event>
}

/** The last event of a stream before those that are projected. */
export type Before = Pick<StreamState<unknown>, 'revision' | 'position'>

/** The state that is projected before a command is answered. */
interface Shown<State> {
  before: Before
  state: StreamState<State>
  appended: readonly Fact[]
  /** Monotonic time of this process right before the log was read or appended to, in milliseconds. */
  readAt: number
}

/** Maximum number of states that a rebuild keeps, so that few objects survive a garbage collection. */
const REBUILDING = 200

/**
 * The projection of an aggregate, with the part that runs before a command is answered. It folds events into its own
 * states and never reads the states of the command side. It passes its states on to the command side, so that a command
 * after events of another replica neither conflicts nor reads the stream. It keeps, for each stream, the revision up to
 * which every event is in the documents. The revision advances when a write is acknowledged, and never over an event
 * that was not projected: another replica may have appended it, or its projection may have failed.
 */
export class AggregateProjection<State, Command extends DomainCommand, Event extends DomainEvent>
  implements Projection
{
  readonly category: string
  readonly #view: View<State, Event>
  readonly #options: StreamCacheOptions<State, Command, Event>
  readonly #folded: (id: string, state: StreamState<State>) => void
  readonly #states: StreamCache<State, Command, Event>
  /** States that a rebuild folds. It folds every stream, so they are kept apart from those of streams in use. */
  readonly #rebuilding: StreamCache<State, Command, Event>
  readonly #projected: LRUCache<string, number>
  readonly #underWay = new Map<string, Promise<void>>()

  /** @param folded called with the states that are kept, to use them for commands */
  constructor(
    view: View<State, Event>,
    options: StreamCacheOptions<State, Command, Event>,
    folded: (id: string, state: StreamState<State>) => void,
  ) {
    this.category = options.category
    this.#view = view
    this.#options = options
    this.#folded = folded
    this.#states = new StreamCache(options)
    this.#rebuilding = new StreamCache({ ...options, cacheSize: Math.min(options.cacheSize, REBUILDING) })
    this.#projected = new LRUCache(atMost(options.cacheSize))
    view.projector.register(this)
  }

  /**
   * Projects the events that a command has appended, so that its caller's next read has them. It also projects earlier
   * events of the stream that are in no document yet, because their writer died or could not write.
   */
  async show(id: string, { before, state, appended, readAt }: Shown<State>): Promise<void> {
    if (appended.length === 0) return
    await this.#serially(id, async () => {
      const facts = [...(await this.#missing(id, before)), ...appended]
      await this.#write(id, state, facts, readAt)
    })
  }

  /**
   * Projects the stream up to a state that a command returns without appending anything. The writer of that state may
   * have died between the append and the projection.
   */
  async showAll(id: string, state: StreamState<State>, readAt: number): Promise<void> {
    await this.#serially(id, async () => this.#write(id, state, await this.#missing(id, state), readAt))
  }

  async writes(events: readonly RecordedEvent[], again: boolean): Promise<Projected> {
    const [first, last] = [events[0], events.at(-1)]
    if (!first || !last) return { writes: [], unknown: [] }
    const id = streamId(first.stream)
    if (!again && this.#projectedThrough(id) >= last.revision) return { writes: [], unknown: [] }
    let state = await this.#stateAfter(id, first, again)
    for (const event of events.slice(1)) state = await this.#stateAfter(id, event, again)
    try {
      return { writes: this.#writesOf(id, state, events), unknown: state.unknown ?? [] }
    } catch (error) {
      throw new StreamQuarantined(last, error)
    }
  }

  written(events: readonly RecordedEvent[]): void {
    const last = events.at(-1)
    if (!last) return
    const id = streamId(last.stream)
    if (last.revision > this.#projectedThrough(id)) this.#projected.set(id, last.revision)
  }

  // A property, so that it can be passed on alone.
  readonly knows = (schema: string): boolean => knowsSchema(this.#options.decider.events, schema)

  /** Forgets a stream that was removed. */
  forget(id: string): void {
    this.#states.forget(id)
    this.#rebuilding.forget(id)
    this.#projected.delete(id)
  }

  #writesOf(id: string, state: StreamState<State>, facts: readonly Fact[]) {
    return writesOf(this.#view.project, this.#options.decider.events, id, state, facts)
  }

  #projectedThrough(id: string): number {
    return this.#projected.get(id) ?? NO_STREAM
  }

  /** Events up to a revision that, as far as this process knows, are in no document yet. */
  async #missing(id: string, { revision, position }: Before): Promise<readonly Fact[]> {
    const through = this.#projectedThrough(id)
    if (through >= revision) return []
    if (position !== undefined && (await this.#view.projector.contains(position))) return []
    return (await this.#states.read(id, through + 1)).filter(event => event.revision <= revision)
  }

  /** Runs the projections of a stream one after the other, so that each finds what the one before has projected. */
  async #serially(id: string, work: () => Promise<void>): Promise<void> {
    const before = this.#underWay.get(id)
    const run = before ? before.then(work, work) : work()
    this.#underWay.set(id, run)
    try {
      await run
    } finally {
      if (this.#underWay.get(id) === run) this.#underWay.delete(id)
    }
  }

  /**
   * Writes the documents of the facts. A state that was read too long ago, because the process was paused, is read again:
   * the tombstone that would refuse its write may be forgotten.
   */
  async #write(id: string, given: StreamState<State>, facts: readonly Fact[], readAt: number): Promise<void> {
    let [state, events, at] = [given, facts, readAt]
    while (performance.now() - at > FRESH_MS) {
      at = performance.now()
      state = await this.#states.load(id)
      const { revision } = state
      events = (await this.#states.read(id, this.#projectedThrough(id) + 1)).filter(
        event => event.revision <= revision,
      )
    }
    if (events.length > 0) await this.#view.projector.readModels.write(this.#writesOf(id, state, events))
    else if (at !== readAt) return
    const through = events.at(-1)?.revision ?? state.revision
    // The projector notes a stream with unknown events, so it has to see every event of one.
    if (!state.unknown && through > this.#projectedThrough(id)) this.#projected.set(id, through)
    this.#states.keep(id, state)
  }

  /**
   * The state after an event of the log, or a later one. Reads the stream when this process has not folded the events
   * before it. A stream that was removed since gives the initial state.
   */
  async #stateAfter(id: string, event: RecordedEvent, again: boolean): Promise<StreamState<State>> {
    const states = this.#states
    const cached = states.get(id)
    const known = cached ?? (again ? this.#rebuilding.get(id) : undefined) ?? states.empty
    if (known.revision >= event.revision) return known
    if (known.revision === event.revision - 1) {
      const state = states.fold(known, [event])
      const isInUse = cached !== undefined || !again || states.size < REBUILDING
      if (!isInUse) return this.#rebuilding.keep(id, state)
      this.#folded(id, state)
      return states.keep(id, state)
    }
    const loaded = await this.#loadedThrough(id, event)
    if (loaded.revision >= event.revision) {
      this.#folded(id, loaded)
      return loaded
    }
    states.forget(id)
    return { ...states.empty, revision: event.revision }
  }

  /** The state as the log has it now, or before an event after the given one that cannot be folded. */
  async #loadedThrough(id: string, { revision }: RecordedEvent): Promise<StreamState<State>> {
    const states = this.#states
    try {
      return await states.load(id)
    } catch (error) {
      if (!(error instanceof StreamQuarantined && error.event.revision > revision)) throw error
      const events = (await states.read(id)).filter(event => event.revision <= revision)
      return states.fold(states.empty, events)
    }
  }
}
