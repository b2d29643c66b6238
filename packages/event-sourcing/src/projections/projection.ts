import type { Collection, CollectionDefinition, Document, Lease, ReadModels, Write } from '@gantry/stores'
import {
  type DomainEvent,
  type EventSchemas,
  type Fact,
  type Position,
  type RecordedEvent,
  upcast,
} from '../log/event.ts'
import type { StreamState } from '../log/fold.ts'

/**
 * Computes the documents of an aggregate: a pure function of the folded state and its last events. A document must
 * depend on the state alone, so that projecting twice, or a later state first, gives the same documents.
 */
export type Project<State, Event> = (
  id: string,
  state: StreamState<State>,
  events: readonly Event[],
) => Write[]

/** The documents that follow from consecutive events of one stream. */
export interface Projected {
  writes: Write[]
  /** Names (`type@version`) of events of the stream that this release does not know. */
  unknown: readonly string[]
}

/** How the streams of one category become documents. */
export interface Projection {
  readonly category: string
  /**
   * The writes for consecutive events of one stream. None when this process has projected them already, unless `again` is
   * set.
   * @param made the generation that the writes are for. It has those for all events before the batch
   * @throws StreamQuarantined when an event cannot be upcast, folded or projected
   */
  writes(events: readonly RecordedEvent[], again: boolean, made: MadeGeneration): Promise<Projected>
  /** Called by the projector once the writes of these events, and of all events before them, are acknowledged. */
  written(events: readonly RecordedEvent[]): void
  /** Whether this release knows an event type of that name (`type@version`). */
  knows(schema: string): boolean
}

/**
 * A projection whose documents depend on all events before, e.g. a hash chain. It gets every event of the log in order. No
 * stream with an event that changes its state may be removed, so that a rebuild gives the same documents.
 */
export interface OrderedProjection<State = unknown> {
  /** The state before the first event. */
  readonly initial: State
  /** Whether a stream is one of the services. Events of other streams are left out. */
  isOurs(stream: string): boolean
  /** Called for each event that is left out because its stream is none of the services. */
  foreign(event: RecordedEvent): void
  /**
   * The state after further events of the services, none of them malformed, and their documents. It depends on its
   * arguments alone. @throws never
   */
  next(state: State, events: readonly RecordedEvent[]): { state: State; writes: Write[] }
  /**
   * Begins to observe one run through the log. `reached` is called with the state at the beginning of the run, and after each
   * batch once its documents are stored.
   */
  observe?(run: OrderedRun): { reached(state: State): Promise<void> }
}

/** A run of a projector through the log, which makes a generation. */
export interface OrderedRun extends MadeGeneration {
  lease: Lease
}

/** A generation of read models that is written, whether it is live or not. */
export interface MadeGeneration {
  collection<D extends Document>(definition: CollectionDefinition<D>): Collection<D>
}

/** The read models that projections write to. A projector implements it. */
export interface ProjectionTarget {
  readonly readModels: Pick<ReadModels, 'write'>
  /** Adds a projection before the projector starts. Each category has one. */
  register(projection: Projection): void
  /** Whether the documents of every generation that commands write contain all events up to a position. */
  contains(position: Position): Promise<boolean>
}

/** The writes for facts of a stream. @param state after the facts, or later */
export function writesOf<State, Event extends DomainEvent>(
  project: Project<State, Event>,
  schemas: EventSchemas<Event>,
  id: string,
  state: StreamState<State>,
  facts: readonly Fact[],
): Write[] {
  const events = facts.flatMap(fact => upcast(schemas, fact) ?? [])
  const writes = project(id, state, events)
  if (state.unknown) for (const write of writes) write.incomplete = true
  return writes
}
