import { type Change, Refusal } from '@gantry/contracts'
import { beginContext, currentContext, inOwnContext, inSpan } from '@gantry/tracing'
import type { AggregateProjection, Before } from './aggregate-projection.ts'
import type { CommandMetadata, Decider, DomainCommand } from './decider.ts'
import type { DomainEvent, EventMetadata, Fact, JsonObject } from './event.ts'
import { type EventStore, WrongExpectedRevision } from './event-store.ts'
import type { StreamState } from './fold.ts'
import { nameUuids } from './name-uuid.ts'
import { Tries } from './retry-policy.ts'
import { upcast, writtenVersion } from './schema.ts'
import type { Snapshots } from './snapshots.ts'
import type { StreamCache } from './stream-cache.ts'
import { streamName } from './stream-name.ts'

export interface Executed<State, Event> extends StreamState<State> {
  /** What the command appended; empty when nothing changed. */
  events: Event[]
  /** The same with ids, revisions and metadata. */
  facts: Fact[]
}

export interface CommandHandlerOptions<State, Command extends DomainCommand, Event extends DomainEvent> {
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
export class CommandHandler<State, Command extends DomainCommand, Event extends DomainEvent> {
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
    for (;;) {
      const readAt = performance.now()
      const earlier = tries.mayHaveAppended ? await this.#earlierTry(id, command) : undefined
      if (earlier && earlier.facts.length > 0) {
        const { facts, before, events, ...state } = earlier
        await projection?.show(id, { before, state, appended: facts, readAt })
        return { ...state, events, facts }
      }
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
        if (error instanceof WrongExpectedRevision) cache.forget(id)
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
   * The state as read now, and the events that an earlier try of this command appended without being acknowledged;
   * none when no earlier try did.
   */
  async #earlierTry(id: string, { metadata }: Command): Promise<Executed<State, Event> & { before: Before }> {
    const { cache, category } = this.#options
    const stream = streamName(category, id)
    const recorded = await cache.read(id)
    const state = cache.keep(id, cache.fold(cache.empty, recorded))
    const first = recorded.findIndex(event => event.id === eventId(stream, metadata, 0))
    if (first === -1) return { ...state, before: state, events: [], facts: [] }
    const own = recorded.slice(first).filter((event, index) => event.id === eventId(stream, metadata, index))
    return {
      ...state,
      before: recorded[first - 1] ?? cache.empty,
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
