import { type FileHandle, open } from 'node:fs/promises'
import { CommandFailed } from './command.ts'

/** A file of lines that a stopped command continues. */
export interface ResumableFile {
  /** The last complete line; undefined when there is none. */
  readonly lastLine: string | undefined
  append(lines: readonly string[]): Promise<void>
  /** Writes everything to the disk and closes the file. */
  close(): Promise<void>
}

const NEWLINE = 0x0a
/** The search for the last line reads blocks of this size, and gives up at a longer line. */
const BLOCK = 65_536
const LONGEST_LINE = 16 * 1_048_576

/**
 * Opens or creates a file of lines. An incomplete line at its end, which a killed command or a full disk leaves, is removed.
 * @param isOwn whether the last line, complete or not, is one of such a file, so that no other file is changed
 * @throws CommandFailed when the file cannot be used
 */
export async function resumableFile(path: string, isOwn: (line: string) => boolean): Promise<ResumableFile> {
  const file = await open(path, 'a+', 0o600).catch(error => {
    throw new CommandFailed(`cannot write ${path}: ${(error as Error).message}`)
  })
  try {
    const { size } = await file.stat()
    const end = (await lastIndexOf(file, NEWLINE, size, path)) + 1
    const begin = end === 0 ? 0 : (await lastIndexOf(file, NEWLINE, end - 1, path)) + 1
    const lastLine = await textOf(file, begin, end === 0 ? size : end - 1)
    if (size > 0 && !isOwn(lastLine))
      throw new CommandFailed(
        `${path} exists and is no export that this command can continue: name another file`,
      )
    if (end < size) await file.truncate(end)
    return {
      lastLine: end === 0 ? undefined : lastLine,
      async append(lines) {
        await file.appendFile(lines.map(line => `${line}\n`).join(''))
      },
      async close() {
        await file.datasync()
        await file.close()
      },
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function textOf(file: FileHandle, begin: number, end: number): Promise<string> {
  const bytes = Buffer.alloc(Math.max(0, Math.min(end - begin, LONGEST_LINE)))
  await file.read(bytes, 0, bytes.length, begin)
  return bytes.toString()
}

/** Position of the last such byte before `end`; -1 when there is none. */
async function lastIndexOf(file: FileHandle, byte: number, end: number, path: string): Promise<number> {
  for (let to = end; to > 0; ) {
    if (end - to > LONGEST_LINE) throw new CommandFailed(`${path} is no export: it has a line of over 16 MiB`)
    const from = Math.max(0, to - BLOCK)
    const block = Buffer.alloc(to - from)
    await file.read(block, 0, block.length, from)
    const found = block.lastIndexOf(byte)
    if (found >= 0) return from + found
    to = from
  }
  return -1
}
