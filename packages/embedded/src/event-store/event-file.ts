import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  EventStoreUnavailable,
  type Position,
  parsedText,
  type RecordedEvent,
  recordedEvent,
  START,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { type Changes, watchChanges } from '../sqlite/changes.ts'
import { copies } from '../sqlite/copy.ts'
import { type Disk, watchDisk } from '../sqlite/disk.ts'
import { type GroupCommit, groupCommit, syncWalNow, type WalSync, walSync } from '../sqlite/group-commit.ts'
import { FORMATS, openDatabase } from '../sqlite/sqlite-file.ts'
import { SNAPSHOTS_SCHEMA, snapshotTable } from './snapshot-table.ts'

export interface EventFileOptions {
  /** Path of the SQLite file. It is created when it does not exist. */
  path: string
  /** Locks the file for this process, which makes appends faster and needs no polls for events of others. Default: false. */
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
  INSERT OR IGNORE INTO removed VALUES (1, 0)`

export const COLUMNS = 'position, stream, revision, id, type, data, metadata, recorded_at'
export type Row = [number, string, number, string, string, string, string, string]

/** The file of an event store, with its statements and what is known about their durability. */
export class EventFile {
  readonly statements: ReturnType<typeof statementsOn>
  readonly snapshots: ReturnType<typeof snapshotTable>
  readonly changes: Changes
  readonly copies: ReturnType<typeof copies>
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #disk: Disk
  readonly #sync: WalSync | undefined
  readonly #commits: GroupCommit
  #closed = false
  /** Subscriptions read up to this position: a power loss must not take back an event that they have acted on. */
  #durable: number
  /** Streams whose removal is not durable yet. */
  readonly #removed = new Set<string>()

  constructor({ path, exclusive = false, disk = watchDisk(), sync }: EventFileOptions) {
    this.#path = path
    this.#disk = disk
    this.#db = openDatabase(path, {
      kind: 'events',
      version: FORMATS.events,
      durable: !exclusive,
      exclusive,
      schema: `${SCHEMA}; ${SNAPSHOTS_SCHEMA}`,
    })
    // Overwrites the content of removed events in the file.
    this.#db.exec('PRAGMA secure_delete = ON')
    this.changes = watchChanges(this.#db, !exclusive)
    this.copies = copies(this.#db)
    this.#sync = exclusive ? (sync ?? walSync(this.#db, path)) : undefined
    this.statements = statementsOn(this.#db)
    this.snapshots = snapshotTable(this.#db)
    if (this.#sync) syncWalNow(this.#db, path, disk)
    this.#durable = this.lastPosition()
    this.#commits = groupCommit(this.#db, {
      committed: this.changes.announce,
      path,
      disk,
      ...(this.#sync && { sync: () => this.#syncCommits() }),
    })
  }

  get closed(): boolean {
    return this.#closed
  }

  /** @throws EventStoreUnavailable when it is closed */
  requireOpen(): void {
    if (this.#closed) throw new EventStoreUnavailable('it is closed')
  }

  /** Position of the last event, durable or not, in the transaction of the caller; 0 when there was none. */
  lastPosition(): number {
    return Number(this.statements.lastPosition.get()?.position)
  }

  /** Position of the last durable event. @throws EventStoreUnavailable */
  head(): number {
    return this.read(() => (this.#sync ? this.#durable : this.lastPosition()))
  }

  /** Reads from the database. @throws EventStoreUnavailable for every failure */
  read<T>(work: () => T): T {
    this.requireOpen()
    try {
      return work()
    } catch (error) {
      throw new EventStoreUnavailable(this.#disk.failed(this.#path, error))
    }
  }

  /** Reads, and waits until the result is durable: a power loss must not take back events that a caller has acted on. */
  async readDurably(stream: string, statement: () => Row[]): Promise<Row[]> {
    const rows = this.read(statement)
    const isDurable = (rows.at(-1)?.[0] ?? 0) <= this.#durable && !this.#removed.has(stream)
    if (this.#sync && !isDurable)
      await this.#commits.synced().catch(error => {
        throw new EventStoreUnavailable(error)
      })
    return rows
  }

  /**
   * Runs a change in a group commit with the others of this turn. @returns its result, once it is durable
   * @throws WrongExpectedRevision, EventStoreUnavailable
   */
  async commit<T>(change: () => T): Promise<T> {
    this.requireOpen()
    try {
      return await this.#commits.run(change)
    } catch (error) {
      throw error instanceof WrongExpectedRevision ? error : new EventStoreUnavailable(error)
    }
  }

  /** Removes the events and the snapshot of a stream, in the transaction of the caller. */
  erase(stream: string): void {
    this.statements.noteRemoved.run(stream)
    this.statements.erase.run(stream)
    this.snapshots.erase(stream)
    if (this.#sync) this.#removed.add(stream)
  }

  /** Prepares a query for many rows. @throws EventStoreUnavailable */
  prepareRows(sql: string): (...values: (string | number)[]) => Row[] {
    const rows = this.read(() => rowsOf(this.#db.prepare(sql)))
    return (...values) => this.read(() => rows(...values))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#commits.flush()
    this.#closed = true
    await Promise.all([this.#commits.settled(), this.copies.end()])
    this.changes.close()
    await this.#sync?.close()
    this.#db.close()
  }

  async #syncCommits(): Promise<void> {
    const reached = this.lastPosition()
    const removed = [...this.#removed]
    await this.#sync?.()
    this.#durable = reached
    for (const stream of removed) this.#removed.delete(stream)
  }
}

const statementsOn = (db: DatabaseSync) => ({
  lastPosition: db.prepare(
    `SELECT max(removed.position, coalesce((SELECT max(position) FROM events), 0)) AS position FROM removed`,
  ),
  lastRevision: db.prepare('SELECT coalesce(max(revision), -1) AS revision FROM events WHERE stream = ?'),
  insert: db.prepare(
    `INSERT INTO events (position, stream, revision, category, id, type, data, metadata, recorded_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  noteRemoved: db.prepare(
    'UPDATE removed SET position = max(position, (SELECT max(position) FROM events WHERE stream = ?))',
  ),
  erase: db.prepare('DELETE FROM events WHERE stream = ?'),
  count: db.prepare('SELECT count(*) AS count FROM events'),
  idsFrom: db.prepare(
    'SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  ),
  ofStream: rowsOf(
    db.prepare(`SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision`),
  ),
  lastOfStream: rowsOf(
    db.prepare(`SELECT ${COLUMNS} FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1`),
  ),
})

function rowsOf(statement: StatementSync): (...values: (string | number)[]) => Row[] {
  statement.setReturnArrays(true)
  return (...values) => statement.all(...values) as unknown as Row[]
}

export const toEvent = ([
  position,
  stream,
  revision,
  id,
  type,
  data,
  metadata,
  recordedAt,
]: Row): RecordedEvent =>
  recordedEvent({
    id,
    type,
    stream,
    revision,
    position: encode(position),
    data: parsedText(data),
    metadata: parsedText(metadata),
    recordedAt,
  })

/** Padded to 16 digits, the width of Number.MAX_SAFE_INTEGER, so that the string order equals the numeric order. */
export const encode = (position: number): Position =>
  position === 0 ? START : String(position).padStart(16, '0')
export const decode = (position: Position) => Number(position)

/** The name of a stream up to and including its first dash; indexed. */
export const categoryOf = (stream: string) => stream.slice(0, stream.indexOf('-') + 1)
