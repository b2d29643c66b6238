import { createHash, randomUUID } from 'node:crypto'
import { appendFile, lstat, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlobDraft, ReadModelsUnavailable } from '@gantry/stores'
import type { Content } from './bucket.ts'

/** A draft that has not changed for this long was left by a process that died, in milliseconds. */
const ABANDONED_MS = 60 * 60 * 1000
const FULL = new Set(['ENOSPC', 'EDQUOT'])
/** Names of drafts begin with it. */
const PREFIX = 'gantry-draft-'

/** Stores the content under the key, unless the key exists. `open` opens the content. */
type Store = (key: string, open: () => Promise<Content>) => Promise<void>

/**
 * Returns a function that opens a draft. Drafts are files of a folder of this machine, because S3 stores no object before
 * its length is known, and no part of one below 5 MiB. Users of the machine may share the folder if only the owner of a
 * file can replace it, as in /tmp: a name cannot be guessed, and a new draft never opens a file or link that exists.
 * The function throws ReadModelsUnavailable when the disk is full.
 */
export function drafts(folder: string, store: Store): () => Promise<BlobDraft> {
  return async () => {
    const file = join(folder, PREFIX + randomUUID())
    const hash = createHash('md5')
    let length = 0
    await onDisk(writeFile(file, '', { flag: 'wx', mode: 0o600 }))
    return {
      async write(piece) {
        await onDisk(appendFile(file, piece))
        hash.update(piece)
        length += piece.length
      },
      bytes: () => readFile(file),
      async commit(key) {
        await store(key, async () => {
          const handle = await open(file)
          return { body: handle.createReadStream(), length, md5: hash.copy().digest('base64') }
        })
        await rm(file, { force: true })
      },
      discard: () => rm(file, { force: true }),
    }
  }
}

/** Deletes the drafts of this user that no process has changed for an hour. */
export async function removeAbandoned(folder: string): Promise<void> {
  const uid = process.getuid?.()
  for (const name of await readdir(folder)) {
    if (!name.startsWith(PREFIX)) continue
    const file = join(folder, name)
    const found = await lstat(file).catch(() => undefined)
    if (!found?.isFile() || (uid !== undefined && found.uid !== uid)) continue
    if (found.mtimeMs < Date.now() - ABANDONED_MS) await rm(file, { force: true })
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
