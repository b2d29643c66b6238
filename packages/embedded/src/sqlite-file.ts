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

/** What a file holds; written into its header as the application id. */
export type FileKind = 'events' | 'read-models' | 'messages'

export interface DatabaseFile {
  kind: FileKind
  /** Of the schema, from 1. A file of a newer one is refused. */
  version: number
  /** A commit survives a power loss (one fsync each); otherwise only the death of the process. */
  durable: boolean
  /** No other process may use the file as long as it is open: nothing needs to be locked or looked for again. */
  alone?: boolean
  /** SQL that makes a new file and brings one of an older version up to date: `CREATE TABLE IF NOT EXISTS …`. */
  schema: string
}

/** The file is there but must not be used; it was left as it was. */
export class DataFolderRefused extends Error {
  readonly path: string
  constructor(path: string, reason: string) {
    super(`${path} ${reason}`)
    this.name = 'DataFolderRefused'
    this.path = path
  }
}

/** "Gn" and two letters of the kind, big endian, as in `PRAGMA application_id`. */
const APPLICATION_IDS: Readonly<Record<FileKind, number>> = {
  events: 0x476e4576,
  'read-models': 0x476e526d,
  messages: 0x476e4d73,
}

/** Formats of the files that are written today. */
export const FORMATS: Readonly<Record<FileKind, number>> = { events: 2, 'read-models': 1, messages: 1 }

/**
 * Looks at all files before any is opened, so that one that must be refused leaves the others as they were too.
 * A file that does not exist is no fault.
 * @throws DataFolderRefused
 * @throws DiskFull
 */
export function inspectFiles(files: Readonly<Partial<Record<FileKind, string>>>): void {
  for (const [kind, path] of Object.entries(files) as [FileKind, string][]) {
    if (existsSync(path))
      inspectDatabase(path, { applicationId: APPLICATION_IDS[kind], userVersion: FORMATS[kind] })
  }
}

/** How long a statement waits for another process's transaction. */
const BUSY_TIMEOUT_MS = 10_000
const INSPECTION_TIMEOUT_MS = 2_000

/**
 * The log is copied into the file when it has so many pages of 4 KiB: a pause of some tens of milliseconds. SQLite's
 * 1,000 makes it shorter and much more frequent, which costs half of the appends per second in a large file.
 */
const CHECKPOINT_PAGES = 4_000

/** What a large transaction has made the log grow beyond this is given back when the log begins anew. */
const LOG_BYTES = 64 * 1024 * 1024

/**
 * Up to this size a file is read as a whole to find damage; a gigabyte would take half a minute from a cold disk.
 * Damage inside a larger one shows when it is read.
 */
const CHECKED_BYTES = 32 * 1024 * 1024

/**
 * Opens a file of ours, or makes it; several processes of one host may do so at the same time.
 * WAL mode: readers see a state of the past and never wait.
 * @throws DataFolderRefused when the file is damaged, somebody else's or of a newer version
 * @throws DiskFull
 */
export function openDatabase(path: string, file: DatabaseFile): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) create(path, file)
    inspectDatabase(path, { applicationId: APPLICATION_IDS[file.kind], userVersion: file.version })
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    db.exec(`PRAGMA synchronous = ${file.durable ? 'FULL' : 'NORMAL'}`)
    if (file.alone) keepToOneself(db, path)
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES}`)
    bringUpToDate(db, file)
    return db
  } catch (error) {
    db?.close()
    throw isFull(error) ? new DiskFull(path, error) : error
  }
}

function keepToOneself(db: DatabaseSync, path: string) {
  db.exec('PRAGMA busy_timeout = 1000; PRAGMA locking_mode = EXCLUSIVE')
  try {
    db.exec('BEGIN IMMEDIATE; COMMIT')
  } catch (error) {
    throw isFull(error) ? error : new DataFolderRefused(path, reason(path, error))
  }
}

/**
 * Refuses a file that must not be written to, and never changes it: not a database, truncated, damaged,
 * somebody else's, or of a newer version than `userVersion`.
 * @throws DataFolderRefused
 */
export function inspectDatabase(
  path: string,
  expected: { applicationId: number; userVersion: number },
): void {
  const alone = logSize(path) === 0
  try {
    // Without a log beside it the file is all there is; opened as immutable it gets no side files either.
    inspect(path, expected, alone)
  } catch (error) {
    // Another process has begun to write while an unlocked look was taken.
    if (alone && logSize(path) > 0) inspect(path, expected, false)
    else throw error
  }
}

const logSize = (path: string) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0

function inspect(path: string, expected: { applicationId: number; userVersion: number }, alone: boolean) {
  if (statSync(path).size === 0) throw new DataFolderRefused(path, 'is empty: what it held is lost')
  let db: DatabaseSync | undefined
  try {
    const location = alone ? new URL(`${pathToFileURL(path)}?immutable=1`) : path
    db = new DatabaseSync(location, { readOnly: true, timeout: INSPECTION_TIMEOUT_MS })
    if (pragma(db, 'application_id') !== expected.applicationId)
      throw new DataFolderRefused(path, 'belongs to something else')
    const version = pragma(db, 'user_version')
    if (version > expected.userVersion)
      throw new DataFolderRefused(
        path,
        `was made by a newer Gantry (format ${version}, this one knows ${expected.userVersion})`,
      )
    if (alone && statSync(path).size < claimedSize(path)) throw new DataFolderRefused(path, truncation(path))
    if (statSync(path).size > CHECKED_BYTES) return
    const found = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check)
    if (found !== 'ok') throw new DataFolderRefused(path, `is damaged: ${found.split('\n').at(-1)}`)
  } catch (error) {
    if (isFull(error)) throw new DiskFull(path, error)
    throw error instanceof DataFolderRefused ? error : new DataFolderRefused(path, reason(path, error))
  } finally {
    db?.close()
  }
}

const pragma = (db: DatabaseSync, name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name])

// https://sqlite.org/rescode.html; the low byte is the primary code.
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

function reason(path: string, error: unknown): string {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  if (code === SQLITE_BUSY) return 'is in use by another process'
  if (code === SQLITE_NOTADB) return 'is not a SQLite database'
  if (code !== SQLITE_CORRUPT) return `cannot be read: ${error instanceof Error ? error.message : error}`
  return statSync(path).size < claimedSize(path) ? truncation(path) : 'is damaged'
}

const truncation = (path: string) =>
  `is truncated: ${statSync(path).size} of ${claimedSize(path)} bytes are left`

/** Bytes that the file should have by its header (https://sqlite.org/fileformat.html §1.3). */
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

/** Makes the file under another name first: whoever finds it under its own finds it complete. */
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
  // The new name itself; Windows has no such call and does it unasked.
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

/** Leaves a file that has the name already as it is. */
function giveName(draft: string, path: string) {
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process was faster, or this file system has no hard links.
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
