import { createHash, type Hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { ChainPoint } from './chain.ts'
import { exportFormats, type FormatName } from './formats.ts'
import {
  type Line,
  type PersonalFields,
  type Pseudonyms,
  recordLine,
  type StoredRecord,
  type UserNames,
} from './lines.ts'
import {
  type AuditKey,
  type AuditSigner,
  type DayRoot,
  type RecordPlace,
  signStatement,
  type Trailer,
} from './statements.ts'

export interface ChainedRecord extends ChainPoint {
  recordHash: string
  /** Canonical JSON of the stored form. */
  record: string
}

/** What a record line has beside the record. */
export interface RecordNames {
  /** The users whom the record names, as far as their names are known. */
  users?: readonly UserNames[]
  personal?: PersonalFields
  pseudonyms?: Pseudonyms
}

/** What an interrupted export contains up to the trailer where it is continued. */
export type ExportedSoFar = Pick<Trailer, 'before' | 'count' | 'omitted' | 'first' | 'last'>

export interface ExportWriterOptions {
  format: FormatName
  filter: Readonly<Record<string, unknown>>
  /** The chain before the first record that is passed. */
  from: ChainPoint
  /** For the continuation of an interrupted export. */
  soFar?: ExportedSoFar
  /** Public keys, for verifiers that have no others. */
  keys: readonly AuditKey[]
  /** Day roots that end after `from`, in the order of days. They are written where they belong. */
  roots: readonly { root: DayRoot; signature: string }[]
  signer: AuditSigner
  now(): Date
}

/** Maximum number of records that are left out in one line, which then fits a cell of a spreadsheet: 32,767 characters. */
const OMITTED_PER_LINE = 450

/**
 * Writes the lines of an export. Pass every record of the chain in order, either to `record` or to `omitted`, then call
 * `trailer(true)`. Call `trailer(false)` from time to time: an interrupted export can be continued after it. Each function
 * returns text to send; it may be empty.
 */
export class ExportWriter {
  readonly #options: ExportWriterOptions
  readonly #users = new Map<string, UserNames>()
  readonly #start: ChainPoint
  #content: Hash = createHash('sha256')
  #at: ChainPoint
  #count: number
  #omittedCount: number
  #first: RecordPlace | null
  #last: RecordPlace | null
  #omitted: string[] = []
  #nextRoot = 0

  constructor(options: ExportWriterOptions) {
    const { from, soFar } = options
    this.#options = options
    this.#start = soFar?.before ?? from
    this.#at = from
    this.#count = soFar?.count ?? 0
    this.#omittedCount = soFar?.omitted ?? 0
    this.#first = soFar?.first ?? null
    this.#last = soFar?.last ?? null
  }

  /** The first lines. */
  begin(): string {
    const { format, filter, from, keys, soFar } = this.#options
    const preamble = soFar ? '' : exportFormats[format].preamble
    this.#content.update(preamble)
    return (
      preamble +
      this.#line({ header: { version: 1, filter, before: from } }) +
      this.#line({ keys: [...keys] })
    )
  }

  record(chained: ChainedRecord, { users = [], personal, pseudonyms }: RecordNames = {}): string {
    let text = this.#flushOmitted()
    for (const user of users) {
      if (this.#users.has(user.id)) continue
      this.#users.set(user.id, user)
      text += this.#line({ user })
    }
    const { chainHash, number, position, record } = chained
    const place = { number, position }
    this.#first ??= place
    this.#last = place
    this.#count++
    this.#at = { number, position, chainHash }
    const fields = { chainHash, number, ...(personal && { personal }), ...(pseudonyms && { pseudonyms }) }
    const json = recordLine(fields, record)
    const { format } = this.#options
    const parsed = format === 'ndjson' ? undefined : (JSON.parse(record) as StoredRecord)
    text += this.#rendered({ ...fields, record: parsed as StoredRecord }, json)
    return text + this.#rootsHere()
  }

  omitted({ chainHash, number, position, recordHash }: Omit<ChainedRecord, 'record'>): string {
    this.#omitted.push(recordHash)
    this.#omittedCount++
    this.#at = { number, position, chainHash }
    const isFull = this.#omitted.length === OMITTED_PER_LINE
    const endsDay = this.#options.roots[this.#nextRoot]?.root.after.number === number
    return isFull || endsDay ? this.#flushOmitted() + this.#rootsHere() : ''
  }

  /** A signed statement about everything since the beginning of the export. @param complete whether the export ends here */
  trailer(complete: boolean): string {
    const text = this.#flushOmitted()
    const { filter, signer, now } = this.#options
    const trailer: Trailer = {
      complete,
      count: this.#count,
      omitted: this.#omittedCount,
      first: this.#first,
      last: this.#last,
      before: this.#start,
      after: this.#at,
      filter,
      content: this.#content.digest('hex'),
      kid: signer.kid,
      signedAt: now().toISOString(),
    }
    this.#content = createHash('sha256')
    this.#users.clear()
    const line = { signature: signStatement({ trailer }, signer), trailer }
    return text + exportFormats[this.#options.format].render(line, canonicalJson(line), this.#users)
  }

  #flushOmitted(): string {
    if (this.#omitted.length === 0) return ''
    const { chainHash, number } = this.#at
    const line = { chainHash, number, omitted: this.#omitted }
    this.#omitted = []
    return this.#line(line)
  }

  /** The roots of the days that end here. */
  #rootsHere(): string {
    let text = ''
    for (;;) {
      const next = this.#options.roots[this.#nextRoot]
      if (!next || next.root.after.number > this.#at.number) return text
      this.#nextRoot++
      text += this.#line(next)
    }
  }

  #line(line: Line): string {
    return this.#rendered(line, canonicalJson(line))
  }

  #rendered(line: Line, json: string): string {
    const text = exportFormats[this.#options.format].render(line, json, this.#users)
    this.#content.update(text)
    return text
  }
}
