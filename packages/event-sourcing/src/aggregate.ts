import { setTimeout } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Decider, type DomainCommand, Refusal } from './decider.ts'
import type { DomainEvent, Fact, JsonObject, RecordedEvent } from './event.ts'
import { type EventStore, EventStoreUnavailable, NO_STREAM, WrongExpectedRevision } from './event-store.ts'
import { folding, type Snapshot } from './fold.ts'
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

export interface Executed<State, Event> extends Snapshot<State> {
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
  /** What readers see of the state. It is written before a command is answered: the fast path of read-your-writes. */
  view?: AggregateProjectionOptions<State, Event>['view']
  /** Secures what the events need, e.g. a name, before they are appended at `snapshot.revision`; may refuse. */
  reserve?(id: string, snapshot: Snapshot<State>, events: Event[], command: Command): Promise<void>
  /** Folded states kept, by count; of large ones fewer, see `size` of the decider. */
  cacheSize?: number
  /** Lets the states of long streams be kept in the event store; left out where streams are short. */
  snapshots?: SnapshotOptions<State>
  /** Is told of every event that is folded and not known to this release, e.g. to count it. */
  unknownEvent?(event: RecordedEvent): void
}

export interface Aggregate<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly category: string
  /** For the projector of the service. */
  readonly projection: Projection
  /** The state as the log has it now. @throws StreamQuarantined */
  load(id: string): Promise<Snapshot<State>>
  /**
   * Folds one recorded event in log order, reading the stream where earlier ones were not seen. Of a stream that was
   * removed meanwhile that gives the initial state.
   * @throws StreamQuarantined
   */
  follow(event: RecordedEvent): Promise<Snapshot<State>>
  /**
   * Decides on the current state, appends what was decided, projects it, and returns the state after it.
   * Conflicts with other writers are decided again on the newer state.
   * @throws Refusal when the decider refuses on a state that was fresh
   * @throws StreamQuarantined when the stream has an event that cannot be folded
   * @throws EventStoreUnavailable when the store stayed away; the command may have happened
   */
  execute(id: string, command: Command): Promise<Executed<State, Event>>
  /** Erases the stream, unless it went on from that revision. @returns whether it is gone */
  remove(id: string, revision: number): Promise<boolean>
}

const CACHE_SIZE = 10_000
/** How large the states of the cache are on average at most, in parts. */
const PARTS_OF_STATE = 10
/** States that a rebuild keeps beside the cache, by count. */
const REBUILDING = 200
const TRIES_ON_CONFLICT = 20
const TRIES_WHEN_UNAVAILABLE = 3
/** Another process repeats a command after a longer time only; see the idempotency of requests in service-kit. */
const OTHER_TRY_AFTER_MS = 1_000
const eventUuid = nameUuids('6f1b7a0e-6f0c-4b0f-9a55-0c8f3c2b7f11')

/** The id of the n-th event that a command appends to a stream: for every try the same. */
const eventId = (stream: string, command: DomainCommand, index: number) =>
  eventUuid(`${stream}/${command.metadata.commandId}/${index}`)

export function aggregate<State, Command extends DomainCommand, Event extends DomainEvent>(
  options: AggregateOptions<State, Command, Event>,
): Aggregate<State, Command, Event> {
  const { eventStore, category, decider } = options
  const cacheSize = options.cacheSize ?? CACHE_SIZE
  const cacheOf = (size: number, parts = size * PARTS_OF_STATE) =>
    new LRUCache<string, Snapshot<State>>({
      max: size,
      maxSize: parts,
      // One that is larger than the cache has it to itself.
      sizeCalculation: ({ state }) => Math.min(decider.size?.(state) ?? 1, parts),
    })
  const cache = cacheOf(cacheSize)
  /** States that a rebuild folds. It folds every stream, so they are kept apart from the states that commands need. */
  const rebuilding = cacheOf(Math.min(cacheSize, REBUILDING))
  const empty: Snapshot<State> = { state: decider.initial, revision: NO_STREAM }
  const fold = folding(decider, event => options.unknownEvent?.(event))
  const snapshots =
    options.snapshots &&
    snapshotsOf({ eventStore, category, schemas: decider.events, cacheSize, ...options.snapshots })

  const keep = (id: string, snapshot: Snapshot<State>) => {
    const cached = cache.get(id)
    if (!cached || cached.revision < snapshot.revision) cache.set(id, snapshot)
    return snapshot
  }

  const load = async (id: string): Promise<Snapshot<State>> => {
    const cached = cache.get(id)
    const stored = cached ? undefined : await snapshots?.load(id)
    const known = cached ?? stored?.kept ?? empty
    const later = stored?.later ?? (await eventStore.readStream(streamName(category, id), known.revision + 1))
    const loaded = fold(known, later)
    snapshots?.offer(id, loaded)
    return keep(id, loaded)
  }

  const follow = async (event: RecordedEvent, again = false): Promise<Snapshot<State>> => {
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
   * The state as it was read just now, and what an earlier try of this command appended to it, when that got through
   * without being acknowledged: no events when it did not.
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
   * What the stream has after a state, which may be of another try of the same command: the store answers an append like
   * that of an earlier try even if its data differ, e.g. in the time. Undefined once the stream was removed.
   */
  const asStored = async (id: string, base: Snapshot<State>, count: number) => {
    const facts = (await eventStore.readStream(streamName(category, id), base.revision + 1)).slice(0, count)
    return facts.length === count ? { facts, after: fold(base, facts) } : undefined
  }

  /** Decides on a state and secures what that needs. */
  const decideOn = async (id: string, command: Command, snapshot: Snapshot<State>) => {
    const events = decider.decide(snapshot.state, command)
    if (events.length > 0) await options.reserve?.(id, snapshot, events, command)
    return { snapshot, events }
  }

  /** On a state that was just read: a refusal, or nothing to do, is final. */
  const decideOnFresh = async (id: string, command: Command, snapshot: Snapshot<State>, readAt: number) => {
    try {
      const decided = await decideOn(id, command, snapshot)
      if (decided.events.length === 0) await projection.showAll(id, snapshot, readAt)
      return decided
    } catch (error) {
      if (error instanceof Refusal) await projection.showAll(id, snapshot, readAt)
      throw error
    }
  }

  /** On what is known; what is not known is most likely new. If that was wrong, it shows when it is appended. */
  const decideOnKnown = async (id: string, command: Command) => {
    // A refusal, or nothing to do, is believed on fresh state only: another replica may have written.
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
      // What did not happen by that revision is appended after that revision or not at all.
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
        // Only an append of another try of this command is answered like this one, and tries are far apart.
        const isOwn = !mayHaveHappened && performance.now() - startedAt < OTHER_TRY_AFTER_MS
        // A stream that was removed may go on after its last revision instead of at 0.
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

  const prepare = (id: string, snapshot: Snapshot<State>, events: Event[], command: Command) => {
    const { now, actor, requestId, traceparent, causationId } = command.metadata
    const stream = streamName(category, id)
    let state = snapshot.state
    const facts = events.map((event, index): Fact => {
      const before = state
      state = decider.evolve(state, event, snapshot.revision + 1 + index)
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
