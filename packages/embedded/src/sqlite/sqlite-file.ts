import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { DiskFull, isFull } from './disk.ts'

/**
 * Creates a folder, and those above it, unless it exists. The `recursive` of Node 24 never returns for a folder that the
 * operating system does not let exist, e.g. in /proc.
 * @param mode permissions of new folders, before the umask
 * @throws Error of the file system
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (!existsSync(dirname(path))) makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** The content of a file. It is stored in the header as the application id. */
export type FileKind = 'events' | 'read-models' | 'messages' | 'user-keys'

export interface DatabaseFile {
  kind: FileKind
  /** Version of the schema, from 1. A file of a newer version is refused. */
  version: number
  /** Whether a commit survives a power loss (one fsync each); otherwise it only survives the death of the process. */
  durable: boolean
  /** Locks the file exclusively for as long as it is open, which avoids locking and checks for changes per transaction. */
  exclusive?: boolean
  /** SQL that creates a new file and upgrades one of an older version: `CREATE TABLE IF NOT EXISTS …`. */
  schema: string
}

/** The file exists but must not be used. It was not changed. */
export class DataFolderRefused extends Error {
  readonly path: string
  constructor(path: string, reason: string) {
    super(`${path} ${reason}`)
    this.name = 'DataFolderRefused'
    this.path = path
  }
}

/** The content of a file of a data folder is lost or damaged. */
class FileDamaged extends DataFolderRefused {
  readonly reason: string
  constructor(path: string, reason: string) {
    super(path, reason)
    this.reason = reason
  }
}

/** "Gn" and two letters of the kind, big endian, for `PRAGMA application_id`. */
const APPLICATION_IDS: Readonly<Record<FileKind, number>> = {
  events: 0x476e4576,
  'read-models': 0x476e526d,
  messages: 0x476e4d73,
  'user-keys': 0x476e556b,
}

/** Current format versions of the files. */
export const FORMATS: Readonly<Record<FileKind, number>> = {
  events: 1,
  'read-models': 1,
  messages: 1,
  'user-keys': 1,
}

/**
 * Inspects all files before any is opened, so that none is changed if one of them must be refused. Missing files are
 * skipped.
 * @throws DataFolderRefused
 * @throws DiskFull
 */
export function inspectFiles(files: Readonly<Partial<Record<FileKind, string>>>): void {
  for (const [kind, path] of Object.entries(files) as [FileKind, string][]) {
    if (!existsSync(path)) continue
    try {
      inspectDatabase(path, { applicationId: APPLICATION_IDS[kind], userVersion: FORMATS[kind] })
    } catch (error) {
      throw kind === 'read-models' && error instanceof FileDamaged ? rebuildable(error) : error
    }
  }
}

/** Nothing is lost with the read models. */
const rebuildable = ({ path, reason }: FileDamaged) =>
  new FileDamaged(
    path,
    `${reason}. It is made again from the log: remove it and ${path}-wal, and start again`,
  )

/** How long a statement waits for the transaction of another process. */
export const BUSY_TIMEOUT_MS = 10_000
const INSPECTION_TIMEOUT_MS = 2_000

/**
 * Number of pages of 4 KiB in the write-ahead log that triggers a checkpoint, which takes some tens of milliseconds.
 * SQLite's default of 1,000 gives shorter but much more frequent checkpoints, which halves the appends per second in a large
 * file.
 */
const CHECKPOINT_PAGES = 4_000

/** Size that a write-ahead log is truncated to when it restarts after a large transaction. */
const LOG_BYTES = 64 * 1024 * 1024

/**
 * Files up to this size are read completely to find damage; a gigabyte would take half a minute from a cold disk. Damage
 * inside a larger file is found when it is read.
 */
const CHECKED_BYTES = 32 * 1024 * 1024

/**
 * Opens a Gantry file, or creates it. Several processes of one host can do so at the same time. The file is in WAL mode:
 * readers see a snapshot and never wait.
 * @throws DataFolderRefused when the file is damaged, is not a Gantry file of this kind, or has a newer version; also for
 * `:memory:`, which SQLite does not open as a file
 * @throws DiskFull
 */
