import { FRESH_MS, type ReadModels, type Write } from '@gantry/read-models'
import { LRUCache } from 'lru-cache'
import type { DomainEvent, Fact, Position, RecordedEvent } from './event.ts'
import { NO_STREAM } from './event-store.ts'
import { StreamQuarantined, type StreamState } from './fold.ts'
import { type EventSchemas, knowsSchema, upcast } from './schema.ts'
import { streamId } from './stream-name.ts'

/**
 * Computes the documents of an aggregate: a pure function of the folded state and its last events. A document must
 * depend on the state alone, so that projecting twice, or a later state first, gives the same documents.
 */
export type Project<State, Event> = (
  id: string,
  snapshot: StreamState<State>,
  events: readonly Event[],
) => Write[]

/** The documents that follow from a run of events of one stream. */
export interface Projected {
  writes: Write[]
  /** Names (`type@version`) of events of the stream that this release does not know. */
  unknown: readonly string[]
}

/** How the streams of one category become documents. */
export interface Projection {
  readonly category: string
  /**
   * The writes for a run of consecutive events of one stream. None when this process has projected them already,
   * unless `again` is set.
   * @throws StreamQuarantined when an event cannot be upcast, folded or projected
   */
  writes(events: readonly RecordedEvent[], again: boolean): Promise<Projected>
  /** Called by the projector once the writes of these events, and of all events before them, are acknowledged. */
  written(events: readonly RecordedEvent[]): void
  /** Whether this release knows an event type of that name (`type@version`). */
  knows(schema: string): boolean
  /**
   * Called by the projector when it starts.
   * @param reached whether the documents contain all events up to a position, whichever process has projected them
   */
  attach(reached: (position: Position) => Promise<boolean>): void
}

/** The last event of a stream before those that are projected. */
export type Before = Pick<StreamState<unknown>, 'revision' | 'position'>

/** The state that is projected before a command is answered. */
interface Shown<State> {
  before: Before
  snapshot: StreamState<State>
  appended: readonly Fact[]
  /** Monotonic time of this process right before the log was read or appended to, in milliseconds. */
  readAt: number
}

/**
 * The projection of an aggregate, with the part that runs before a command is answered. A state that was read too long
 * ago is read again: the tombstone that would refuse its write may be forgotten.
 */
export interface AggregateProjection<State> extends Projection {
  /**
   * Projects the events that a command has appended, so that its caller's next read has them. It also projects earlier
   * events of the stream that are in no document yet, because their writer died or could not write.
   */
  show(id: string, run: Shown<State>): Promise<void>
  /**
   * Projects the stream up to a state that a caller is answered without having changed it: the writer of that state may
   * have died between the append and the projection.
   */
  showAll(id: string, snapshot: StreamState<State>, readAt: number): Promise<void>
  forget(id: string): void
}

export interface AggregateProjectionOptions<State, Event extends DomainEvent> {
  category: string
  /** Of the decider. */
  schemas: EventSchemas<Event>
  /** Computes the documents; absent for an aggregate without documents. */
  view?: { readModels: Pick<ReadModels, 'write'>; project: Project<State, Event> } | undefined
  /** The state after a recorded event, or a later one. @param again whether a rebuild asks, which folds every stream */
  follow(event: RecordedEvent, again: boolean): Promise<StreamState<State>>
  /** The state as the log has it now. */
  load(id: string): Promise<StreamState<State>>
  /** Events of a stream from a revision on. */
  read(id: string, from: number): Promise<RecordedEvent[]>
  /** Maximum number of streams whose projected revision is kept. */
  cacheSize: number
}

/**
 * Keeps, for each stream, the revision up to which every event is in the documents. The revision advances when a write
 * is acknowledged, and never over an event that was not projected: another replica may have appended it, or its
 * projection may have failed.
 */
