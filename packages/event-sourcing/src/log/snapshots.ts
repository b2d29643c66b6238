import type { Json } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import {
  type DomainEvent,
  type EventSchemas,
  knowsSchema,
  type RecordedEvent,
  streamName,
  writtenVersion,
} from './event.ts'
import { type EventStore, EventStoreUnavailable, type StoredSnapshot } from './event-store.ts'
import type { StreamState } from './fold.ts'

/**
 * Options of an LRUCache for a number of entries. With `max`, it would allocate memory for all of them when it is made: 640 KB
 * for 10,000.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })

/** The encoding of the states of a category in snapshots. */
export interface SnapshotSchema<State> {
  /**
   * Must be raised with every change of the content of a state, of its encoding, or of the result of folding an event.
   * Snapshots of other versions are ignored. The tests of frozen streams fail when a change is missing.
   */
  version: number
  encode(state: State): Json
  /** If it throws, the stream is read from its first event. */
  decode(encoded: Json): State
}

export interface SnapshotOptions<State> {
  schema: SnapshotSchema<State>
  /** Minimum number of events between two snapshots of a stream. Default: 500. */
  every?: number | undefined
}

export interface Snapshots<State> {
  /** The state in the snapshot of a stream, and the events after it; undefined when there is no valid snapshot. */
  load(id: string): Promise<{ state: StreamState<State>; later: RecordedEvent[] } | undefined>
  /**
   * Saves a snapshot of the state if enough events have been folded since the last one. It is saved in the background. After
   * a failure loads take longer, and the next try is made after `every` events.
   */
  offer(id: string, state: StreamState<State>): void
}

const EVERY = 500
/**
 * Maximum characters of a snapshot per event since the previous snapshot; about the size of an event. So the cost of
 * snapshots per event is constant, even for a state that grows with its stream.
 */
const CHARACTERS_PER_EVENT = 1_000

/** The text that is stored. */
interface Content {
  /**
   * The event types that the writer knew (`type@version`). A release that does not know one of them must not use the state,
   * because it has to detect unknown events in the stream.
   */
  events: string[]
  state: Json
}

export function snapshotsOf<State, Event extends DomainEvent>({
  eventStore,
  category,
  schemas,
  cacheSize,
  schema,
  every = EVERY,
}: SnapshotOptions<State> & {
  eventStore: EventStore
  category: string
  schemas: EventSchemas<Event>
  /** Maximum number of streams for which the revision of the next snapshot is kept in memory. */
  cacheSize: number
}): Snapshots<State> {
  const types = Object.keys(schemas) as Event['type'][]
  const known = types.map(type => `${type}@${writtenVersion(schemas, type)}`)
  /** By stream id: the revision from which the next snapshot is due. */
  const due = new LRUCache<string, number>(atMost(cacheSize))
  const dueAfter = (revision: number, text: string) =>
    revision + Math.max(every, Math.ceil(text.length / CHARACTERS_PER_EVENT))

  const decoded = ({ schemaVersion, state: text }: StoredSnapshot): { state: State } | undefined => {
    if (schemaVersion !== schema.version) return undefined
    try {
      const { events, state } = JSON.parse(text) as Content
      return events.every(name => knowsSchema(schemas, name)) ? { state: schema.decode(state) } : undefined
    } catch {
      return undefined
    }
  }

  const load: Snapshots<State>['load'] = async id => {
    const stream = streamName(category, id)
    const stored = await eventStore.readSnapshot(stream).catch(ignored)
    const state = stored && decoded(stored)
    if (!state) return undefined
    const { revision, position } = stored
    // The event at the snapshot's revision and position proves that the snapshot is not of a removed stream of that name.
    const [last, ...later] = await eventStore.readStream(stream, revision)
    if (last?.revision !== revision || last.position !== position) return undefined
    due.set(id, dueAfter(revision, stored.state))
    return { state: { ...state, revision, position }, later }
  }

  const save = async (
    id: string,
    { state, ...at }: StreamState<State> & Pick<StoredSnapshot, 'position'>,
  ) => {
    const content: Content = { events: known, state: schema.encode(state) }
    const text = JSON.stringify(content)
    due.set(id, dueAfter(at.revision, text))
    const { revision, position } = at
    await eventStore.saveSnapshot(streamName(category, id), {
      schemaVersion: schema.version,
      revision,
      position,
      state: text,
    })
  }

  const offer: Snapshots<State>['offer'] = (id, { state, revision, position, unknown }) => {
    if (unknown || position === undefined || revision < (due.get(id) ?? every - 1)) return
    due.set(id, revision + every)
    // Runs after the current command has been answered.
    setImmediate(() => save(id, { state, revision, position }).catch(() => {}))
  }

  return { load, offer }
}

/** Ignores failures that concern snapshots only. An unavailable store is rethrown: it cannot return the events either. */
function ignored(error: unknown): undefined {
  if (error instanceof EventStoreUnavailable) throw error
}
