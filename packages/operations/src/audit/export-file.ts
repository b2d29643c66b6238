import { type FileHandle, open } from 'node:fs/promises'
import { exportFormats, type FormatName, type Trailer } from '@gantry/audit-proofs'
import { CommandFailed } from '../command.ts'

/** A file with an export, which may be incomplete. */
export interface ExportFile {
  /** The last trailer, also as the service wrote it: a line of JSON. Undefined when there is none yet. */
  last(): Promise<{ trailer: Trailer; json: string } | undefined>
  /** @throws CommandFailed when the file cannot be written, e.g. because the disk is full */
  append(bytes: Uint8Array): Promise<void>
  /** Number of the last record that the bytes appended since the opening show. */
  readonly reached: number
  close(): Promise<void>
}

const FORMATS = Object.keys(exportFormats) as FormatName[]
const BLOCK = 1_048_576
const NEWLINE = 0x0a
/** The number of a record line. In CSV the quotation marks of a line are doubled. */
const NUMBER = /"chainHash"{1,2}:"{1,2}[0-9a-f]{64}"{1,2},"{1,2}number"{1,2}:(\d+)/g
const TRAILER = /"trailer"/

/**
 * Opens or creates the file of an export. What follows the last trailer is removed: an export continues after a trailer.
 * @throws CommandFailed when the file is something else, or an export in another format
 */
export async function exportFile(path: string, format: FormatName): Promise<ExportFile> {
  const file = await open(path, 'a+', 0o600).catch(error => {
    throw new CommandFailed(`cannot write ${path}: ${(error as Error).message}`)
  })
  try {
    const { size } = await file.stat()
    await requireFormat(file, size, { path, format })
    const found = await lastTrailer(file, size, format)
    await file.truncate(found?.end ?? 0)
    let reached = found?.trailer.after.number ?? 0
    return {
      last: async () => lastTrailer(file, (await file.stat()).size, format),
      get reached() {
        return reached
      },
      async append(bytes) {
        await file.appendFile(bytes).catch(error => {
          throw new CommandFailed(`cannot write ${path}: ${(error as Error).message}`)
        })
        const shown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
        for (const [, number] of shown.matchAll(NUMBER)) reached = Math.max(reached, Number(number))
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

async function requireFormat(
  file: FileHandle,
  size: number,
  { path, format }: { path: string; format: FormatName },
): Promise<void> {
  const longest = Math.max(...FORMATS.map(name => exportFormats[name].start.length))
  const beginning = (await bytesOf(file, 0, Math.min(size, longest))).toString('latin1')
  const { start } = exportFormats[format]
  if (beginning.startsWith(start) || start.startsWith(beginning)) return
  const found = FORMATS.find(name => beginning.startsWith(exportFormats[name].start))
  throw new CommandFailed(
    found
      ? `${path} is an export as ${found}: continue it with --format ${found}, or name another file`
      : `${path} exists and is no export: name another file`,
  )
}

interface FoundTrailer {
  trailer: Trailer
  json: string
  /** Length of the file up to the end of the line. */
  end: number
}

/** Reads lines from the end of the file. An incomplete last line is skipped. */
async function lastTrailer(
  file: FileHandle,
  size: number,
  format: FormatName,
): Promise<FoundTrailer | undefined> {
  let rest = Buffer.alloc(0)
  for (let to = size; to > 0; ) {
    const from = Math.max(0, to - BLOCK)
    const bytes = Buffer.concat([await bytesOf(file, from, to), rest])
    let end = bytes.lastIndexOf(NEWLINE)
    while (end >= 0) {
      const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1)
      if (before < 0 && from > 0) break
      const found = trailerIn(bytes.subarray(before + 1, end), format)
      if (found) return { ...found, end: from + end + 1 }
      end = before
    }
    rest = bytes.subarray(0, end + 1)
    to = from
  }
  return undefined
}

function trailerIn(line: Buffer, format: FormatName): { trailer: Trailer; json: string } | undefined {
  const text = line.toString()
  if (!TRAILER.test(text)) return undefined
  try {
    const json = exportFormats[format].jsonIn(text) ?? ''
    const { trailer } = JSON.parse(json) as { trailer?: Trailer }
    return trailer && { trailer, json }
  } catch {
    return undefined
  }
}

async function bytesOf(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from)
  await file.read(bytes, 0, bytes.length, from)
  return bytes
}