export function openDatabase(path: string, file: DatabaseFile): DatabaseSync {
  if (path === ':memory:') throw new DataFolderRefused(path, 'is not the path of a file')
  let db: DatabaseSync | undefined
  try {
    makeFolderOf(path)
    if (!existsSync(path)) create(path, file)
    inspectDatabase(path, { applicationId: APPLICATION_IDS[file.kind], userVersion: file.version })
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    db.exec(`PRAGMA synchronous = ${file.durable ? 'FULL' : 'NORMAL'}`)
    if (file.exclusive) lockExclusively(db, path)
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES}`)
    bringUpToDate(db, file)
    return db
  } catch (error) {
    db?.close()
    throw isFull(error) ? new DiskFull(path, error) : error
  }
}

function makeFolderOf(path: string): void {
  try {
    makeFolder(dirname(path))
  } catch (error) {
    if (isFull(error)) throw error
    throw new DataFolderRefused(dirname(path), `cannot be created: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function lockExclusively(db: DatabaseSync, path: string) {
  db.exec('PRAGMA busy_timeout = 1000; PRAGMA locking_mode = EXCLUSIVE')
  try {
    db.exec('BEGIN IMMEDIATE; COMMIT')
  } catch (error) {
    throw isFull(error) ? error : refusal(path, error)
  }
}

/**
 * Checks a file without changing it. Refuses a file that is not a database, is truncated or damaged, has another application
 * id, or has a newer version than `userVersion`.
 * @throws DataFolderRefused
 */
function inspectDatabase(path: string, expected: { applicationId: number; userVersion: number }): void {
  const hasNoLog = logSize(path) === 0
  try {
    // Without a log the file is complete in itself. Opened as immutable, SQLite creates no files next to it either.
    inspect(path, expected, hasNoLog)
  } catch (error) {
    // Another process began to write during the check without a lock.
    if (hasNoLog && logSize(path) > 0) inspect(path, expected, false)
    else throw error
  }
}

const logSize = (path: string) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0

function inspect(path: string, expected: { applicationId: number; userVersion: number }, hasNoLog: boolean) {
  if (statSync(path).size === 0) throw new FileDamaged(path, 'is empty: its content is lost')
  let db: DatabaseSync | undefined
  try {
    const location = hasNoLog ? new URL(`${pathToFileURL(path)}?immutable=1`) : path
    db = new DatabaseSync(location, { readOnly: true, timeout: INSPECTION_TIMEOUT_MS })
    if (pragma(db, 'application_id') !== expected.applicationId)
      throw new DataFolderRefused(path, 'is not a Gantry file of this kind')
    const version = pragma(db, 'user_version')
    if (version > expected.userVersion)
      throw new DataFolderRefused(
        path,
        `was made by a newer Gantry (format ${version}, this one knows ${expected.userVersion})`,
      )
    if (hasNoLog && statSync(path).size < claimedSize(path)) throw new FileDamaged(path, truncation(path))
    if (statSync(path).size > CHECKED_BYTES) return
    const found = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check)
    if (found !== 'ok') throw new FileDamaged(path, `is damaged: ${found.split('\n').at(-1)}`)
  } catch (error) {
    if (isFull(error)) throw new DiskFull(path, error)
    throw error instanceof DataFolderRefused ? error : refusal(path, error)
  } finally {
    db?.close()
  }
}

const pragma = (db: DatabaseSync, name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name])

// https://sqlite.org/rescode.html; the low byte is the primary code.
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

function refusal(path: string, error: unknown): DataFolderRefused {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  if (code === SQLITE_BUSY) return new DataFolderRefused(path, 'is in use by another process')
  if (code === SQLITE_NOTADB) return new FileDamaged(path, 'is not a SQLite database')
  if (code !== SQLITE_CORRUPT)
    return new DataFolderRefused(path, `cannot be read: ${error instanceof Error ? error.message : error}`)
  return new FileDamaged(path, statSync(path).size < claimedSize(path) ? truncation(path) : 'is damaged')
}

const truncation = (path: string) =>
  `is truncated: ${statSync(path).size} of ${claimedSize(path)} bytes are left`

/** Size of the file in bytes according to its header (https://sqlite.org/fileformat.html §1.3). */
function claimedSize(path: string): number {
  const header = Buffer.alloc(100)
  const fd = openSync(path, 'r')
  try {
    readSync(fd, header, 0, header.length, 0)
  } finally {
    closeSync(fd)
  }
  const pageSize = header.readUInt16BE(16)
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28)
}

/** Creates the file under a temporary name first, so that other processes only find a complete file. */
function create(path: string, file: DatabaseFile) {
  if (logSize(path) > 0) throw new DataFolderRefused(path, `is missing, but its log ${path}-wal is there`)
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  try {
    writeDraft(draft, file)
    giveName(draft, path)
  } finally {
    for (const left of [draft, `${draft}-journal`]) rmSync(left, { force: true })
  }
  // Syncs the directory entry. Windows has no such call and does it implicitly.
  if (process.platform !== 'win32') sync(dirname(path), 'r')
}

function writeDraft(draft: string, file: DatabaseFile) {
  const db = new DatabaseSync(draft)
  try {
    db.exec(`PRAGMA synchronous = OFF; PRAGMA application_id = ${APPLICATION_IDS[file.kind]}`)
    bringUpToDate(db, file)
    db.exec('PRAGMA journal_mode = WAL')
  } finally {
    db.close()
  }
  sync(draft, 'r+')
}

/** Does not replace an existing file. */
function giveName(draft: string, path: string) {
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process created the file first, or this file system has no hard links.
    if (!existsSync(path)) renameSync(draft, path)
    else if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function bringUpToDate(db: DatabaseSync, file: DatabaseFile) {
  if (pragma(db, 'user_version') === file.version) return
  db.exec(`BEGIN IMMEDIATE; ${file.schema}; PRAGMA user_version = ${file.version}; COMMIT`)
}

function sync(path: string, flags: 'r' | 'r+') {
  const fd = openSync(path, flags)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * The clock of the host as SQLite reads it, shared by all processes that use the file.
 * @returns a function that returns the milliseconds since 1970
 */
export function hostClock(db: DatabaseSync): () => number {
  const time = db.prepare("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS ms")
  return () => Number(time.get()?.ms)
}
