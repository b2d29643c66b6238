import { createHash, type Hash } from 'node:crypto'
import { parsedText } from '@gantry/event-sourcing'
import { canonicalJson } from './canonical-json.ts'
import { nextHash, sha256 } from './chain.ts'
import { exportFormats, type FormatName, formatOf } from './formats.ts'
import type { Header, Line, OmittedLine, RecordLine, StoredRecord, UserNames } from './lines.ts'
import { isStoredRecord, parsedLine } from './lines.ts'
import { type AuditKey, type RecordPlace, refutes, type Statement, type Trailer } from './statements.ts'

interface Seen {
  /** Number of records up to the end or the first broken one. */
  count: number
  /** Number of records that the filter left out. */
  omitted: number
  /** What limits the proof, as sentences. */
  warnings: string[]
  /** The chain hash after the record `at`; undefined when the export does not reach it. */
  chainHashAt?: string
}

/**
 * `trailer` is the last trailer with a valid signature. `broken` is the first broken or missing record; undefined when the
 * export is proven.
 */
export type Verification = Seen &
  ({ trailer: Trailer; broken?: undefined } | { trailer?: Trailer; broken: BrokenRecord })

interface BrokenRecord {
  /** Line of the file, from 1. */
  line: number
  /** Number in the chain of the first record that is not proven. */
  number: number
  /** Position and id, when the line can be read. */
  position?: string
  id?: string
  reason: string
}

