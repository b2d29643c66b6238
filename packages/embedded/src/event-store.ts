import { setImmediate } from 'node:timers/promises'
import {
  type Appended,
  AppendTooLarge,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
  type NewEvent,
  NO_STREAM,
  type Position,
  type ReadAllOptions,
  type RecordedEvent,
  START,
  type SubscriptionItem,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { watchChanges } from './changes.ts'
import { type Disk, watchDisk } from './disk.ts'
import { groupCommit } from './group-commit.ts'
import { SNAPSHOTS, snapshotTable } from './snapshot-table.ts'
import { FORMATS, openDatabase } from './sqlite-file.ts'
import { syncWalNow, type WalSync, walSync } from './wal-sync.ts'

export interface EventStoreOptions {
  /** Path of the SQLite file. It is created when it does not exist. */
  path: string
  /** Clock for `recordedAt`. Default: the system clock. */
  now?: () => Date
  /** Interval of the polls for events of other processes, in milliseconds. Default: 10. */
  pollMs?: number
  /** Locks the file exclusively for this process, which makes appends faster. Default: false. */
  exclusive?: boolean
  /** State of the disk, shared by the files of a process. Default: a separate one that reports on stderr. */
  disk?: Disk
  /** Syncs the write-ahead log when the file is locked exclusively. Default: fdatasync. */
  sync?: WalSync
}

/** Positions increase by one. A position is never used again: `removed` has the greatest position among removed events. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    category TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL,
    recorded_at TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
  CREATE INDEX IF NOT EXISTS events_by_category ON events (category, position);
  CREATE TABLE IF NOT EXISTS removed (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    position INTEGER NOT NULL
  ) STRICT;
  INSERT OR IGNORE INTO removed VALUES (1, 0);
  ${SNAPSHOTS}`

const COLUMNS = 'position, stream, revision, id, type, data, metadata, recorded_at'
type Row = [number, string, number, string, string, string, string, string]

/** Events read per query: a few milliseconds of work, so that a replay does not block the event loop. */
const PAGE = 250
/** Minimum interval of `caughtUp` items, in milliseconds, while all new events are outside of the subscription. */
const OTHERS_EVERY_MS = 100

/**
 * An event store in a SQLite file. Several stores, also in several processes of one host, can use the same file unless one
 * is opened with `exclusive`. Appends of one turn of the event loop are committed together, on the calling thread.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version
 */
export function sqliteEventStore({
  path,
  now = () => new Date(),
  pollMs = 10,
  exclusive = false,
  disk = watchDisk(),
  sync: givenSync,
}: EventStoreOptions): EventStore {
  const db = openDatabase(path, {
    kind: 'events',
    version: FORMATS.events,
    durable: !exclusive,
    exclusive,
    schema: SCHEMA,
  })
  // Overwrites the content of removed events in the file.
  db.exec('PRAGMA secure_delete = ON')
  const changes = watchChanges(db, pollMs)
  const sync = exclusive ? (givenSync ?? walSync(db, path)) : undefined
  const lastPosition = db.prepare(
    `SELECT max(removed.position, coalesce((SELECT max(position) FROM events), 0)) AS position FROM removed`,
  )
  const lastRevision = db.prepare(
    'SELECT coalesce(max(revision), -1) AS revision FROM events WHERE stream = ?',
  )
  const insert = db.prepare(
    `INSERT INTO events (position, stream, revision, category, id, type, data, metadata, recorded_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const noteRemoved = db.prepare(
    'UPDATE removed SET position = max(position, (SELECT max(position) FROM events WHERE stream = ?))',
  )
  const erase = db.prepare('DELETE FROM events WHERE stream = ?')
  const snapshots = snapshotTable(db)
  const storedFrom = db.prepare(
    'SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  )
  const ofStream = db.prepare(
    `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision`,
  )
  ofStream.setReturnArrays(true)
  const lastOfStream = db.prepare(
    `SELECT ${COLUMNS} FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1`,
  )
  lastOfStream.setReturnArrays(true)
  let closed = false
  if (sync) syncWalNow(db, path, disk)
  /** Subscriptions read up to this position: a power loss must not take back an event that they have acted on. */
  let durable = Number(lastPosition.get()?.position)
  /** Streams whose removal is not durable yet. */
  const removed = new Set<string>()
  const commits = groupCommit(db, {
    committed: changes.announce,
    path,
    disk,
    ...(sync && {
      async sync() {
        const reached = Number(lastPosition.get()?.position)
        const gone = [...removed]
        await sync()
        durable = reached
        for (const stream of gone) removed.delete(stream)
      },
    }),
  })

  /** Runs work on the database. @throws EventStoreUnavailable for every failure */
  const using = <T>(work: () => T): T => {
    if (closed) throw new EventStoreUnavailable('it is closed')
    try {
      return work()
    } catch (error) {
      throw new EventStoreUnavailable(disk.failed(path, error))
    }
  }

  /** The result of an earlier append of exactly these events after exactly this revision; undefined when there was none. */
  const earlierAnswer = (stream: string, events: Serialized[], expected: number): Appended | undefined => {
    const stored = storedFrom.all(stream, expected + 1, events.length)
    const last = stored.at(-1)
    if (!last || stored.length < events.length) return undefined
    if (stored.some((row, index) => row.id !== events[index]?.id)) return undefined
    return { revision: expected + events.length, position: encode(Number(last.position)) }
  }

  const appendNow = (stream: string, events: Serialized[], expected: ExpectedRevision): Appended => {
    const actual = Number(lastRevision.get(stream)?.revision)
    if (actual !== expected) {
      const answer = earlierAnswer(stream, events, expected)
      if (answer) return answer
      throw new WrongExpectedRevision(stream, expected, actual)
    }
    const category = categoryOf(stream)
    const recordedAt = now().toISOString()
    let revision = expected
    let position = Number(lastPosition.get()?.position)
    for (const { id, type, data, metadata } of events) {
      revision++
      position++
      insert.run(position, stream, revision, category, id, type, data, metadata, recordedAt)
    }
    return { revision, position: encode(position) }
  }

  const append = async (
    stream: string,
    events: NewEvent[],
    expected: ExpectedRevision,
  ): Promise<Appended> => {
    if (closed) throw new EventStoreUnavailable('it is closed')
    if (events.length === 0) throw new RangeError('an append needs at least one event')
    const serialized = serialize(stream, events)
    return committed(() => appendNow(stream, serialized, expected))
  }

  const removeNow = (stream: string, expected: ExpectedRevision) => {
    const actual = Number(lastRevision.get(stream)?.revision)
    if (actual === NO_STREAM) return
    if (actual !== expected) throw new WrongExpectedRevision(stream, expected, actual)
    noteRemoved.run(stream)
    erase.run(stream)
    snapshots.erase(stream)
    if (sync) removed.add(stream)
  }

  const remove = async (stream: string, expected: ExpectedRevision): Promise<void> => {
    if (closed) throw new EventStoreUnavailable('it is closed')
    return committed(() => removeNow(stream, expected))
  }

  const unavailable = (error: unknown): never => {
    throw new EventStoreUnavailable(error)
  }

  /** Runs a change in a group commit with the others of this turn. @returns its result, once it is durable */
  const committed = async <T>(change: () => T): Promise<T> => {
    try {
      return await commits.run(change)
    } catch (error) {
      throw error instanceof WrongExpectedRevision ? error : new EventStoreUnavailable(error)
    }
  }

  /** Reads, and waits until the result is durable: a power loss must not take back events that a caller has acted on. */
  const readDurably = async (stream: string, read: () => Row[]): Promise<RecordedEvent[]> => {
    const rows = using(read)
    const isDurable = (rows.at(-1)?.[0] ?? 0) <= durable && !removed.has(stream)
    if (sync && !isDurable) await commits.synced().catch(unavailable)
    return rows.map(toEvent)
  }

  const saveSnapshot: EventStore['saveSnapshot'] = async (stream, snapshot) => {
    if (closed) throw new EventStoreUnavailable('it is closed')
    await committed(() => snapshots.save(stream, { ...snapshot, position: decode(snapshot.position) }))
  }

  const readSnapshot: EventStore['readSnapshot'] = async stream => {
    const saved = using(() => snapshots.read(stream))
    return saved && { ...saved, position: encode(saved.position) }
  }

  const readStream = (stream: string, from = 0) =>
    readDurably(stream, () => ofStream.all(stream, from) as unknown as Row[])

  const readLast = async (stream: string) =>
    (await readDurably(stream, () => lastOfStream.all(stream) as unknown as Row[]))[0]

  const headNow = () => using(() => (exclusive ? durable : Number(lastPosition.get()?.position)))

  /** Reads events between two positions page by page, without a long transaction. */
  const pagesOf = (prefixes: string[] | undefined) => {
    const arms = selections(prefixes)
    if (arms.length === 0) return () => []
    const selects = arms.map(
      arm => `SELECT ${COLUMNS} FROM events WHERE position > ? AND position <= ?${arm.and}`,
    )
    const statement = using(() =>
      db.prepare(`${selects.join(' UNION ALL ')} ORDER BY position LIMIT ${PAGE}`),
    )
    statement.setReturnArrays(true)
    return (after: number, until: number): Row[] =>
      using(() => statement.all(...arms.flatMap(arm => [after, until, ...arm.values])) as unknown as Row[])
  }

  async function* readAll({ after, streamPrefixes }: ReadAllOptions): AsyncGenerator<RecordedEvent> {
    const read = pagesOf(streamPrefixes)
    const head = headNow()
    let position = decode(after)
    for (;;) {
      const page = read(position, head)
      for (const row of page) {
        position = row[0]
        yield toEvent(row)
      }
      if (page.length < PAGE) return
      await setImmediate()
    }
  }

  async function* subscribe(
    options: ReadAllOptions & { signal: AbortSignal },
  ): AsyncGenerator<SubscriptionItem> {
    const { signal } = options
    const read = pagesOf(options.streamPrefixes)
    const ended = () => signal.aborted || closed
    let position = decode(options.after)
    let told: number | undefined
    let toldAt = Number.NEGATIVE_INFINITY
    while (!ended()) {
      const seen = changes.count()
      const head = headNow()
      let delivered = false
      for (;;) {
        const page = read(position, head)
        for (const row of page) {
          if (ended()) return
          position = row[0]
          delivered = true
          yield { kind: 'event', event: toEvent(row) }
        }
        if (page.length < PAGE) break
        await setImmediate()
        if (ended()) return
      }
      if (ended()) return
      position = Math.max(position, head)
      if (position !== told && (delivered || performance.now() - toldAt >= OTHERS_EVERY_MS)) {
        told = position
        toldAt = performance.now()
        yield { kind: 'caughtUp', position: encode(position) }
      }
      await changes.after(seen, signal, position === told ? undefined : OTHERS_EVERY_MS)
    }
  }

  const close = async () => {
    if (closed) return
    commits.flush()
    closed = true
    await commits.settled()
    changes.close()
    await sync?.close()
    db.close()
  }

  return {
    append,
    readStream,
    readLast,
    readAll,
    subscribe,
    remove,
    saveSnapshot,
    readSnapshot,
    head: async () => encode(headNow()),
    close,
  }
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

const toEvent = ([position, stream, revision, id, type, data, metadata, recordedAt]: Row): RecordedEvent => ({
  id,
  type,
  stream,
  revision,
  position: encode(position),
  data: JSON.parse(data),
  metadata: JSON.parse(metadata),
  recordedAt,
})

/** Padded to 16 digits, the width of Number.MAX_SAFE_INTEGER, so that the string order equals the numeric order. */
const encode = (position: number): Position => (position === 0 ? START : String(position).padStart(16, '0'))
const decode = (position: Position) => Number(position)

/** The name of a stream up to and including its first dash; indexed. */
const categoryOf = (stream: string) => stream.slice(0, stream.indexOf('-') + 1)

interface Selection {
  and: string
  values: string[]
}

/** One selection per prefix, without overlaps, so that SQLite merges them in order of position. */
function selections(prefixes: string[] | undefined): Selection[] {
  if (!prefixes) return [{ and: '', values: [] }]
  const distinct = [...new Set(prefixes)]
  const widest = distinct.filter(
    prefix => !distinct.some(other => other !== prefix && prefix.startsWith(other)),
  )
  return widest.map(prefix => {
    const begins = { and: ' AND substr(stream, 1, length(?)) = ?', values: [prefix, prefix] }
    const category = categoryOf(prefix)
    if (category === '') return begins
    if (category === prefix) return { and: ' AND category = ?', values: [category] }
    return { and: ` AND category = ?${begins.and}`, values: [category, ...begins.values] }
  })
}
