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
  /** The file; made when it does not exist. */
  path: string
  /** The clock that `recordedAt` is taken from. */
  now?: () => Date
  /** How often subscriptions look for events of other processes. */
  pollMs?: number
  /** Keeps other processes out, and is faster for it. */
  alone?: boolean
  /** Shared by the files of a process; a disk of its own, which reports on stderr, if it is not said. */
  disk?: Disk
  /** How the write-ahead log is synced where the file is used alone: fdatasync, if it is not said. */
  sync?: WalSync
}

/** Positions are counted on from the last one, which may have been removed: `removed` has the greatest of these. */
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

/** Events read at a time: some milliseconds of work, so that a replay leaves room for everything else. */
const PAGE = 250
/** How often a subscription says that it is caught up when all that came was not for it. */
const OTHERS_EVERY_MS = 100

/**
 * The log in a SQLite file. Several stores, also of several processes of one host, may use the same file.
 * Appends of one turn of the event loop are committed together, on the calling thread.
 * @throws DataFolderRefused when the file is damaged, somebody else's or of a newer version
 */
export function sqliteEventStore({
  path,
  now = () => new Date(),
  pollMs = 10,
  alone = false,
  disk = watchDisk(),
  sync: givenSync,
}: EventStoreOptions): EventStore {
  const db = openDatabase(path, {
    kind: 'events',
    version: FORMATS.events,
    durable: !alone,
    alone,
    schema: SCHEMA,
  })
  // What is removed is to be gone from the file as well.
  db.exec('PRAGMA secure_delete = ON')
  const changes = watchChanges(db, pollMs)
  const sync = alone ? (givenSync ?? walSync(db, path)) : undefined
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
  /** Followers read up to here: what they act on must not be taken back by a power loss. */
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

  /** Runs something on the database, whose every failure means that the store is away. */
  const using = <T>(work: () => T): T => {
    if (closed) throw new EventStoreUnavailable('it is closed')
    try {
      return work()
    } catch (error) {
      throw new EventStoreUnavailable(disk.failed(path, error))
    }
  }

  /** What an append got that stored exactly these events after exactly this revision. */
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
    if (events.length === 0) throw new RangeError('an append takes at least one event')
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

  /** Runs a change with others of this turn. @returns what it returned, when it is durable */
  const committed = async <T>(change: () => T): Promise<T> => {
    try {
      return await commits.run(change)
    } catch (error) {
      throw error instanceof WrongExpectedRevision ? error : new EventStoreUnavailable(error)
    }
  }

  /** What a caller decides on, and answers from, must not be taken back by a power loss either. */
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

  const headNow = () => using(() => (alone ? durable : Number(lastPosition.get()?.position)))

  /** Reads events between two positions, page by page and without a transaction that would last. */
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

/** An event as its row holds it. */
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

/** As wide as the largest integer that a number holds, so that the order of strings is that of numbers. */
const encode = (position: number): Position => (position === 0 ? START : String(position).padStart(16, '0'))
const decode = (position: Position) => Number(position)

/** What a stream's name begins with, up to its first dash: prefixes are of this form and found by an index. */
const categoryOf = (stream: string) => stream.slice(0, stream.indexOf('-') + 1)

interface Selection {
  and: string
  values: string[]
}

/** One selection for each prefix, none overlapping another, so that SQLite merges them in order of position. */
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
