import { LRUCache } from 'lru-cache'
import type { DomainEvent, Json, RecordedEvent } from './event.ts'
import { type EventStore, EventStoreUnavailable, type StoredSnapshot } from './event-store.ts'
import type { Snapshot } from './fold.ts'
import { type EventSchemas, knowsSchema, writtenVersion } from './schema.ts'
import { streamName } from './stream-name.ts'

/** How the states of a category are kept beside its streams. */
export interface SnapshotSchema<State> {
  /**
   * Raised with every change of what a state holds, of how it is encoded, or of what folding makes of an event: a
   * snapshot of another version is ignored. The frozen streams of the category tell when that is due.
   */
  version: number
  encode(state: State): Json
  /** May throw; the stream is then read from its start. */
  decode(encoded: Json): State
}

export interface SnapshotOptions<State> {
  schema: SnapshotSchema<State>
  /** Events from one snapshot of a stream to the next, at least. */
  every?: number | undefined
}

export interface Snapshots<State> {
  /** The state that is kept of a stream, and the events after it; undefined when the stream has to be read whole. */
  load(id: string): Promise<{ kept: Snapshot<State>; later: RecordedEvent[] } | undefined>
  /**
   * Keeps the state when so many events have been folded since the last snapshot that it is due. That happens in the
   * background; a failure costs nothing but a longer load, and the next try is made after as many events again.
   */
  offer(id: string, snapshot: Snapshot<State>): void
}

const EVERY = 500
/**
 * Characters of a snapshot for each event since the one before, at most: about the size of an event. A state that grows
 * with its stream is thus written again as often as costs a constant for each event.
 */
const CHARACTERS_PER_EVENT = 1_000

/** The text that is stored. */
interface Content {
  /**
   * The event types that the writer knew (`type@version`). A release that lacks one of them must not take the state: it
   * has to find out that the stream has events that are unknown to it.
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
  /** Of the decider. */
  schemas: EventSchemas<Event>
  /** Streams whose next snapshot is remembered, by count. */
  cacheSize: number
}): Snapshots<State> {
  const types = Object.keys(schemas) as Event['type'][]
  const known = types.map(type => `${type}@${writtenVersion(schemas, type)}`)
  /** Revision from which on a stream has its next snapshot. */
  const due = new LRUCache<string, number>({ max: cacheSize })
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
    // The last event that the state has proves that it is of this stream, and not of one that was removed.
    const [last, ...later] = await eventStore.readStream(stream, revision)
    if (last?.revision !== revision || last.position !== position) return undefined
    due.set(id, dueAfter(revision, stored.state))
    return { kept: { ...state, revision, position }, later }
  }

  const save = async (id: string, { state, ...at }: Snapshot<State> & Pick<StoredSnapshot, 'position'>) => {
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
    // After the answer to the command that is under way.
    setImmediate(() => save(id, { state, revision, position }).catch(() => {}))
  }

  return { load, offer }
}

/** A store that is away is so for the events too; any other failure is one of the snapshots alone. */
function ignored(error: unknown): undefined {
  if (error instanceof EventStoreUnavailable) throw error
}
