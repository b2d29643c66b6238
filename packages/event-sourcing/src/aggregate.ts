import { setTimeout } from 'node:timers/promises'
import { Refusal } from '@gantry/contracts'
import { LRUCache } from 'lru-cache'
import type { Decider, DomainCommand } from './decider.ts'
import type { DomainEvent, Fact, JsonObject, RecordedEvent } from './event.ts'
import { type EventStore, EventStoreUnavailable, NO_STREAM, WrongExpectedRevision } from './event-store.ts'
import { folding, type StreamState } from './fold.ts'
import { nameUuids } from './name-uuid.ts'
import {
  type AggregateProjectionOptions,
  aggregateProjection,
  type Before,
  type Projection,
} from './projection.ts'
import { upcast, writtenVersion } from './schema.ts'
import { type SnapshotOptions, snapshotsOf } from './snapshots.ts'
import { streamId, streamName } from './stream-name.ts'

export interface Executed<State, Event> extends StreamState<State> {
  /** What the command appended; empty when nothing changed. */
  events: Event[]
  /** The same with ids, revisions and metadata. */
  facts: Fact[]
}

export interface AggregateOptions<State, Command extends DomainCommand, Event extends DomainEvent> {
  eventStore: EventStore
  /** Streams are named `{category}-{id}`; a category has no dash. */
  category: string
  decider: Decider<State, Command, Event>
  /** Documents of the state. They are written before a command is answered, so that its caller reads its own writes. */
  view?: AggregateProjectionOptions<State, Event>['view']
  /** Reserves what the events need, e.g. a name, before they are appended at `snapshot.revision`. @throws Refusal */
  reserve?(id: string, snapshot: StreamState<State>, events: Event[], command: Command): Promise<void>
  /** Maximum number of cached states; fewer large states fit, see `size` of the decider. */
  cacheSize?: number
  /** Stores snapshots of long streams in the event store; left out where streams are short. */
  snapshots?: SnapshotOptions<State>
  /** Called for every folded event whose type or schema version this release does not know, e.g. to count it. */
  unknownEvent?(event: RecordedEvent): void
}

export interface Aggregate<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly category: string
  /** To be run by the projector of the service. */
  readonly projection: Projection
  /** The state as the log has it now. @throws StreamQuarantined */
  load(id: string): Promise<StreamState<State>>
  /**
   * Folds one recorded event in log order. Reads the stream when this process has not folded the events before it.
   * A stream that was removed since gives the initial state.
   * @throws StreamQuarantined
   */
  follow(event: RecordedEvent): Promise<StreamState<State>>
  /**
   * Decides on the current state, appends the events, projects them, and returns the state after them.
   * After a conflict with another writer the command is decided again on the newer state.
   * @throws Refusal when the decider refuses on the state as the log has it
   * @throws StreamQuarantined when the stream has an event that cannot be folded
   * @throws EventStoreUnavailable when the store did not answer; the events may have been appended
   */
  execute(id: string, command: Command): Promise<Executed<State, Event>>
  /** Removes the stream, unless it has events after that revision. @returns whether it was removed */
  remove(id: string, revision: number): Promise<boolean>
}

const CACHE_SIZE = 10_000
/** Maximum average size of the cached states, in parts (see `size` of the decider). */
const PARTS_OF_STATE = 10
/** Maximum number of states that a rebuild keeps beside the cache. */
const REBUILDING = 200
const TRIES_ON_CONFLICT = 20
const TRIES_WHEN_UNAVAILABLE = 3
/** Another process repeats a command only after a longer time; see the idempotency of requests in service-kit. */
const OTHER_TRY_AFTER_MS = 1_000
const eventUuid = nameUuids('6f1b7a0e-6f0c-4b0f-9a55-0c8f3c2b7f11')

/** The id of the n-th event that a command appends to a stream. It is the same in every try. */
const eventId = (stream: string, command: DomainCommand, index: number) =>
  eventUuid(`${stream}/${command.metadata.commandId}/${index}`)

