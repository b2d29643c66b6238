import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlobDraft, ReadModelsUnavailable } from '@gantry/read-models'
import type { Content } from './bucket.ts'

/** A draft that has not changed for this long was left by a process that died, in milliseconds. */
const LEFT_BEHIND_MS = 60 * 60 * 1000
const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** Stores the content under the key, unless the key exists. */
type Store = (key: string, contentOf: () => Content) => Promise<void>

/**
 * Drafts as files of a folder of this machine, because S3 stores no object before its length is known, and no part of one
 * below 5 MiB.
 * @returns a function that opens a draft. @throws ReadModelsUnavailable when the disk is full
 */
export function drafts(folder: string, store: Store): () => Promise<BlobDraft> {
  let prepared: Promise<void> | undefined

  return async () => {
    prepared ??= prepare(folder).catch(error => {
      prepared = undefined
      throw error
    })
    const file = join(folder, randomUUID())
    const hash = createHash('md5')
    let length = 0
    await onDisk(prepared.then(() => writeFile(file, '', { flag: 'wx', mode: 0o600 })))
    return {
      async write(piece) {
        await onDisk(appendFile(file, piece))
        hash.update(piece)
        length += piece.length
      },
      bytes: () => readFile(file),
      async commit(key) {
        await store(key, () => ({ body: createReadStream(file), length, md5: hash.copy().digest('base64') }))
        await rm(file, { force: true })
      },
      discard: () => rm(file, { force: true }),
    }
  }
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < Date.now() - LEFT_BEHIND_MS) await rm(file, { force: true })
  }
}

/** @throws ReadModelsUnavailable when the disk is full */
async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw new ReadModelsUnavailable(error)
    throw error
  }
}
