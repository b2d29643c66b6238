import { randomUUID } from 'node:crypto'
import {
  access,
  appendFile,
  type FileHandle,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BlobDraft, type BlobStore, type ByteRange, ReadModelsUnavailable } from '@gantry/stores'
import { type Disk, DiskFull, watchDisk } from './sqlite/disk.ts'
import { makeFolder } from './sqlite/sqlite-file.ts'

/** Folder of blobs that are being written. They are renamed when complete, so that a key never has a partial blob. */
const INCOMPLETE = '.incomplete'
/** An incomplete blob that has not changed for this long was left by a process that died. In milliseconds. */
const ABANDONED_MS = 60 * 60 * 1000

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

export interface BlobFolder {
  path: string
  /** The disk, shared by the files of a process. Default: a separate one, which reports on stderr. */
  disk?: Disk
}

/**
 * Stores blobs as files of a folder, which is created when it does not exist. Processes of one host may share it.
 * Keys are 1 to 200 of the characters A-Z a-z 0-9 . _ - and do not begin with a dot.
 * @throws RangeError from put, commit, get and delete when the key is invalid
 * @throws ReadModelsUnavailable from put and drafts when the disk is full
 */
export function folderBlobStore({ path, disk = watchDisk() }: BlobFolder): BlobStore {
  const fileOf = (key: string) => {
    if (!KEY.test(key)) throw new RangeError(`not a blob key: ${JSON.stringify(key)}`)
    return join(path, key)
  }
  const newDraft = () => join(path, INCOMPLETE, randomUUID())
  let prepared: Promise<void> | undefined
  const prepareOnce = () => {
    prepared ??= prepare(path).catch(error => {
      prepared = undefined
      throw error
    })
    return prepared
  }

  /** Runs work on a file. @throws ReadModelsUnavailable when the disk is full */
  const on = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (cause) {
      const error = disk.failed(file, cause)
      throw error instanceof DiskFull ? new ReadModelsUnavailable(error) : error
    }
  }

  const draft = async (): Promise<BlobDraft> => {
    await on(path, prepareOnce)
    const file = newDraft()
    await on(file, () => writeFile(file, '', { flag: 'wx' }))
    return {
      // Opens the file for each piece, because an upload that never ends would otherwise keep a file descriptor.
      write: piece => on(file, () => appendFile(file, piece)),
      bytes: () => readFile(file),
      commit: key =>
        on(file, async () => {
          const named = fileOf(key)
          await inFile(file, 'r+', handle => handle.sync())
          if (!(await exists(named))) await rename(file, named)
          await makeNamesDurable(path)
        }),
      discard: () => rm(file, { force: true }),
    }
  }

  const write = async (named: string, bytes: Uint8Array) => {
    await prepareOnce()
    if (await exists(named)) return makeNamesDurable(path)
    const file = newDraft()
    try {
      await inFile(file, 'wx', async handle => {
        await handle.writeFile(bytes)
        await handle.sync()
      })
      await rename(file, named)
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
    await makeNamesDurable(path)
  }

  return {
    async put(key, bytes) {
      const file = fileOf(key)
      await on(file, () => write(file, bytes))
    },
    draft,
    removeAbandoned: () => removeAbandoned(join(path, INCOMPLETE)),
    get: async (key, range) => ifThere(range ? readRange(fileOf(key), range) : readFile(fileOf(key))),
    async delete(key) {
      await rm(fileOf(key), { force: true })
    },
    async *keys() {
      for (const name of (await ifThere(readdir(path))) ?? []) if (KEY.test(name)) yield name
    },
    async close() {},
  }
}

async function prepare(path: string) {
  const folder = join(path, INCOMPLETE)
  makeFolder(folder)
  await makeNamesDurable(dirname(path))
}

async function removeAbandoned(folder: string) {
  for (const name of (await ifThere(readdir(folder))) ?? []) {
    const draft = join(folder, name)
    const written = await ifThere(stat(draft))
    if (written && written.mtimeMs < Date.now() - ABANDONED_MS) await rm(draft, { force: true })
  }
}

async function inFile(file: string, flags: string, work: (handle: FileHandle) => Promise<void>) {
  const handle = await open(file, flags)
  try {
    await work(handle)
  } finally {
    await handle.close()
  }
}

async function readRange(file: string, { from, to }: ByteRange): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const bytes = Buffer.allocUnsafe(to - from)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from)
    return bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Makes the names of a folder durable. Windows does this itself and has no sync of folders. */
async function makeNamesDurable(folder: string) {
  if (process.platform === 'win32') return
  await inFile(folder, 'r', handle => handle.sync())
}

const exists = async (file: string) => (await ifThere(access(file).then(() => true))) ?? false

/** The result of reading a file; undefined when the file does not exist. */
const ifThere = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch(error => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
