import { rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A write failed since the disk is full. It was rolled back; the next write tries again. */
export class DiskFull extends Error {
  /** The disk has a line of its own in the log; the log leaves out what fails because of it. */
  readonly reported = true
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
    this.name = 'DiskFull'
  }
}

/** What the files of one process share: whether the disks under them take writes. */
export interface Disk {
  /**
   * Judges an error of a write to a file. Ends the process when the error says that a sync failed.
   * @returns DiskFull when the disk is full, else the error
   */
  failed(path: string, error: unknown): unknown
  /**
   * Judges a failed sync of a file: a full disk can be tried again; after any other failure the kernel may have dropped
   * what it should have written, so the process ends.
   */
  unsynced(path: string, error: unknown): unknown
  /** The failure that was met last on a disk that is still full; undefined while all take writes. */
  full(): DiskFull | undefined
}

export interface DiskOptions {
  /** Called with a line when a disk begins to be full, and when it takes writes again. */
  report?(line: string, state: 'full' | 'free'): void
  /** Ends the process, which can no longer keep what it promises. */
  end?(line: string): void
  /** Between two attempts to write to a disk that is full. */
  probeMs?: number
}

/** So much must fit before a disk counts as free: fewer bytes would be used up by the next writes. */
const PROBE_BYTES = 1_048_576
const PROBE = '.gantry-probe'

const toStderr = (line: string) => void process.stderr.write(`gantry: ${line}\n`)

/** Watches the disks that the files of this process are on; files on the same disk share its state. */
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
    end(`${path} cannot be synced to the disk (${messageOf(error)}): what was written last may be lost`)
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

/** Warns of a failure in the background, unless the disk has reported it. */
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

/** The folder of a file, or the nearest one above it that exists. */
function existingFolder(path: string): string {
  let folder = dirname(resolve(path))
  while (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) folder = dirname(folder)
  return folder
}

// https://sqlite.org/rescode.html
const SQLITE_FULL = 13
/** Also what SQLite answers when a quota is used up (EDQUOT): it does not tell the reason of a failed write. */
const SQLITE_IOERR_WRITE = 778
const SQLITE_IOERR_FSYNC = 1034
const SQLITE_IOERR_DIR_FSYNC = 1290
/** The index of the log, which the processes of a host share, cannot grow. */
const SQLITE_IOERR_SHMSIZE = 4874

interface SystemError extends Error {
  code?: unknown
  syscall?: unknown
  /** Extended result code of SQLite. */
  errcode?: unknown
}

/** Whether an error of SQLite or of the file system says that the disk, or a quota on it, takes no more. */
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
function reasonOf(error: unknown): string {
  const { code, errcode } = error as SystemError
  if (code === 'EDQUOT') return 'the quota is used up'
  return errcode === SQLITE_IOERR_WRITE ? 'the disk is full, or the write failed' : 'the disk is full'
}
