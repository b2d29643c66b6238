import { exportFormats, type FormatName, type Trailer } from '@gantry/audit'
import { fileOf, type Interruption, instant, interruption, notice, parsed, WrongUsage } from '../command.ts'
import { progressBar } from '../progress.ts'
import { chunksOf, type Query, type Remote, remoteOf } from '../remote/remote.ts'
import { FIRST_GIVE_UP_MS, Retries, TemporaryFailure } from '../retries.ts'
import { type ExportFile, exportFile } from './export-file.ts'

export const USAGE = `usage: npm run audit -- export FILE [OPTION]...

Writes the audit log to a file, with the proofs that "audit verify" checks. An interrupted export is continued by the same
command.

  --format FORMAT    ndjson (default), csv or cef
  --after NUMBER     begin after the record of this number
  --text TERMS, --user USER, --action ACTION, --resource RESOURCE
                     only these records, as in GET /auditLog; of the others the file has the hashes
  --from TIME        begin with this time, e.g. 2026-11-22T00:00:00Z; --to TIME ends before a time`

interface Request {
  path: string
  format: FormatName
  filter: Query
  after: string | undefined
}

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const request = requestIn(args, environment)
  const remote = remoteOf(environment)
  const ended = interruption()
  const { signal } = ended
  const bar = progressBar('records')
  const retries = new Retries({ signal, firstGiveUpMs: FIRST_GIVE_UP_MS })
  /** Number of the last record that was ever received. Records after the last trailer are received again. */
  let furthest = 0
  let trailer: Trailer | undefined
  try {
    const total = await retries.until(() => totalOf(remote, signal))
    retries.answered()
    const show = (part: number, count: number, reached: number) => {
      if (reached > furthest) retries.progress()
      furthest = Math.max(furthest, reached)
      bar.show(part, count)
    }
    trailer = await retries.until(() => continued(remote, request, { total: total ?? 0, signal, show }))
  } finally {
    bar.end()
  }
  if (trailer) return completed(request.path, trailer, ended)
  notice(`The export is not complete: repeat the command to continue ${request.path}`)
  return ended.code(1)
}

function completed(path: string, { count, omitted, after }: Trailer, ended: Interruption): number {
  const others = omitted > 0 ? `, and the hashes of ${omitted} others` : ''
  notice(`${path} is complete: ${count} records${others}, up to number ${after.number}`)
  notice(`Later records: --after ${after.number} with another file`)
  return ended.code(0)
}

/** @throws WrongUsage */
function requestIn(args: string[], environment: NodeJS.ProcessEnv): Request {
  const refuse = (reason: string) => new WrongUsage(`${reason}\n${USAGE}`)
  const text = { type: 'string' } as const
  const filters = { text, user: text, action: text, resource: text, from: text, to: text }
  const options = { ...filters, format: { ...text, default: 'ndjson' }, after: text }
  const { values, positionals } = parsed(USAGE, { args, options, allowPositionals: true })
  const { format, after, from, to, ...others } = values
  if (positionals.length !== 1) throw refuse('takes one argument')
  if (!Object.hasOwn(exportFormats, format)) throw refuse(`there is no format ${format}`)
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw refuse('--after takes the number of a record')
  return {
    path: fileOf(positionals[0] ?? '', environment),
    format: format as FormatName,
    filter: { ...others, from: instant(from, USAGE), to: instant(to, USAGE) },
    after,
  }
}

/** Number of records in the audit log, for the progress. */
async function totalOf(remote: Remote, signal: AbortSignal): Promise<number> {
  const answer = await remote.get('/auditLog', { size: '1' }, { accept: 'application/json', signal })
  const { totalElements } = (await answer.json()) as { totalElements?: number }
  return totalElements ?? 0
}

interface Receiving {
  /** Number of records in the audit log. */
  total: number
  signal: AbortSignal
  /** @param part of the records from 0 to 1 @param count of records @param reached number of the last record */
  show(part: number, count: number, reached: number): void
}

/** Continues the file with one response. @returns the trailer of the complete export @throws CommandFailed */
async function continued(remote: Remote, request: Request, receiving: Receiving): Promise<Trailer> {
  const file = await exportFile(request.path, request.format)
  try {
    const before = await file.last()
    if (before?.trailer.complete) return before.trailer
    await receive(remote, request, { ...receiving, file, before })
    const last = await file.last()
    if (last?.trailer.complete) return last.trailer
    throw new TemporaryFailure('the response has ended before the export')
  } finally {
    await file.close()
  }
}

type Last = Awaited<ReturnType<ExportFile['last']>>

/** Appends one response to the file. */
async function receive(
  remote: Remote,
  { format, filter, after }: Request,
  { file, before, total, signal, show }: Receiving & { file: ExportFile; before: Last },
): Promise<void> {
  const begin = before?.trailer.after.number ?? Number(after ?? 0)
  const place = before ? { trailer: Buffer.from(before.json).toString('base64url') } : { after }
  const query = { ...filter, ...place, format }
  const answer = await remote.get('/auditLog/export', query, { accept: '*/*', signal })
  for await (const chunk of chunksOf(answer)) {
    await file.append(chunk)
    const count = Math.max(0, file.reached - begin)
    show(total > begin ? count / (total - begin) : 0, count, file.reached)
  }
}
