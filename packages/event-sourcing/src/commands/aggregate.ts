import { setTimeout } from 'node:timers/promises'
import { type Change, Refusal } from '@gantry/contracts'
import { beginContext, currentContext, inOwnContext, inSpan } from '@gantry/tracing'
import {
  type DomainEvent,
  type EventMetadata,
  type Fact,
  type JsonObject,
  nameUuids,
  type RecordedEvent,
  streamName,
  upcast,
  writtenVersion,
} from '../log/event.ts'
import { type EventStore, EventStoreUnavailable, WrongExpectedRevision } from '../log/event-store.ts'
import type { StreamState } from '../log/fold.ts'
import { type SnapshotOptions, type Snapshots, snapshotsOf } from '../log/snapshots.ts'
import { AggregateProjection, type Before, type View } from './aggregate-projection.ts'
import type { CommandMetadata, Decider, DomainCommand } from './decider.ts'
import { StreamCache } from './stream-cache.ts'

const TRIES_ON_CONFLICT = 20
const TRIES_WHEN_UNAVAILABLE = 3
/** Another process repeats a command only after a longer time; see the idempotency of requests in service-runtime. */
const OTHER_TRY_AFTER_MS = 1_000

/**
 * The tries of one command. Decides after which failures there is another try, and what that try has to check first.
 */
class Tries {
  readonly #startedAt = performance.now()
  #count = 1
  #mayHaveAppended: boolean
  #mayStillAppend: boolean
  #conflicted = false

  constructor({ repeated = false }: CommandMetadata) {
    this.#mayHaveAppended = repeated !== false
    this.#mayStillAppend = repeated === true
  }

  /** Whether an earlier try may have appended the events of the command without being acknowledged. */
  get mayHaveAppended(): boolean {
    return this.#mayHaveAppended
  }

  /** To be called when the events of an earlier try are not in the log. */
  notFound(): void {
    this.#mayHaveAppended = this.#mayStillAppend
  }

  /** Whether the stream had more events than the cached state when an earlier try appended. */
  get conflicted(): boolean {
    return this.#conflicted
  }

  /** Whether an acknowledged append is certainly that of this try. Another process would try the command only later. */
  get isOnlyTry(): boolean {
    return !this.#mayHaveAppended && performance.now() - this.#startedAt < OTHER_TRY_AFTER_MS
  }

  /**
   * Waits until the command may be tried again after a failed append.
   * @throws the error itself when the command is not tried again
   */
  async next(error: unknown): Promise<void> {
    if (error instanceof EventStoreUnavailable && this.#count < TRIES_WHEN_UNAVAILABLE) {
      this.#mayHaveAppended = true
      this.#mayStillAppend = true
      await setTimeout(100 * this.#count)
    } else if (error instanceof WrongExpectedRevision && this.#count < TRIES_ON_CONFLICT) {
      this.#conflicted = true
    } else throw error
    this.#count++
  }
}

export interface Executed<State, Event> extends StreamState<State> {
  /** What the command appended; empty when nothing changed. */
  events: Event[]
  /** `events` with ids, revisions and metadata. */
  facts: Fact[]
}

interface CommandHandlerOptions<State, Command extends DomainCommand, Event extends DomainEvent> {
  eventStore: EventStore
  category: string
  decider: Decider<State, Command, Event>
  cache: StreamCache<State, Command, Event>
  /** The snapshots in the event store. */
  snapshots: Snapshots<State> | undefined
  projection: AggregateProjection<State, Command, Event> | undefined
  /** Reserves what the events need, e.g. a name, before they are appended after `base`. @throws Refusal */
  reserve?:
    | ((id: string, base: StreamState<State>, events: Event[], command: Command) => Promise<void>)
    | undefined
}

/** The events of a command and the state that they were decided on. */
interface Decision<State, Event> {
  base: StreamState<State>
  events: Event[]
}

const eventUuid = nameUuids('6f1b7a0e-6f0c-4b0f-9a55-0c8f3c2b7f11')

/** The id of the n-th event that a command appends to a stream. It is the same in every try. */
const eventId = (stream: string, { commandId }: CommandMetadata, index: number) =>
  eventUuid(`${stream}/${commandId}/${index}`)

/** The command with the trace of the current context, which its events record. */
function inTrace<Command extends DomainCommand>(command: Command): Command {
  const traceparent = currentContext()?.traceparent
  if (traceparent === undefined || traceparent === command.metadata.traceparent) return command
  return { ...command, metadata: { ...command.metadata, traceparent } }
}

/** Executes the commands of an aggregate: decides, appends, and projects before the command is answered. */
class CommandHandler<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly #options: CommandHandlerOptions<State, Command, Event>

  constructor(options: CommandHandlerOptions<State, Command, Event>) {
    this.#options = options
  }

