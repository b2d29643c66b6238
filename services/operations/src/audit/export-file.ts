import { exportFormats, type FormatName, parseError, parseTrailer, type Trailer } from '@gantry/audit'
import { CommandFailed, harmless } from '../command.ts'
import { LineFile } from '../line-file.ts'

/** A file with an export, which may be incomplete. */
export interface ExportFile {
  /**
   * The last trailer, with the line of JSON as the service wrote it. Undefined when there is none yet.
   * @throws CommandFailed when the file ends with an error of the service
   */
  last(): Promise<{ trailer: Trailer; json: string } | undefined>
  /** @throws CommandFailed when the file cannot be written, e.g. because the disk is full */
  append(bytes: Uint8Array): Promise<void>
  /** Number of the last record that the bytes appended since the opening show. */
  readonly reached: number
  close(): Promise<void>
}

const FORMATS = Object.keys(exportFormats) as FormatName[]
/** The number of a record line. In CSV the quotation marks of a line are doubled. */
const NUMBER = /"chainHash"{1,2}:"{1,2}[0-9a-f]{64}"{1,2},"{1,2}number"{1,2}:(\d+)/g

/**
 * Opens or creates the file of an export. What follows the last trailer is removed: an export continues after a trailer.
 * @throws CommandFailed when the file is something else, or an export in another format
 */
export async function exportFile(path: string, format: FormatName): Promise<ExportFile> {
  const file = await LineFile.open(path)
  try {
    await requireFormat(file, format)
    const found = await lastTrailer(file, format)
    await file.truncate(found?.end ?? 0)
    let reached = found?.trailer.after.number ?? 0
    return {
      async last() {
        const reason = await errorIn(file, format)
        if (reason) throw new CommandFailed(`the service ended the export: ${harmless(reason)}`)
        return lastTrailer(file, format)
      },
      get reached() {
        return reached
      },
      async append(bytes) {
        await file.append(bytes)
        const shown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
        for (const [, number] of shown.matchAll(NUMBER)) reached = Math.max(reached, Number(number))
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.abandon()
    throw error
  }
}

async function requireFormat(file: LineFile, format: FormatName): Promise<void> {
  const longest = Math.max(...FORMATS.map(name => exportFormats[name].start.length))
  const beginning = (await file.beginning(longest)).toString('latin1')
  const { start } = exportFormats[format]
  if (beginning.startsWith(start) || start.startsWith(beginning)) return
  const found = FORMATS.find(name => beginning.startsWith(exportFormats[name].start))
  throw new CommandFailed(
    found
      ? `${file.path} is an export as ${found}: continue it with --format ${found}, or name another file`
      : `${file.path} exists and is no export: name another file`,
  )
}

interface FoundTrailer {
  trailer: Trailer
  json: string
  /** Length of the file up to the end of the line. */
  end: number
}

async function errorIn(file: LineFile, format: FormatName): Promise<string | undefined> {
  for await (const { bytes, isComplete } of file.backwards())
    return isComplete ? parseError(exportFormats[format].jsonIn(bytes.toString()) ?? '') : undefined
  return undefined
}

async function lastTrailer(file: LineFile, format: FormatName): Promise<FoundTrailer | undefined> {
  for await (const { bytes, end, isComplete } of file.backwards()) {
    if (!isComplete || !bytes.includes('"trailer"')) continue
    const json = exportFormats[format].jsonIn(bytes.toString())
    const found = json === undefined ? undefined : parseTrailer(json)
    if (json !== undefined && found) return { trailer: found.trailer, json, end }
  }
  return undefined
}
