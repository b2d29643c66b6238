import { CommandFailed } from './command.ts'
import { LineFile } from './line-file.ts'

/** A file of lines that a stopped command continues. */
export interface ResumableFile {
  /** The last complete line; undefined when there is none. */
  readonly lastLine: string | undefined
  /** @throws CommandFailed when the file cannot be written, e.g. because the disk is full */
  append(lines: readonly string[]): Promise<void>
  /** Writes everything to the disk and closes the file. */
  close(): Promise<void>
}

interface OwnLines {
  /** Whether a complete line can be part of such a file. */
  isOwn(line: string): boolean
  /** What each line begins with. */
  beginning: string
}

/**
 * Opens or creates a file of lines. An incomplete line at its end, which a killed command or a full disk leaves, is removed.
 * A file of other lines is not changed: the last complete line decides, or without one the beginning of the first.
 * @throws CommandFailed when the file cannot be used
 */
export async function resumableFile(path: string, own: OwnLines): Promise<ResumableFile> {
  const file = await LineFile.open(path)
  try {
    const { lastLine, end } = await lastLineOf(file, own)
    await file.truncate(end)
    return {
      lastLine,
      append: lines => file.append(Buffer.from(lines.map(line => `${line}\n`).join(''))),
      close: () => file.close(),
    }
  } catch (error) {
    await file.abandon()
    throw error
  }
}

/** @returns the last complete line and the length of the file up to its end */
async function lastLineOf(
  file: LineFile,
  { isOwn, beginning }: OwnLines,
): Promise<{ lastLine: string | undefined; end: number }> {
  const refusal = new CommandFailed(
    `${file.path} exists and is no export that this command can continue: name another file`,
  )
  let incomplete = ''
  for await (const { bytes, end, isComplete } of file.backwards()) {
    const text = bytes.toString()
    if (isComplete && isOwn(text)) return { lastLine: text, end }
    if (isComplete) throw refusal
    incomplete = text
  }
  if (!incomplete.startsWith(beginning) && !beginning.startsWith(incomplete)) throw refusal
  return { lastLine: undefined, end: 0 }
}
