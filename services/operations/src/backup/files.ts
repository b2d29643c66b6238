import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '@gantry/embedded'
import { CommandFailed } from '../command.ts'

/** @param chapter of docs/operations.md, for data in servers @throws CommandFailed unless the data is in a data folder */
export function requireDataFolder({ MESSAGING_URL }: NodeJS.ProcessEnv, chapter: string): void {
  if (MESSAGING_URL)
    throw new CommandFailed(
      `MESSAGING_URL: is set, so the data is in servers: follow "${chapter}" in docs/operations.md`,
    )
}

export interface Digest {
  bytes: number
  /** In hexadecimal. */
  sha256: string
}

/** A stream that passes bytes on, and their digest afterwards. */
function digesting() {
  const hash = createHash('sha256')
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  return { stream, digest: (): Digest => ({ bytes, sha256: hash.digest('hex') }) }
}

const CHUNK_BYTES = 1024 * 1024

/** Copies a file into a new one for its owner alone, durably. Creates the folder of the copy if needed. */
export async function copyFile(from: string, to: string): Promise<Digest> {
  makeFolder(dirname(to), 0o700)
  const { stream, digest } = digesting()
  const source = createReadStream(from, { highWaterMark: CHUNK_BYTES })
  await pipeline(source, stream, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }))
  return digest()
}

/** @param signal ends the reading with an error */
export async function digestOf(path: string, signal: AbortSignal): Promise<Digest> {
  const { stream, digest } = digesting()
  await pipeline(createReadStream(path, { highWaterMark: CHUNK_BYTES }), stream.resume(), { signal })
  return digest()
}

/** An error of the file system, e.g. of a full disk, as a message for the operator; other errors as they are. */
export const failureOf = (error: unknown): unknown =>
  error instanceof Error && 'syscall' in error ? new CommandFailed(error.message) : error

/** Makes the names of the entries of a folder durable. Windows does it itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The entries of a folder; none if it does not exist. The folder that ext4 has in each file system does not count. */
export async function entriesOf(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).filter(name => name !== 'lost+found')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new CommandFailed(`${path} ${code === 'ENOTDIR' ? 'is not a folder' : `cannot be read: ${code}`}`)
  }
}
