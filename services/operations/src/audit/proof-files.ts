import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { type AuditKey, type ChainHead, parseHead, refutes } from '@gantry/audit'
import { CommandFailed, notice } from '../command.ts'
import type { Progress } from '../progress.ts'

const CHUNK = 1_048_576
/** A file with a head is shorter. */
const LONGEST_HEAD = 1_048_576

/** The bytes of a file. @throws CommandFailed when it cannot be read */
export async function* chunksOf(path: string, bar?: Progress): AsyncGenerator<Buffer> {
  try {
    const { size } = await stat(path)
    let done = 0
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK })) {
      yield chunk as Buffer
      done += (chunk as Buffer).length
      bar?.show(done / size, done)
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new CommandFailed(`cannot read ${path}: ${error.message}`)
  }
}

/**
 * The head in a file; undefined when the file is something else.
 * @throws CommandFailed when the file cannot be read, or the keys do not prove the head
 */
export async function headIn(
  path: string,
  keys: readonly AuditKey[] | undefined,
): Promise<ChainHead | undefined> {
  const { size } = await stat(path).catch(error => {
    throw new CommandFailed(`cannot read ${path}: ${error.message}`)
  })
  const found = size > LONGEST_HEAD ? undefined : parseHead(await readFile(path, 'utf8'))
  if (!found) return undefined
  const { head, signature } = found
  if (!keys) notice(`warning: ${path}: the signature of the head is not checked without --keys`)
  const problem = keys && refutes({ head }, signature, keys)
  if (problem) throw new CommandFailed(`${path} proves nothing: ${problem}`)
  return head
}
