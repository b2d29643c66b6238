import { parseArgs } from 'node:util'
import { exportFormats, type FormatName } from '@gantry/audit-proofs'
import { Backoff, sleep } from '@gantry/messaging'
import { WrongUsage } from '../command.ts'
import { type Interruption, interruption } from '../interruption.ts'
import { fileOf, notice } from '../output.ts'
import { type Progress, progressBar } from '../progress.ts'
import { ConnectionLost, Refused, reasonOf } from '../remote/errors.ts'
import { type Query, type Remote, remoteOf } from '../remote/remote.ts'
import { type ExportFile, exportFile } from './export-file.ts'

export const USAGE = `usage: npm run audit -- export FILE [OPTION]...

Writes the audit log to a file, with the proofs that "audit verify" checks. An interrupted export is continued by the same
command.

  --format FORMAT    ndjson (default), csv or cef
  --after NUMBER     begin after the record of this number
  --text TERMS, --user USER, --action ACTION, --resource RESOURCE
                     only these records, as in GET /auditLog; of the others the file has the hashes
  --from TIME        begin with this time, e.g. 2026-11-22T00:00:00Z; --to TIME ends before a time`

const PAUSES = { firstMs: 500, longestMs: 30_000, jitter: 0.5 }
/** Without progress for this long the command gives up; before the first answer, earlier: BASE_URL may be wrong. */
const GIVE_UP_MS = 120_000
const FIRST_GIVE_UP_MS = 10_000

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
  const total = await totalOf(remote, ended.signal)
  const bar = progressBar('records')
  const pauses = new Backoff(PAUSES)
  let progressAt = performance.now()
  let giveUpMs = FIRST_GIVE_UP_MS
  try {
    while (!ended.signal.aborted) {
      const file = await exportFile(request.path, request.format)
      try {
        if (file.last?.trailer.complete) return completed(request.path, file, ended)
        await receive(remote, request, { file, bar, total, signal: ended.signal })
      } catch (error) {
        if (ended.signal.aborted) break
        if (!(error instanceof ConnectionLost || (error instanceof Refused && error.isTemporary))) throw error
        if (file.reached > (file.last?.trailer.after.number ?? 0)) {
          progressAt = performance.now()
          giveUpMs = GIVE_UP_MS
          pauses.reset()
        }
        if (performance.now() - progressAt > giveUpMs) throw error
        const pauseMs = Math.max(pauses.next(), (error instanceof Refused && error.retryAfterMs) || 0)
        notice(`${error.message}; trying again in ${(pauseMs / 1_000).toFixed(1)} s`)
        await sleep(pauseMs, { signal: ended.signal })
      } finally {
        await file.close()
      }
    }
  } finally {
    bar.end()
  }
  notice(`The export is not complete: repeat the command to continue ${request.path}`)
  return ended.code(1)
}

function completed(path: string, { last }: ExportFile, ended: Interruption): number {
  const { count, omitted, after } = last?.trailer ?? { count: 0, omitted: 0, after: { number: 0 } }
  const others = omitted > 0 ? `, and the hashes of ${omitted} others` : ''
  notice(`${path} is complete: ${count} records${others}, up to number ${after.number}`)
  notice(`Later records: --after ${after.number} with another file`)
  return ended.code(0)
}

/** @throws WrongUsage */
function requestIn(args: string[], environment: NodeJS.ProcessEnv): Request {
  const refuse = (reason: string) => new WrongUsage(`${reason}\n${USAGE}`)
  const text = { type: 'string' } as const
  const parsed = () => {
    try {
      const filters = { text, user: text, action: text, resource: text, from: text, to: text }
      const options = { ...filters, format: { ...text, default: 'ndjson' }, after: text }
      return parseArgs({ args, options, allowPositionals: true })
    } catch (error) {
      throw refuse((error as Error).message)
    }
  }
  const { values, positionals } = parsed()
  const { format, after, from, to, ...others } = values
  if (positionals.length !== 1) throw refuse('takes one argument')
  if (!Object.hasOwn(exportFormats, format)) throw refuse(`there is no format ${format}`)
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw refuse('--after takes the number of a record')
  const instant = (time: string | undefined) => {
    if (time !== undefined && Number.isNaN(Date.parse(time))) throw refuse(`${time} is no time`)
    return time === undefined ? undefined : new Date(time).toISOString()
  }
  return {
    path: fileOf(positionals[0] ?? '', environment),
    format: format as FormatName,
    filter: { ...others, from: instant(from), to: instant(to) },
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
  file: ExportFile
  bar: Progress
  total: number
  signal: AbortSignal
}

/** Appends one answer to the file, up to its end. @throws Refused, ConnectionLost */
async function receive(
  remote: Remote,
  { format, filter, after }: Request,
  { file, bar, total, signal }: Receiving,
): Promise<void> {
  const begin = file.last?.trailer.after.number ?? Number(after ?? 0)
  const place = file.last ? { trailer: Buffer.from(file.last.json).toString('base64url') } : { after }
  const answer = await remote.get(
    '/auditLog/export',
    { ...filter, ...place, format },
    { accept: '*/*', signal },
  )
  try {
    for await (const chunk of answer.body ?? []) {
      await file.append(chunk as Uint8Array)
      const count = file.reached - begin
      bar.show(total > begin ? count / (total - begin) : 0, Math.max(0, count))
    }
  } catch (error) {
    throw new ConnectionLost(`the connection was lost: ${reasonOf(error)}`)
  }
}
