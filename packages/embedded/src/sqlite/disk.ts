import { rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A write failed because the disk is full. It was rolled back; later writes are attempted again. */
export class DiskFull extends Error {
  /** Marks errors whose cause is already in the log, so that it is not logged for each of them. */
  readonly reported = true
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written: ${writeFailureOf(cause)}`, { cause })
    this.name = 'DiskFull'
  }
}

/** State of the disks that the files of one process are on: whether they accept writes. */
export interface Disk {
  /**
   * Classifies an error of a write to a file. Ends the process when the error says that a sync failed.
   * @returns DiskFull when the disk is full, otherwise the error
   */
  failed(path: string, error: unknown): unknown
  /**
   * Handles a failed sync of a file. On a full disk the sync can be tried again. After any other failure the kernel may have
   * dropped unwritten pages, so the process ends.
   * @returns DiskFull when the disk is full, otherwise the error
   */
  unsynced(path: string, error: unknown): unknown
  /** The last error of a disk that is still full; undefined when no disk is full. */
  full(): DiskFull | undefined
}

export interface DiskOptions {
  /** Called with a log line when a disk becomes full, and when it accepts writes again. */
  report?(line: string, state: 'full' | 'free'): void
  /** Ends the process after a failed sync, because acknowledged writes may be lost. */
  end?(line: string): void
  /** Pause between two test writes to a full disk, in milliseconds. Default: 2,000. */
  probeMs?: number
}

/** Size of a test write. The disk counts as free when it fits: the next writes would use up a smaller amount. */
const PROBE_BYTES = 1_048_576
const PROBE = '.gantry-probe'

const toStderr = (line: string) => void process.stderr.write(`gantry: ${line}\n`)

/** Tracks the disks that the files of this process are on. Files on the same disk share its state. */
export function watchDisk({ report = toStderr, end = endProcess, probeMs = 2_000 }: DiskOptions = {}): Disk {
  const full = new Map<number, DiskFull>()

  const begin = (folder: string, device: number, error: DiskFull) => {
    report(`${error.message}; writes are refused until the disk of ${folder} has space`, 'full')
    const probe = setInterval(() => {
      if (!takesWrites(folder)) return
      clearInterval(probe)
      full.delete(device)
      report(`the disk of ${folder} takes writes again`, 'free')
    }, probeMs)
    probe.unref()
  }

  const noted = (path: string, cause: unknown) => {
    const error = new DiskFull(path, cause)
    const folder = existingFolder(path)
    const device = statSync(folder).dev
    const known = full.has(device)
    full.set(device, error)
    if (!known) begin(folder, device, error)
    return error
  }

  const unsynced = (path: string, error: unknown) => {
    if (isFull(error)) return noted(path, error)
    end(`${path} cannot be synced to the disk (${messageOf(error)}): the last writes may be lost`)
    return error
  }

  return {
    failed(path, error) {
      if (error instanceof DiskFull) return error
      if (isFailedSync(error)) return unsynced(path, error)
      return isFull(error) ? noted(path, error) : error
    },
    unsynced,
    full: () => full.values().next().value,
  }
}

/** Emits a warning about a failure in the background, unless it is a full disk, which is reported already. */
export function warnOf(error: unknown): void {
  if (!(error instanceof DiskFull)) process.emitWarning(error instanceof Error ? error : String(error))
}

function endProcess(line: string) {
  toStderr(line)
  process.exit(1)
}

function takesWrites(folder: string): boolean {
  const file = join(folder, PROBE)
  try {
    writeFileSync(file, Buffer.alloc(PROBE_BYTES))
    return true
  } catch {
    return false
  } finally {
    rmSync(file, { force: true })
  }
}

/** The folder of a file, or its nearest existing parent folder. */
function existingFolder(path: string): string {
  let folder = dirname(resolve(path))
  while (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) folder = dirname(folder)
  return folder
}

// https://sqlite.org/rescode.html
const SQLITE_FULL = 13
/** SQLite also answers this when a quota is used up (EDQUOT). The code does not tell the reason of a failed write. */
const SQLITE_IOERR_WRITE = 778
const SQLITE_IOERR_FSYNC = 1034
const SQLITE_IOERR_DIR_FSYNC = 1290
/** The shared-memory index of the write-ahead log cannot grow. */
const SQLITE_IOERR_SHMSIZE = 4874

interface SystemError extends Error {
  code?: unknown
  syscall?: unknown
  /** Extended result code of SQLite. */
  errcode?: unknown
}

/** Whether an error of SQLite or of the file system says that the disk is full or that a quota is used up. */
export function isFull(error: unknown): boolean {
  const { code, errcode } = error as SystemError
  if (code === 'ENOSPC' || code === 'EDQUOT') return true
  return errcode === SQLITE_FULL || errcode === SQLITE_IOERR_WRITE || errcode === SQLITE_IOERR_SHMSIZE
}

function isFailedSync(error: unknown): boolean {
  const { syscall, errcode } = error as SystemError
  if (syscall === 'fsync' || syscall === 'fdatasync') return true
  return errcode === SQLITE_IOERR_FSYNC || errcode === SQLITE_IOERR_DIR_FSYNC
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
function writeFailureOf(error: unknown): string {
  const { code, errcode } = error as SystemError
  if (code === 'EDQUOT') return 'the quota is used up'
  return errcode === SQLITE_IOERR_WRITE ? 'the disk is full, or the write failed' : 'the disk is full'
}
