import { setImmediate } from 'node:timers/promises'
import {
  type AuditKey,
  type AuditSigner,
  type ChainedRecord,
  type ChainPoint,
  type DayRoot,
  type ExportedSoFar,
  ExportWriter,
  type FormatName,
  type RecordNames,
} from '@gantry/audit'
import type { AuditFilter } from '../log/filter.ts'

/** A record with what its line shows beside it. */
export interface ExportedRecord {
  chained: ChainedRecord
  names: RecordNames
}

/** The audit log as exports read it. */
export interface ExportSource {
  /** Records after a place in the chain, in order: at least one, at most `limit`. @throws AuditLogBroken */
  records(after: ChainPoint, limit: number): Promise<ExportedRecord[]>
  /** @throws AuditLogBroken unless the audit log leads to what was signed before */
  requireValid(): Promise<void>
  /** Resolves the username of a filter to the user that has it now. */
  selection(filter: AuditFilter): Promise<Selection>
  /** Roots of days that end after a record. */
  roots(after: number): Promise<readonly { root: DayRoot; signature: string }[]>
  keys(): Promise<readonly AuditKey[]>
  signer(): Promise<AuditSigner>
}

/** Numbers of the records from `after`, exclusive, to `to` that a filter lets pass. */
type Selection = (range: { after: number; to: number }) => Promise<ReadonlySet<number>>

export interface ExportRequest {
  format: FormatName
  filter: AuditFilter
  from: ChainPoint
  /** For the continuation of an interrupted export. */
  soFar?: ExportedSoFar | undefined
  /** Number of the last record. */
  to: number
  /** Time of the trailers. */
  now(): Date
  /** Records between two trailers: what an interrupted export has to repeat. Default: 5,000. */
  part?: number
}

/** Records that are read together. One page keeps the thread busy for a few milliseconds. */
const PAGE = 100
/** A text of this many characters is passed on. Larger ones would stay in memory until a full garbage collection. */
const TEXT_LENGTH = 32_768
const PART = 5_000

/**
 * The text of an export, in small pieces, so that memory does not depend on its length. Nothing is signed unless the audit log
 * is valid.
 * @throws AuditLogBroken
 */
export async function* exportedText(source: ExportSource, request: ExportRequest): AsyncGenerator<string> {
  const { format, filter, from, soFar, to, now, part = PART } = request
  const [keys, roots, signer] = await Promise.all([source.keys(), source.roots(from.number), source.signer()])
  const writer = new ExportWriter({ format, filter, from, ...(soFar && { soFar }), keys, roots, signer, now })
  const selection = Object.keys(filter).length > 0 ? await source.selection(filter) : undefined
  let text = writer.begin()
  for (let after = from; after.number < to; ) {
    const records = await source.records(after, Math.min(PAGE, to - after.number))
    const last = records.at(-1)?.chained ?? after
    const passing = await selection?.({ after: after.number, to: last.number })
    for (const { chained, names } of records) {
      text +=
        !passing || passing.has(chained.number) ? writer.record(chained, names) : writer.omitted(chained)
      if (chained.number % part === 0 && chained.number < to) {
        await source.requireValid()
        text += writer.trailer(false)
      }
      if (text.length < TEXT_LENGTH) continue
      yield text
      text = ''
    }
    after = last
    await setImmediate()
  }
  yield text
  await source.requireValid()
  yield writer.trailer(true)
}