  /** Executes a command in a span of the current trace; without one, e.g. in a worker, it begins a trace. */
  execute(id: string, command: Command): Promise<Executed<State, Event>> {
    const { type, metadata } = command
    const work = () => this.#execute(id, inTrace(command))
    const start = { name: `${type} ${this.#options.category}` }
    if (currentContext()) return inSpan(start, work)
    return inOwnContext(beginContext(metadata.requestId, metadata.traceparent, start), work)
  }

  async #execute(id: string, command: Command): Promise<Executed<State, Event>> {
    const { cache, projection } = this.#options
    const tries = new Tries(command.metadata)
    // An append that was not acknowledged is after this state or not in the log.
    let unacknowledged = cache.empty
    for (;;) {
      const readAt = performance.now()
      const earlier = tries.mayHaveAppended ? await this.#earlierTry(id, command, unacknowledged) : undefined
      if (earlier && earlier.facts.length > 0) {
        const { facts, before, events, ...state } = earlier
        await projection?.show(id, { before, state, appended: facts, readAt })
        return { ...state, events, facts }
      }
      if (earlier) tries.notFound()
      // Events that are not in the stream by that revision are appended after it or not at all.
      const fresh = earlier ?? (tries.conflicted ? await cache.load(id) : undefined)
      const decision = fresh
        ? await this.#decideOnFresh(id, command, fresh, readAt)
        : await this.#decideOnCached(id, command)
      if (decision.events.length === 0) return { ...decision.base, events: [], facts: [] }
      try {
        return await this.#append(id, command, decision, tries)
      } catch (error) {
        await tries.next(error)
        const isConflict = error instanceof WrongExpectedRevision
        unacknowledged = isConflict ? cache.empty : decision.base
        if (isConflict) cache.forget(id)
      }
    }
  }

  /** Decides on a state and reserves what the events need. */
  async #decideOn(id: string, command: Command, base: StreamState<State>): Promise<Decision<State, Event>> {
    const { decider, reserve } = this.#options
    const events = decider.decide(base.state, command)
    if (events.length > 0) await reserve?.(id, base, events, command)
    return { base, events }
  }

  /** Decides on a state that was just read: a refusal, or a decision without events, is final. */
  async #decideOnFresh(id: string, command: Command, base: StreamState<State>, readAt: number) {
    const { projection } = this.#options
    try {
      const decision = await this.#decideOn(id, command, base)
      if (decision.events.length === 0) await projection?.showAll(id, base, readAt)
      return decision
    } catch (error) {
      if (error instanceof Refusal) await projection?.showAll(id, base, readAt)
      throw error
    }
  }

  /** Decides on the cached state, or on the initial state. If the stream has more events, the append conflicts. */
  async #decideOnCached(id: string, command: Command) {
    const { cache } = this.#options
    // A refusal, or a decision without events, counts on fresh state only: another replica may have written.
    try {
      const decision = await this.#decideOn(id, command, cache.get(id) ?? cache.empty)
      if (decision.events.length > 0) return decision
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
    const readAt = performance.now()
    return this.#decideOnFresh(id, command, await cache.load(id), readAt)
  }

  async #append(
    id: string,
    command: Command,
    { base, events }: Decision<State, Event>,
    tries: Tries,
  ): Promise<Executed<State, Event>> {
    const { eventStore, category, cache, projection, snapshots } = this.#options
    const prepared = this.#prepare(id, base, events, command)
    const appendedAt = performance.now()
    const appended = await eventStore.append(streamName(category, id), prepared.facts, base.revision)
    const storedBase = { ...base, revision: appended.revision - events.length }
    const isOnlyTry = tries.isOnlyTry
    // A removed stream may continue after its last revision instead of at 0.
    const made =
      storedBase.revision === base.revision ? prepared : this.#prepare(id, storedBase, events, command)
    const stored = isOnlyTry ? made : ((await this.#asStored(id, storedBase, events.length)) ?? made)
    const state = cache.keep(id, { ...stored.after, position: appended.position })
    const shown = { before: base, state, appended: stored.facts, readAt: appendedAt }
    if (projection) await inSpan({ name: `project ${category}` }, () => projection.show(id, shown))
    snapshots?.offer(id, state)
    return { ...state, events: this.#eventsOf(stored.facts), facts: stored.facts }
  }

  /**
   * The state as read now, and the events that an earlier try of this command appended after `base` without being
   * acknowledged; none when no earlier try did.
   */
  async #earlierTry(
    id: string,
    { metadata }: Command,
    base: StreamState<State>,
  ): Promise<Executed<State, Event> & { before: Before }> {
    const { cache, category } = this.#options
    const stream = streamName(category, id)
    const recorded = await cache.read(id, base.revision + 1)
    const state = cache.keep(id, cache.fold(base, recorded))
    const first = recorded.findIndex(event => event.id === eventId(stream, metadata, 0))
    if (first === -1) return { ...state, before: state, events: [], facts: [] }
    const own = recorded.slice(first).filter((event, index) => event.id === eventId(stream, metadata, index))
    return {
      ...state,
      before: recorded[first - 1] ?? base,
      events: this.#eventsOf(own),
      facts: own,
    }
  }

  /**
   * The events of the stream after a state. They may come from another try of the same command, because the store answers
   * an append like that of an earlier try even if the data differ, e.g. in the time. Undefined once the stream was removed.
   */
  async #asStored(id: string, base: StreamState<State>, count: number) {
    const { cache } = this.#options
    const facts = (await cache.read(id, base.revision + 1)).slice(0, count)
    return facts.length === count ? { facts, after: cache.fold(base, facts) } : undefined
  }

  #eventsOf(facts: readonly Fact[]): Event[] {
    return facts.flatMap(fact => upcast(this.#options.decider.events, fact) ?? [])
  }

  /** The events as they are appended after a state, and the state after them. */
  #prepare(id: string, base: StreamState<State>, events: Event[], command: Command) {
    const { category, decider } = this.#options
    const { metadata } = command
    const stream = streamName(category, id)
    let { state } = base
    const facts = events.map((event, index): Fact => {
      const before = state
      const revision = base.revision + 1 + index
      state = decider.evolve(state, event, revision, metadata.actor)
      return {
        id: eventId(stream, metadata, index),
        type: event.type,
        stream,
        revision,
        data: event.data as JsonObject,
        metadata: this.#metadataOf(event, decider.describe?.(before, event, state, command), metadata),
      }
    })
    return { facts, after: { ...base, state, revision: base.revision + events.length } }
  }

  #metadataOf(
    event: Event,
    change: Change | null | undefined,
    { now, actor, requestId, traceparent, causationId }: CommandMetadata,
  ): EventMetadata {
    const { decider } = this.#options
    const schemaVersion = writtenVersion(decider.events, event.type)
    return {
      actor,
      requestId,
      at: now,
      ...(traceparent && { traceparent }),
      ...(causationId && { causationId }),
      ...(change && { change }),
      ...(schemaVersion > 1 && { schemaVersion }),
    }
  }
}

