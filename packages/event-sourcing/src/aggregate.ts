import { AggregateProjection, type View } from './aggregate-projection.ts'
import { CommandHandler, type Executed } from './command-handler.ts'
import type { Decider, DomainCommand } from './decider.ts'
import type { DomainEvent, RecordedEvent } from './event.ts'
import { type EventStore, WrongExpectedRevision } from './event-store.ts'
import type { StreamState } from './fold.ts'
import { type SnapshotOptions, snapshotsOf } from './snapshots.ts'
import { StreamCache } from './stream-cache.ts'
import { streamName } from './stream-name.ts'

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
