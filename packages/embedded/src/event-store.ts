import {
  type Appended,
  AppendTooLarge,
  type EventStore,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
  type NewEvent,
  NO_STREAM,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import {
  categoryOf,
  decode,
  EventFile,
  type EventFileOptions,
  encode,
  toEvent,
} from './event-store/event-file.ts'
import { readAll, subscribe } from './event-store/replay.ts'
import type { CopyProgress } from './sqlite/copy.ts'

export interface EventStoreOptions extends EventFileOptions {
  /** Clock for `recordedAt`. Default: the system clock. */
  now?: () => Date
}

/** An event store whose file can be copied while it is used. */
export interface EventFileStore extends EventStore {
  /** Copies all events and snapshots into a new file, including appends that are made meanwhile. */
  copyTo(path: string, progress?: CopyProgress): Promise<void>
  /** Number of events. @throws EventStoreUnavailable */
  count(): Promise<number>
}

/**
 * An event store in a SQLite file. Several stores, also in several processes of one host, can use the same file unless one
 * is opened with `exclusive`. Appends of one turn of the event loop are committed together, on the calling thread.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function sqliteEventStore({ now = () => new Date(), ...options }: EventStoreOptions): EventFileStore {
  const file = new EventFile(options)
  const { statements, snapshots } = file

  const append = (stream: string, events: Serialized[], expected: ExpectedRevision): Appended => {
    const actual = Number(statements.lastRevision.get(stream)?.revision)
    if (actual !== expected) {
      const earlier = earlierAppend(file, stream, events, expected)
      if (earlier) return earlier
      throw new WrongExpectedRevision(stream, expected, actual)
    }
    const category = categoryOf(stream)
    const recordedAt = now().toISOString()
    let revision = expected
    let position = file.lastPosition()
    for (const { id, type, data, metadata } of events) {
      revision++
      position++
      statements.insert.run(position, stream, revision, category, id, type, data, metadata, recordedAt)
    }
    return { revision, position: encode(position) }
  }

  const remove = (stream: string, expected: ExpectedRevision) => {
    const actual = Number(statements.lastRevision.get(stream)?.revision)
    if (actual === NO_STREAM) return
    if (actual !== expected) throw new WrongExpectedRevision(stream, expected, actual)
    file.erase(stream)
  }

  return {
    system: 'sqlite',
    async append(stream, events, expected) {
      file.requireOpen()
      if (events.length === 0) throw new RangeError('an append needs at least one event')
      const serialized = serialize(stream, events)
      return file.commit(() => append(stream, serialized, expected))
    },
    async readStream(stream, from = 0) {
      return (await file.readDurably(stream, () => statements.ofStream(stream, from))).map(toEvent)
    },
    async readLast(stream) {
      return (await file.readDurably(stream, () => statements.lastOfStream(stream))).map(toEvent)[0]
    },
    readAll: options => readAll(file, options),
    subscribe: options => subscribe(file, options),
    remove: (stream, expected) => file.commit(() => remove(stream, expected)),
    saveSnapshot: (stream, snapshot) =>
      file.commit(() => snapshots.save(stream, { ...snapshot, position: decode(snapshot.position) })),
    async readSnapshot(stream) {
      const saved = file.read(() => snapshots.read(stream))
      return saved && { ...saved, position: encode(saved.position) }
    },
    head: async () => encode(file.head()),
    copyTo: file.copies.copyTo,
    count: async () => file.read(() => Number(statements.count.get()?.count)),
    close: () => file.close(),
  }
}

/** The result of an earlier append of exactly these events after exactly this revision; undefined when there was none. */
function earlierAppend(
  { statements }: EventFile,
  stream: string,
  events: Serialized[],
  expected: number,
): Appended | undefined {
  const stored = statements.idsFrom.all(stream, expected + 1, events.length)
  const last = stored.at(-1)
  if (!last || stored.length < events.length) return undefined
  if (stored.some((row, index) => row.id !== events[index]?.id)) return undefined
  return { revision: expected + events.length, position: encode(Number(last.position)) }
}

/** The columns of an event that depend on its content. */
type Serialized = Record<'id' | 'type' | 'data' | 'metadata', string>

function serialize(stream: string, events: NewEvent[]): Serialized[] {
  const serialized = events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }))
  const bytes = serialized.reduce((sum, event) => sum + Buffer.byteLength(event.data + event.metadata), 0)
  if (events.length > MAX_APPEND_EVENTS || bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream)
  return serialized
}
