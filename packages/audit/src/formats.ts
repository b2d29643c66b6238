import { canonicalJson } from './canonical-json.ts'
import type { Line, RecordLine, UserNames } from './lines.ts'

/**
 * A text form of an export, with one line for each line of NDJSON. A text line contains the NDJSON line, and all its
 * other content is computed from that line.
 */
interface ExportFormat {
  contentType: string
  /** Text before the first line; the empty string for none. */
  preamble: string
  /** What every export begins with: the first line is the header. */
  start: string
  /** @param json canonical JSON of the line @param users names of the users of this part @returns text that ends with a line feed */
  render(line: Line, json: string, users: ReadonlyMap<string, UserNames>): string
  /** @param text a line without its line feed @returns the JSON that the text contains; undefined when it has none */
  jsonIn(text: string): string | undefined
}

const isRecord = (line: Line): line is RecordLine => 'record' in line

/** Control characters and line separators as JSON writes them, so that a value is one line. */
const oneLine = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, character => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${code}`
  })

/** What readers see of a record. */
function readable({ number, personal, record }: RecordLine, users: ReadonlyMap<string, UserNames>) {
  const { actor, details } = record
  const user = actor.id === null ? undefined : users.get(actor.id)
  const { displayName, name }: Record<string, unknown> = details.after ?? details.before ?? {}
  const side = (name: 'before' | 'after') => {
    const value = details[name]
    if (!value) return ''
    return personal ? canonicalJson({ ...value, ...personal[name] }) : JSON.stringify(value)
  }
  return {
    number: String(number),
    position: record.position,
    id: record.id,
    timestamp: record.timestamp,
    recordedAt: record.recordedAt,
    userId: actor.id ?? '',
    username: user?.username ?? (actor.name === actor.id ? '' : actor.name),
    action: record.action,
    resourceType: record.resourceType,
    resourceId: record.resourceId,
    resourceName: String(displayName ?? name ?? ''),
    environment: record.environment ?? '',
    requestId: record.requestId,
    before: side('before'),
    after: side('after'),
  }
}

const ndjson: ExportFormat = {
  contentType: 'application/x-ndjson',
  preamble: '',
  start: '{"header":{',
  render: (_line, json) => `${json}\n`,
  jsonIn: text => text,
}

const COLUMNS = [
  'number',
  'position',
  'id',
  'timestamp',
  'recordedAt',
  'userId',
  'username',
  'action',
  'resourceType',
  'resourceId',
  'resourceName',
  'environment',
  'requestId',
  'before',
  'after',
] as const

/** A cell of CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe. */
const cell = (text: string) => {
  const value = oneLine(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
  return /[",]/.test(value) ? quoted(value) : value
}
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

const COLUMN_NAMES = `${COLUMNS.join(',')},proof\r\n`

/** The last cell, `proof`, contains the line. Rows that are no records have no other cell. */
const csv: ExportFormat = {
  contentType: 'text/csv; charset=utf-8; header=present',
  preamble: COLUMN_NAMES,
  start: COLUMN_NAMES,
  render(line, json, users) {
    const values = isRecord(line) ? readable(line, users) : undefined
    return `${COLUMNS.map(column => (values ? cell(values[column]) : '')).join(',')},${quoted(json)}\r\n`
  },
  jsonIn(text) {
    // Within a quoted cell, no quotation mark stands alone, so this is the beginning of the last one.
    const start = text.lastIndexOf(',"{')
    return start === -1 ? undefined : text.slice(start + 2, -2).replaceAll('""', '"')
  },
}

const cefHeader = (text: string) => oneLine(text).replace(/[\\|]/g, '\\$&')
const cefValue = (text: string) => oneLine(text).replace(/[\\=]/g, '\\$&')
const cefProof = (json: string) => json.replace(/[\\=]/g, '\\$&')
const PROOF = ' gantryProof='
/** The beginning of a line that is no record. */
const PROOF_EVENT = 'CEF:0|Gantry|Gantry|1|proof|Audit proof|0|cat=proof'

/** The last extension, `gantryProof`, contains the line. */
const cef: ExportFormat = {
  contentType: 'text/plain; charset=utf-8',
  preamble: '',
  start: PROOF_EVENT,
  render(line, json, users) {
    const proof = `${PROOF}${cefProof(json)}\n`
    if (!isRecord(line)) return `${PROOF_EVENT}${proof}`
    const { action, resourceType, ...values } = readable(line, users)
    const extensions = Object.entries({
      cat: 'audit',
      rt: String(Date.parse(values.timestamp)),
      externalId: values.id,
      suid: values.userId,
      suser: values.username,
      act: action,
      cs1Label: 'resourceType',
      cs1: resourceType,
      cs2Label: 'resourceId',
      cs2: values.resourceId,
      cs3Label: 'requestId',
      cs3: values.requestId,
      cs4Label: 'position',
      cs4: values.position,
      cs5Label: 'before',
      cs5: values.before,
      cs6Label: 'after',
      cs6: values.after,
    }).map(([key, value]) => `${key}=${cefValue(value)}`)
    const name = `${action.toLowerCase().replaceAll('_', ' ')}`
    return `CEF:0|Gantry|Gantry|1|${cefHeader(action)}|${cefHeader(name)}|3|${extensions.join(' ')}${proof}`
  },
  jsonIn(text) {
    const start = text.lastIndexOf(PROOF)
    if (start === -1) return undefined
    return text.slice(start + PROOF.length).replace(/\\([\\=])/g, '$1')
  },
}

export const exportFormats = { ndjson, csv, cef } as const
export type FormatName = keyof typeof exportFormats

/** The last line of an export that ends with an error. */
export function errorLine(format: FormatName, reason: string): string {
  const line = { error: { reason } }
  return exportFormats[format].render(line, canonicalJson(line), new Map())
}

/** The format of a file, from its beginning; undefined when it is none of them. */
export function formatOf(beginning: string): FormatName | undefined {
  if (beginning.startsWith('{')) return 'ndjson'
  if (beginning.startsWith('CEF:')) return 'cef'
  return beginning.startsWith(`${COLUMNS[0]},`) ? 'csv' : undefined
}
