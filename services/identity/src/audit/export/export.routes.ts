import { Readable } from 'node:stream'
import {
  AuditLogBroken,
  type ChainPoint,
  canonicalJson,
  type ExportedSoFar,
  errorLine,
  exportFormats,
  type FormatName,
  parseTrailer,
  refutes,
  UserKeyMissing,
} from '@gantry/audit'
import { EXPORT_MEDIA_TYPES, exportAuditLog, invalidField, type Parsed, Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import type { AddRoute } from '@gantry/service-runtime'
import Negotiator from 'negotiator'
import type { Accesses } from '../access/accesses.ts'
import type { AuditFilter } from '../log/filter.ts'
import { exportedText } from './export.ts'
import type { ExportSlots } from './slots.ts'
import type { AuditSource } from './source.ts'

export interface ExportRoutes {
  source: AuditSource
  accesses: Pick<Accesses, 'record'>
  /** Waits for a limited time until the audit log has all changes. @throws Refusal unavailable */
  upToDate(): Promise<void>
  slots: ExportSlots
  now(): Date
  log: Pick<Log, 'error'>
}

type Query = Parsed<NonNullable<typeof exportAuditLog.query>>

const BUFFERED_BYTES = 65_536

export function exportRoutes(
  route: AddRoute,
  { source, accesses, upToDate, slots, now, log }: ExportRoutes,
): void {
  route(exportAuditLog, async ({ query, request, reply, principal, metadata }) => {
    const format = query.format ?? preferredFormat(request)
    const filter = filterOf(query)
    await upToDate()
    const last = (await source.end()).record
    // Some records up to the last one may still be being written. After this wait, all of them can be read.
    await upToDate()
    const begin = await beginning(query, filter, { source, last })
    const headers = {
      'content-type': exportFormats[format].contentType,
      'content-disposition': `attachment; filename="audit-log.${format}"`,
      'cache-control': 'no-store',
      // Otherwise proxies such as nginx buffer the export before they pass it on.
      'x-accel-buffering': 'no',
    }
    if (request.method === 'HEAD') return { status: 200, headers, body: Readable.from([]) }
    const releaseSlot = slots.take(principal.userId)
    reply.raw.once('close', releaseSlot)
    if (reply.raw.destroyed) releaseSlot()
    const range = { after: begin.from.number, through: last.number }
    const data = { format, filter: withoutNames(filter), ...range }
    const record = () => accesses.record({ type: 'AuditLogExported', data }, metadata)
    const text = recordingFirst(
      record,
      exportedText(source, { format, filter, ...begin, to: last.number, now }),
    )
    const body = Readable.from(endingWithError(text, format, log), {
      objectMode: false,
      highWaterMark: BUFFERED_BYTES,
    })
    return { status: 200, headers, body }
  })
}

/** The format that the caller prefers (RFC 9110 §12.5.1). @throws Refusal not-acceptable */
function preferredFormat(request: { headers: { accept?: string | undefined } }): FormatName {
  const mediaTypes = Object.values(EXPORT_MEDIA_TYPES)
  const preferred = new Negotiator(request).mediaType(mediaTypes)
  const found = Object.entries(EXPORT_MEDIA_TYPES).find(([, mediaType]) => mediaType === preferred)
  if (!found) throw new Refusal('not-acceptable', { detail: `the media types are ${mediaTypes.join(', ')}` })
  return found[0] as FormatName
}

/** The filters that are given, in the order of their names. */
function filterOf({ format: _, after: __, trailer: ___, ...filters }: Query): AuditFilter {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A filter as it is recorded: `user`, `text` and `resource` only if they are ids, because they can be names. */
const withoutNames = (filter: AuditFilter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).filter(
      ([name, value]) => ['from', 'to', 'action'].includes(name) || UUID.test(value),
    ),
  )

interface Beginning {
  from: ChainPoint
  soFar?: ExportedSoFar
}

/** Where the export begins. @throws Refusal invalid-request */
async function beginning(
  { after, trailer: given }: Query,
  filter: AuditFilter,
  { source, last }: { source: AuditSource; last: ChainPoint },
): Promise<Beginning> {
  if (given === undefined) {
    const from = await source.pointAt(after ?? 0)
    if (!from) throw invalidField('after', `must not be after the last record, which is ${last.number}`)
    return { from }
  }
  if (after !== undefined) throw invalidField('after', 'must be left out when trailer is given')
  const line = parseTrailer(Buffer.from(given, 'base64url').toString())
  if (!line) throw invalidField('trailer', 'must be the line of a trailer in base64url')
  const { trailer, signature } = line
  const problem = refutes({ trailer }, signature, await source.keys())
  if (problem) throw invalidField('trailer', `is not of this audit log: ${problem}`)
  if (trailer.complete) throw invalidField('trailer', 'ends its export: begin another one with after')
  if (canonicalJson(trailer.filter) !== canonicalJson(filter))
    throw invalidField('trailer', 'is of an export with other filters')
  const from = await source.pointAt(trailer.after.number)
  if (from?.chainHash !== trailer.after.chainHash)
    throw invalidField('trailer', 'is of an audit log that was replaced by an older copy since')
  const { before, count, omitted, first } = trailer
  return { from, soFar: { before, count, omitted, first, last: trailer.last } }
}

/** Passes text on, and calls `record` before the first part. A text that fails before that part is not recorded. */
async function* recordingFirst(
  record: () => Promise<void>,
  text: AsyncIterable<string>,
): AsyncGenerator<string> {
  let isRecorded = false
  for await (const part of text) {
    if (!isRecorded) await record()
    isRecorded = true
    yield part
  }
}

/**
 * Text that ends with an error in place of a trailer when the audit log was changed.
 * @throws Refusal unavailable when the key of a user is missing
 */
async function* endingWithError(
  text: AsyncIterable<string>,
  format: FormatName,
  log: Pick<Log, 'error'>,
): AsyncGenerator<string> {
  try {
    yield* text
  } catch (error) {
    if (error instanceof UserKeyMissing) throw new Refusal('unavailable', { detail: error.message })
    if (!(error instanceof AuditLogBroken)) throw error
    log.error({ problem: error.message }, 'an export of the audit log ended with an error')
    yield errorLine(format, error.message)
  }
}