export interface AggregateOptions<State, Command extends DomainCommand, Event extends DomainEvent> {
  eventStore: EventStore
  /** Streams are named `{category}-{id}`; a category has no dash. */
  category: string
  decider: Decider<State, Command, Event>
  /** Documents of the state. They are written before a command is answered, so that its caller reads its own writes. */
  view?: View<State, Event>
  /** Reserves what the events need, e.g. a name, before they are appended after `base`. @throws Refusal */
  reserve?(id: string, base: StreamState<State>, events: Event[], command: Command): Promise<void>
  /** Maximum number of cached states; fewer large states fit, see `size` of the decider. */
  cacheSize?: number
  /** Stores snapshots of long streams in the event store; left out where streams are short. */
  snapshots?: SnapshotOptions<State>
  /** Called for every folded event whose type or schema version this release does not know, e.g. to count it. */
  unknownEvent?(event: RecordedEvent): void
}

export interface Aggregate<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly category: string
  /** The state as the log has it now. @throws StreamQuarantined */
  load(id: string): Promise<StreamState<State>>
  /**
   * The state as it was at a time (ISO 8601 UTC), after the events of that time. Reads the whole stream.
   * @throws StreamQuarantined
   */
  loadAt(id: string, time: string): Promise<StreamState<State>>
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

/** An aggregate with its documents. The projector of its view gets its projection. */
export function aggregate<State, Command extends DomainCommand, Event extends DomainEvent>(
  given: AggregateOptions<State, Command, Event>,
): Aggregate<State, Command, Event> {
  const { eventStore, category, decider, view, reserve, cacheSize = CACHE_SIZE } = given
  const unknownEvent = (event: RecordedEvent) => given.unknownEvent?.(event)
  const snapshots =
    given.snapshots &&
    snapshotsOf({ eventStore, category, schemas: decider.events, cacheSize, ...given.snapshots })
  const streams = { eventStore, category, decider, snapshots, cacheSize, unknownEvent }
  const cache = new StreamCache(streams)
  const projection = view && new AggregateProjection(view, streams, (id, state) => void cache.keep(id, state))
  const handler = new CommandHandler({ ...streams, cache, projection, reserve })

  return {
    category,
    load: id => cache.load(id),
    async loadAt(id, time) {
      const events = await cache.read(id)
      const later = events.findIndex(({ metadata }) => metadata.at > time)
      return cache.fold(cache.empty, later === -1 ? events : events.slice(0, later))
    },
    execute: (id, command) => handler.execute(id, command),
    async remove(id, revision) {
      try {
        await eventStore.remove(streamName(category, id), revision)
      } catch (error) {
        if (error instanceof WrongExpectedRevision) return false
        throw error
      }
      cache.forget(id)
      projection?.forget(id)
      return true
    },
  }
}