export function aggregateProjection<State, Event extends DomainEvent>({
  category,
  schemas,
  view,
  follow,
  load,
  read,
  cacheSize,
}: AggregateProjectionOptions<State, Event>): AggregateProjection<State> {
  const projected = new LRUCache<string, number>({ max: cacheSize })
  const projectedThrough = (id: string) => projected.get(id) ?? NO_STREAM
  const underWay = new Map<string, Promise<void>>()
  let reached = async (_position: Position) => false

  const project = (id: string, snapshot: StreamState<State>, facts: readonly Fact[]): Write[] => {
    const events = facts.flatMap(fact => upcast(schemas, fact) ?? [])
    const writes = view?.project(id, snapshot, events) ?? []
    if (snapshot.unknown) for (const write of writes) write.incomplete = true
    return writes
  }

  /** Events up to a revision that, as far as this process knows, are in no document yet. */
  const missing = async (id: string, { revision, position }: Before): Promise<readonly Fact[]> => {
    const through = projectedThrough(id)
    if (through >= revision || (position !== undefined && (await reached(position)))) return []
    return (await read(id, through + 1)).filter(event => event.revision <= revision)
  }

  /** Serializes the projections of a stream: each finds what the one before has projected. */
  const serially = async (id: string, work: () => Promise<void>) => {
    const before = underWay.get(id)
    const run = before ? before.then(work, work) : work()
    underWay.set(id, run)
    try {
      await run
    } finally {
      if (underWay.get(id) === run) underWay.delete(id)
    }
  }

  const advance = (id: string, { unknown }: StreamState<State>, revision: number) => {
    // The projector notes a stream with unknown events, so it has to see every event of one.
    if (!unknown && revision > projectedThrough(id)) projected.set(id, revision)
  }

  /** Writes the documents of the facts. Reads the log again when the process was paused since they were read. */
  const write = async (id: string, snapshot: StreamState<State>, facts: readonly Fact[], readAt: number) => {
    let [shown, events, at] = [snapshot, facts, readAt]
    while (performance.now() - at > FRESH_MS) {
      at = performance.now()
      shown = await load(id)
      const { revision } = shown
      events = (await read(id, projectedThrough(id) + 1)).filter(event => event.revision <= revision)
    }
    if (events.length > 0) await view?.readModels.write(project(id, shown, events))
    else if (at !== readAt) return
    advance(id, shown, events.at(-1)?.revision ?? shown.revision)
  }

  const show: AggregateProjection<State>['show'] = async (id, { before, snapshot, appended, readAt }) => {
    if (!view || appended.length === 0) return
    await serially(id, async () => {
      const facts = [...(await missing(id, before)), ...appended]
      await write(id, snapshot, facts, readAt)
    })
  }

  const showAll: AggregateProjection<State>['showAll'] = async (id, snapshot, readAt) => {
    if (!view) return
    await serially(id, async () => write(id, snapshot, await missing(id, snapshot), readAt))
  }

  return {
    category,
    knows: name => knowsSchema(schemas, name),
    show,
    showAll,
    attach(given) {
      reached = given
    },
    async writes(events, again) {
      const [first, last] = [events[0], events.at(-1)]
      if (!view || !first || !last) return { writes: [], unknown: [] }
      const id = streamId(first.stream)
      if (!again && projectedThrough(id) >= last.revision) return { writes: [], unknown: [] }
      let snapshot = await follow(first, again)
      for (const event of events.slice(1)) snapshot = await follow(event, again)
      try {
        return { writes: project(id, snapshot, events), unknown: snapshot.unknown ?? [] }
      } catch (error) {
        throw new StreamQuarantined(last, error)
      }
    },
    written(events) {
      const last = events.at(-1)
      if (!view || !last) return
      const id = streamId(last.stream)
      if (last.revision > projectedThrough(id)) projected.set(id, last.revision)
    },
    forget: id => void projected.delete(id),
  }
}

/** A projection of single events, e.g. the audit log: each event has its own documents. */
export function projectionOfEach(category: string, project: (event: RecordedEvent) => Write[]): Projection {
  return {
    category,
    knows: () => true,
    async writes(events) {
      const writes: Write[] = []
      for (const event of events) {
        try {
          writes.push(...project(event))
        } catch (error) {
          throw new StreamQuarantined(event, error)
        }
      }
      return { writes, unknown: [] }
    },
    written() {},
    attach() {},
  }
}