/** Maximum length of a line of an export, in bytes. */
const LONGEST_LINE = 32 * 1024 * 1024
const LINE_FEED = 10
const CLOSING_BRACE = 125
/** The beginning of a record line without personal fields. */
const PLAIN_RECORD = /^\{"chainHash":"([0-9a-f]{64})","number":(\d{1,16}),"record":\{/
const LONGEST_HEAD = 120
const DAMAGED = 'this line is damaged: it contains no proof that can be read'

/** Thrown by the checks of a line. */
class Broken extends Error {
  readonly at: Partial<BrokenRecord>
  constructor(reason: string, at: Partial<BrokenRecord> = {}) {
    super(reason)
    this.at = at
  }
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * Verifies an export in any format. Memory does not depend on its size.
 * @param trusted the audit keys of the installation; without them, the keys in the export are used, with a warning
 * @param at number of the record whose chain hash is returned
 */
export async function verifyExport(
  chunks: Chunks,
  trusted?: readonly AuditKey[],
  at?: number,
): Promise<Verification> {
  const verifier = new ExportVerifier(trusted, { at })
  for await (const chunk of chunks) if (!verifier.write(chunk)) break
  return verifier.end()
}

/** The records of an export while it is verified. They are proven if the returned verification finds nothing broken. */
export async function* verifiedRecords(
  chunks: Chunks,
  trusted?: readonly AuditKey[],
): AsyncGenerator<StoredRecord, Verification> {
  let records: StoredRecord[] = []
  const verifier = new ExportVerifier(trusted, { record: record => void records.push(record) })
  for await (const chunk of chunks) {
    const goesOn = verifier.write(chunk)
    yield* records
    records = []
    if (!goesOn) break
  }
  return verifier.end()
}

/** What the caller wants to know besides the verification. */
interface Wanted {
  at?: number | undefined
  record?(record: StoredRecord): void
}

/** Verifies an export piece by piece. */
class ExportVerifier {
  readonly #trusted: boolean
  readonly #wanted: Wanted
  #chainHashAt: string | undefined
  readonly #keys = new Map<string, AuditKey>()
  readonly #users = new Map<string, UserNames>()
  readonly #warnings = new Set<string>()
  #format: FormatName | undefined
  /** The beginning of a line whose end is in a later piece. */
  #rest: Uint8Array[] = []
  #restLength = 0
  #content: Hash = createHash('sha256')
  #line = 0
  #header: Header | undefined
  /** The chain after the last line. */
  #number = 0
  #chainHash = ''
  #count = 0
  #omitted = 0
  #first: RecordPlace | null = null
  /** The last record, until `#lastPlace` reads its position. */
  #lastRecord: { number: number; record: Uint8Array | string } | undefined
  #last: RecordPlace | null = null
  #trailer: Trailer | undefined
  #broken: BrokenRecord | undefined

  constructor(trusted: readonly AuditKey[] | undefined, wanted: Wanted) {
    this.#trusted = trusted !== undefined
    this.#wanted = wanted
    for (const key of trusted ?? []) this.#keys.set(key.kid, key)
    if (!trusted)
      this.#warnings.add('the keys in the export itself are trusted: a forger could have replaced them')
  }

  /** @returns false once the file is broken, so that the rest need not be read */
  write(piece: Uint8Array): boolean {
    if (this.#broken) return false
    try {
      this.#lines(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
    } catch (error) {
      this.#breakAt(error)
    }
    return this.#broken === undefined
  }

  /** To be called once, after the last piece. */
  end(): Verification {
    const chainHashAt = this.#chainHashAt
    const seen = {
      count: this.#count,
      omitted: this.#omitted,
      warnings: [...this.#warnings],
      ...(chainHashAt !== undefined && { chainHashAt }),
    }
    let broken = this.#broken
    if (!broken)
      try {
        return { ...seen, trailer: this.#checkEnd() }
      } catch (error) {
        broken = this.#breakAt(error)
      }
    return { ...seen, ...(this.#trailer && { trailer: this.#trailer }), broken }
  }

  #breakAt(error: unknown): BrokenRecord {
    if (!(error instanceof Broken)) throw error
    this.#broken = { line: this.#line, number: this.#number + 1, reason: error.message, ...error.at }
    return this.#broken
  }

  /** @returns the trailer that ends the export */
  #checkEnd(): Trailer {
    const isEmpty = this.#line === 0 && this.#restLength === 0
    this.#line++
    if (isEmpty) throw new Broken('the file is empty')
    if (this.#restLength > 0) throw new Broken('the file ends in the middle of this line')
    if (!this.#trailer?.complete)
      throw new Broken(
        'the export is cut off before this line: the line before it is no trailer that ends the export',
      )
    return this.#trailer
  }

  #lines(piece: Buffer): void {
    let start = 0
    /** Bytes from here on are not in the content hash yet. */
    let unhashed = 0
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
      const continued = this.#restLength > 0
      const bytes = continued
        ? Buffer.concat([...this.#rest, piece.subarray(0, end)])
        : piece.subarray(start, end)
      if (continued) {
        this.#rest = []
        this.#restLength = 0
      }
      this.#line++
      const trailer = this.#checkLine(bytes)
      if (trailer) {
        if (!continued) this.#content.update(piece.subarray(unhashed, start))
        this.#checkTrailer(trailer)
        unhashed = end + 1
      } else if (continued) {
        this.#content.update(bytes).update('\n')
        unhashed = end + 1
      }
      start = end + 1
    }
    this.#content.update(piece.subarray(unhashed, start))
    this.#lastPlace()
    if (start === piece.length) return
    // The piece may be reused by its owner.
    this.#rest.push(Buffer.from(piece.subarray(start)))
    this.#restLength += piece.length - start
    if (this.#restLength > LONGEST_LINE) {
      this.#line++
      throw new Broken('this line is too long for an audit export')
    }
  }

  /** @returns the line when it is a trailer */
  #checkLine(bytes: Buffer): { trailer: Trailer; signature: string } | undefined {
    if (this.#line === 1) {
      this.#format = formatOf(bytes.toString('latin1', 0, 100))
      if (!this.#format) throw new Broken('the file is no audit export')
      const { preamble } = exportFormats[this.#format]
      if (preamble !== '') {
        if (`${bytes.toString('latin1')}\n` !== preamble) throw new Broken('the column names were changed')
        return undefined
      }
    }
    if (this.#trailer?.complete) throw new Broken('the export has ended before this line')
    if (this.#format === 'ndjson' && this.#header && this.#checkPlainRecord(bytes)) return undefined
    return this.#checkParsed(bytes)
  }

  /** Checks a record line of NDJSON without personal fields. Its record is hashed as it is. @returns false for other lines */
  #checkPlainRecord(bytes: Buffer): boolean {
    const head = PLAIN_RECORD.exec(bytes.toString('latin1', 0, LONGEST_HEAD))
    if (!head || bytes.at(-1) !== CLOSING_BRACE) return false
    const [{ length }, chainHash = '', number] = head
    const record = bytes.subarray(length - 1, -1)
    this.#advance(Number(number), chainHash, record)
    this.#counted(Number(number), record)
    return true
  }

  #checkParsed(bytes: Buffer): { trailer: Trailer; signature: string } | undefined {
    const { jsonIn, render } = exportFormats[this.#format ?? 'ndjson']
    const text = decoded(bytes)
    const json = text === undefined ? undefined : jsonIn(text)
    if (json === undefined) throw new Broken(DAMAGED)
    const line = this.#checkShownRecord(json) ?? this.#checkOther(json)
    if ('user' in line) this.#users.set(line.user.id, line.user)
    if (render(line, json, this.#users) !== `${text}\n`)
      throw new Broken(
        'what this line shows differs from the record that it proves',
        'record' in line ? placeOf(line) : {},
      )
    return 'trailer' in line ? line : undefined
  }

  /** Checks a record line of CSV or CEF without personal fields. @returns the line; undefined for other lines */
  #checkShownRecord(json: string): RecordLine | undefined {
    const head = PLAIN_RECORD.exec(json)
    if (!head || !json.endsWith('}')) return undefined
    const [{ length }, chainHash = '', number] = head
    const text = json.slice(length - 1, -1)
    this.#advance(Number(number), chainHash, text)
    const record = parsedText(text)
    if (!isStoredRecord(record)) throw new Broken(DAMAGED)
    this.#counted(Number(number), text)
    return { chainHash, number: Number(number), record }
  }

  #checkOther(json: string): Line {
    const line = parsedLine(json)
    if (line === undefined || canonicalJson(line) !== json) throw new Broken(DAMAGED)
    if ('record' in line) this.#checkRecord(line)
    else if ('omitted' in line) this.#checkOmitted(line)
    else if ('header' in line) this.#checkHeader(line.header)
    else if ('root' in line) this.#checkRoot(line)
    else if ('keys' in line) this.#addKeys(line.keys)
    else if ('error' in line) throw new Broken(`the service ended the export: ${line.error.reason}`)
    return line
  }

  #checkHeader({ version, filter, before }: Header): void {
    if (version !== 1) throw new Broken(`version ${version} of the format is unknown`)
    if (!this.#header) {
      this.#header = { version, filter, before }
      this.#reached(before.number, before.chainHash)
      return
    }
    if (canonicalJson(this.#header.filter) !== canonicalJson(filter))
      throw new Broken('the filter of this continuation is not that of the export')
    if (before.number !== this.#number || before.chainHash !== this.#chainHash)
      throw new Broken(`this continuation begins after record ${before.number}, not after ${this.#number}`)
  }

  #checkRecord(line: RecordLine): void {
    const { number, chainHash, personal, record } = line
    const text = canonicalJson(record)
    this.#advance(number, chainHash, text)
    if (personal && sha256(canonicalJson(personal)) !== record.commitment)
      throw new Broken('the personal fields of this record were changed', placeOf(line))
    this.#counted(number, text)
  }

  #checkOmitted({ number, chainHash, omitted }: OmittedLine): void {
    this.#requireHeader()
    const first = this.#number + 1
    const last = this.#number + omitted.length
    if (number !== last)
      throw new Broken(
        `this line has ${omitted.length} hashes of omitted records, but ends with record ${number}`,
      )
    for (const recordHash of omitted) this.#reached(this.#number + 1, nextHash(this.#chainHash, recordHash))
    if (this.#chainHash !== chainHash)
      throw new Broken(`the hashes of the omitted records ${first} to ${last} were changed`, {
        number: first,
      })
    this.#omitted += omitted.length
  }

  #checkRoot(line: Extract<Line, { root: unknown }>): void {
    this.#requireHeader()
    const { root, signature } = line
    this.#checkSignature({ root }, signature, `the root of ${root.day}`)
    const { number, chainHash } = root.after
    if (number !== this.#number)
      throw new Broken(`the root of ${root.day} ends with record ${number}, not with ${this.#number}`)
    if (chainHash !== this.#chainHash)
      throw new Broken(`the records differ from those whose root was signed for ${root.day}`, {
        number: Math.min(this.#number, root.before.number + 1),
      })
  }

  /** Checks that a record follows the one before it. @param record its canonical JSON */
  #advance(number: number, chainHash: string, record: Uint8Array | string): void {
    this.#requireHeader()
    const expected = this.#number + 1
    if (number !== expected) {
      const reason =
        number > expected
          ? `record ${expected} is missing: record ${number} follows record ${this.#number}`
          : `record ${number} is repeated or not in order: it follows record ${this.#number}`
      throw new Broken(reason)
    }
    if (nextHash(this.#chainHash, sha256(record)) !== chainHash)
      throw new Broken(
        'this record was changed: its hash does not lead from the chain hash before it to the one after it',
        placeIn(record),
      )
    this.#reached(number, chainHash)
  }

  #reached(number: number, chainHash: string): void {
    this.#number = number
    this.#chainHash = chainHash
    if (number === this.#wanted.at) this.#chainHashAt = chainHash
  }

  #counted(number: number, record: Uint8Array | string): void {
    this.#count++
    this.#wanted.record?.(JSON.parse(record.toString()))
    this.#lastRecord = { number, record }
    this.#first ??= this.#lastPlace()
  }

  #lastPlace(): RecordPlace | null {
    if (!this.#lastRecord) return this.#last
    const { number, record } = this.#lastRecord
    this.#last = { number, position: placeIn(record).position ?? '' }
    this.#lastRecord = undefined
    return this.#last
  }

  #requireHeader(): void {
    if (!this.#header)
      throw new Broken('the export is cut off before this line: it does not begin with a header')
  }

  #addKeys(keys: readonly AuditKey[]): void {
    for (const key of keys) {
      const known = this.#keys.get(key.kid)
      if (this.#trusted) {
        if (!known)
          this.#warnings.add(`the export contains the key ${key.kid}, which is not among the trusted keys`)
      } else if (!known) this.#keys.set(key.kid, key)
    }
  }

  #checkSignature(statement: Statement, signature: string, name: string): void {
    const problem = refutes(statement, signature, [...this.#keys.values()])
    if (problem) throw new Broken(`${name} is not proven: ${problem}`)
    for (const { kid, revokedAt } of this.#keys.values())
      if (revokedAt !== null && kid === Object.values(statement)[0]?.kid)
        this.#warnings.add(
          `${name} is signed with ${kid}, which was revoked at ${revokedAt}: its time may be forged`,
        )
  }

  #checkTrailer({ trailer, signature }: { trailer: Trailer; signature: string }): void {
    this.#requireHeader()
    this.#checkSignature({ trailer }, signature, 'the trailer')
    const { before } = this.#header as Header
    const since = (this.#trailer?.after.number ?? before.number) + 1
    const content = this.#content.digest('hex')
    this.#content = createHash('sha256')
    if (canonicalJson(trailer.before) !== canonicalJson(before))
      throw new Broken(
        `the export begins after record ${trailer.before.number}, not after ${before.number}`,
        {
          number: trailer.before.number + 1,
        },
      )
    if (trailer.after.number !== this.#number)
      throw new Broken(
        `the signed trailer ends with record ${trailer.after.number}, not with ${this.#number}`,
        {
          number: Math.min(trailer.after.number, this.#number) + 1,
        },
      )
    const seen = { count: this.#count, omitted: this.#omitted, first: this.#first, last: this.#lastPlace() }
    const { count, omitted, first, last, filter, after } = trailer
    const said = { count, omitted, first, last }
    const records = `the records ${since} to ${this.#number}`
    const requirements: [boolean, string][] = [
      [after.chainHash === this.#chainHash, `${records} differ from those that the trailer was signed for`],
      [
        canonicalJson(said) === canonicalJson(seen),
        `the lines have ${canonicalJson(seen)}, the signed trailer says ${canonicalJson(said)}`,
      ],
      [
        canonicalJson(filter) === canonicalJson(this.#header?.filter ?? {}),
        'the filter is not the one that the trailer was signed for',
      ],
      [content === trailer.content, `a line since the last trailer was changed beside ${records}`],
    ]
    const unmet = requirements.find(([isMet]) => !isMet)
    if (unmet) throw new Broken(unmet[1], { number: since })
    this.#trailer = trailer
    this.#users.clear()
  }
}

function placeOf({ number, record }: RecordLine): Partial<BrokenRecord> {
  return { number, id: record.id, position: record.position }
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Id and position of a record, as far as it can be read. */
function placeIn(record: Uint8Array | string): Partial<BrokenRecord> {
  const text = typeof record === 'string' ? record : decoded(record)
  const value = text === undefined ? undefined : parsedText(text)
  return isStoredRecord(value) ? { id: value.id, position: value.position } : {}
}
