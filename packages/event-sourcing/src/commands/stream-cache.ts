import { LRUCache } from 'lru-cache'
import { type DomainEvent, type RecordedEvent, streamName } from '../log/event.ts'
import { type EventStore, NO_STREAM } from '../log/event-store.ts'
import { folding, type StreamState } from '../log/fold.ts'
import type { Snapshots } from '../log/snapshots.ts'
import type { Decider, DomainCommand } from './decider.ts'

export interface StreamCacheOptions<State, Command extends DomainCommand, Event extends DomainEvent> {
  eventStore: EventStore
  category: string
  decider: Decider<State, Command, Event>
  /** The snapshots in the event store. */
  snapshots?: Snapshots<State> | undefined
  /** Maximum number of cached states; fewer large states fit, see `size` of the decider. */
  cacheSize: number
  unknownEvent(event: RecordedEvent): void
}

/** The size of a cached state, in parts (see `size` of the decider), if it has no more. */
const PARTS_OF_STATE = 10

/** The states of the streams of a category. A state in the cache may be older than its stream; `load` reads the rest. */
export class StreamCache<State, Command extends DomainCommand, Event extends DomainEvent> {
  /** The state of a stream that does not exist. */
  readonly empty: StreamState<State>
  /** Folds the events after a state. @throws StreamQuarantined */
  readonly fold: (state: StreamState<State>, events: readonly RecordedEvent[]) => StreamState<State>
  readonly #options: StreamCacheOptions<State, Command, Event>
  readonly #states: LRUCache<string, StreamState<State>>

  constructor(options: StreamCacheOptions<State, Command, Event>) {
    const { decider, cacheSize } = options
    const parts = cacheSize * PARTS_OF_STATE
    this.#options = options
    this.empty = { state: decider.initial, revision: NO_STREAM }
    this.fold = folding(decider, options.unknownEvent)
    this.#states = new LRUCache({
      // Without `max`, see atMost. A state that is larger than the cache is the only one in it.
      maxSize: parts,
      sizeCalculation: ({ state }) => Math.min(Math.max(decider.size?.(state) ?? 1, PARTS_OF_STATE), parts),
    })
  }

  /** Number of cached states. */
  get size(): number {
    return this.#states.size
  }

  get(id: string): StreamState<State> | undefined {
    return this.#states.get(id)
  }

  /** Caches a state, unless a later one is cached. @returns the given state */
  keep(id: string, state: StreamState<State>): StreamState<State> {
    const cached = this.#states.get(id)
    if (!cached || cached.revision < state.revision) this.#states.set(id, state)
    return state
  }

  forget(id: string): void {
    this.#states.delete(id)
  }

  /** Events of a stream from a revision on. */
  read(id: string, from = 0): Promise<RecordedEvent[]> {
    return this.#options.eventStore.readStream(streamName(this.#options.category, id), from)
  }

  /** The state as the log has it now. @throws StreamQuarantined */
  async load(id: string): Promise<StreamState<State>> {
    const { snapshots } = this.#options
    const cached = this.get(id)
    const stored = cached ? undefined : await snapshots?.load(id)
    const known = cached ?? stored?.state ?? this.empty
    const later = stored?.later ?? (await this.read(id, known.revision + 1))
    const loaded = this.fold(known, later)
    snapshots?.offer(id, loaded)
    return this.keep(id, loaded)
  }
}