export function aggregate<State, Command extends DomainCommand, Event extends DomainEvent>(
  options: AggregateOptions<State, Command, Event>,
): Aggregate<State, Command, Event> {
  const { eventStore, category, decider } = options
  const cacheSize = options.cacheSize ?? CACHE_SIZE
  const cacheOf = (size: number, parts = size * PARTS_OF_STATE) =>
    new LRUCache<string, StreamState<State>>({
      max: size,
      maxSize: parts,
      // A state that is larger than the cache is the only one in it.
      sizeCalculation: ({ state }) => Math.min(decider.size?.(state) ?? 1, parts),
    })
  const cache = cacheOf(cacheSize)
  /** States that a rebuild folds. It folds every stream, so they are kept apart from the states that commands need. */
  const rebuilding = cacheOf(Math.min(cacheSize, REBUILDING))
  const empty: StreamState<State> = { state: decider.initial, revision: NO_STREAM }
  const fold = folding(decider, event => options.unknownEvent?.(event))
  const snapshots =
    options.snapshots &&
    snapshotsOf({ eventStore, category, schemas: decider.events, cacheSize, ...options.snapshots })

  const keep = (id: string, snapshot: StreamState<State>) => {
    const cached = cache.get(id)
    if (!cached || cached.revision < snapshot.revision) cache.set(id, snapshot)
    return snapshot
  }

  const load = async (id: string): Promise<StreamState<State>> => {
    const cached = cache.get(id)
    const stored = cached ? undefined : await snapshots?.load(id)
    const known = cached ?? stored?.kept ?? empty
    const later = stored?.later ?? (await eventStore.readStream(streamName(category, id), known.revision + 1))
    const loaded = fold(known, later)
    snapshots?.offer(id, loaded)
    return keep(id, loaded)
  }

  const follow = async (event: RecordedEvent, again = false): Promise<StreamState<State>> => {
    const id = streamId(event.stream)
    const cached = cache.get(id)
    const known = cached ?? (again ? rebuilding.get(id) : undefined) ?? empty
    if (known.revision >= event.revision) return known
    if (known.revision === event.revision - 1) {
      const folded = fold(known, [event])
      if (cached || !again || cache.size < rebuilding.max) return keep(id, folded)
      rebuilding.set(id, folded)
      return folded
    }
    const loaded = await load(id)
    if (loaded.revision >= event.revision) return loaded
    cache.delete(id)
    return { ...empty, revision: event.revision }
  }

  const projection = aggregateProjection<State, Event>({
    category,
    view: options.view,
    schemas: decider.events,
    follow,
    load,
    read: (id, from) => eventStore.readStream(streamName(category, id), from),
    cacheSize,
  })

  /**
   * The state as read now, and the events that an earlier try of this command appended without being acknowledged;
   * none when no earlier try did.
   */
  const earlierTry = async (
    id: string,
    command: Command,
  ): Promise<Executed<State, Event> & { before: Before }> => {
    const stream = streamName(category, id)
    const recorded = await eventStore.readStream(stream)
    const snapshot = keep(id, fold(empty, recorded))
    const first = recorded.findIndex(event => event.id === eventId(stream, command, 0))
    if (first === -1) return { ...snapshot, before: snapshot, events: [], facts: [] }
    const mine = recorded.slice(first).filter((event, index) => event.id === eventId(stream, command, index))
    const before = recorded[first - 1] ?? empty
    return { ...snapshot, before, events: eventsOf(mine), facts: mine }
  }

  const eventsOf = (facts: readonly Fact[]) => facts.flatMap(fact => upcast(decider.events, fact) ?? [])

  /**
   * The events of the stream after a state. They may come from another try of the same command, because the store answers
   * an append like that of an earlier try even if the data differ, e.g. in the time. Undefined once the stream was removed.
   */
  const asStored = async (id: string, base: StreamState<State>, count: number) => {
    const facts = (await eventStore.readStream(streamName(category, id), base.revision + 1)).slice(0, count)
    return facts.length === count ? { facts, after: fold(base, facts) } : undefined
  }

  /** Decides on a state and reserves what the events need. */
  const decideOn = async (id: string, command: Command, snapshot: StreamState<State>) => {
    const events = decider.decide(snapshot.state, command)
    if (events.length > 0) await options.reserve?.(id, snapshot, events, command)
    return { snapshot, events }
  }

  /** Decides on a state that was just read: a refusal, or a decision without events, is final. */
  const decideOnFresh = async (
    id: string,
    command: Command,
    snapshot: StreamState<State>,
    readAt: number,
  ) => {
    try {
      const decided = await decideOn(id, command, snapshot)
      if (decided.events.length === 0) await projection.showAll(id, snapshot, readAt)
      return decided
    } catch (error) {
      if (error instanceof Refusal) await projection.showAll(id, snapshot, readAt)
      throw error
    }
  }

  /** Decides on the cached state, or on the initial state. If the stream has more events, the append conflicts. */
  const decideOnKnown = async (id: string, command: Command) => {
    // A refusal, or a decision without events, counts on fresh state only: another replica may have written.
    try {
      const decided = await decideOn(id, command, cache.get(id) ?? empty)
      if (decided.events.length > 0) return decided
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
    const readAt = performance.now()
    return decideOnFresh(id, command, await load(id), readAt)
  }

  const execute = async (id: string, command: Command): Promise<Executed<State, Event>> => {
    const startedAt = performance.now()
    let mayHaveHappened = command.metadata.repeated === true
    let knownIsOld = false
    for (let attempt = 1; ; attempt++) {
      const readAt = performance.now()
      const earlier = mayHaveHappened ? await earlierTry(id, command) : undefined
      if (earlier && earlier.facts.length > 0) {
        const { facts, before, ...snapshot } = earlier
        await projection.show(id, { before, snapshot, appended: facts, readAt })
        return { ...snapshot, facts }
      }
      // Events that are not in the stream by that revision are appended after it or not at all.
      const fresh = earlier ?? (knownIsOld ? await load(id) : undefined)
      const { snapshot, events } = fresh
        ? await decideOnFresh(id, command, fresh, readAt)
        : await decideOnKnown(id, command)
      if (events.length === 0) return { ...snapshot, events, facts: [] }
      const prepared = prepare(id, snapshot, events, command)
      const appendedAt = performance.now()
      try {
        const { revision, position } = await eventStore.append(
          streamName(category, id),
          prepared.facts,
          snapshot.revision,
        )
        const base = { ...snapshot, revision: revision - events.length }
        // Only the append of another try of this command gets the same answer, and tries are far apart in time.
        const isOwn = !mayHaveHappened && performance.now() - startedAt < OTHER_TRY_AFTER_MS
        // A removed stream may continue after its last revision instead of at 0.
        const made = base.revision === snapshot.revision ? prepared : prepare(id, base, events, command)
        const stored = isOwn ? made : ((await asStored(id, base, events.length)) ?? made)
        const after = { ...stored.after, position }
        keep(id, after)
        const shown = { before: snapshot, snapshot: after, appended: stored.facts, readAt: appendedAt }
        await projection.show(id, shown)
        snapshots?.offer(id, after)
        return { ...after, events: eventsOf(stored.facts), facts: stored.facts }
      } catch (error) {
        if (error instanceof EventStoreUnavailable && attempt < TRIES_WHEN_UNAVAILABLE) {
          mayHaveHappened = true
          await setTimeout(100 * attempt)
        } else if (error instanceof WrongExpectedRevision && attempt < TRIES_ON_CONFLICT) {
          cache.delete(id)
          knownIsOld = true
        } else throw error
      }
    }
  }

  const prepare = (id: string, snapshot: StreamState<State>, events: Event[], command: Command) => {
    const { now, actor, requestId, traceparent, causationId } = command.metadata
    const stream = streamName(category, id)
    let state = snapshot.state
    const facts = events.map((event, index): Fact => {
      const before = state
      state = decider.evolve(state, event, snapshot.revision + 1 + index, actor)
      const change = decider.describe?.(before, event, state)
      const schemaVersion = writtenVersion(decider.events, event.type)
      return {
        id: eventId(stream, command, index),
        type: event.type,
        stream,
        revision: snapshot.revision + 1 + index,
        data: event.data as JsonObject,
        metadata: {
          actor,
          requestId,
          at: now,
          ...(traceparent && { traceparent }),
          ...(causationId && { causationId }),
          ...(change && { change }),
          ...(schemaVersion > 1 && { schemaVersion }),
        },
      }
    })
    return { facts, after: { ...snapshot, state, revision: snapshot.revision + events.length } }
  }

  const remove = async (id: string, revision: number): Promise<boolean> => {
    try {
      await eventStore.remove(streamName(category, id), revision)
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return false
      throw error
    }
    cache.delete(id)
    rebuilding.delete(id)
    projection.forget(id)
    return true
  }

  return { category, projection, load, follow, execute, remove }
}
