import { RequestFailed } from '../http/problem.ts'
import type { Query } from '../http/schemas.ts'
import { chunksOf, openStream } from '../http/stream.ts'

export type ExportFilters = Omit<Query<'exportAuditLog'>, 'format' | 'after' | 'trailer'>

/** The forms of an export. Each has one line for each line of the first one; a table loses its proofs when it is saved. */
export const FORMATS = {
  ndjson: {
    label: 'NDJSON',
    use: 'One JSON document per line, for programs',
    mediaType: 'application/x-ndjson',
    sent: 'ndjson',
  },
  table: {
    label: 'CSV, entries only',
    use: 'For spreadsheets: a row for each entry. It cannot be verified, since it has no proofs',
    mediaType: 'text/csv',
    sent: 'csv',
  },
  csv: {
    label: 'CSV with proofs',
    use: 'Also has rows of hashes alone; the comma is the separator',
    mediaType: 'text/csv',
    sent: 'csv',
  },
  cef: { label: 'CEF', use: 'ArcSight CEF:0, for a SIEM', mediaType: 'text/plain', sent: 'cef' },
} as const
export type Format = keyof typeof FORMATS

/** The name of the file of an export, with its range in UTC; without an end it ends today. */
export function fileName(format: Format, { from, to }: Pick<ExportFilters, 'from' | 'to'>): string {
  const end = to ? stamp(to) : new Date().toISOString().slice(0, 10)
  return `audit-${format === 'table' ? 'entries' : 'log'}-${from ? `${stamp(from)}-` : ''}to-${end}.${FORMATS[format].sent}`
}

/** A time in a file name: the day alone at midnight. */
const stamp = (at: string) =>
  new Date(at)
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/\.\d+/, '')
    .replaceAll(':', '')

/** A service that is slow may collect records for some time. */
const SILENT_MS = 60_000

/** What was received of an export. A part without its end can be continued after its last trailer. */
export interface Received {
  /** The received text. Browsers keep large blobs on disk. */
  blob: Blob
  lines: number
  /** Length of the text up to the last trailer, its number of lines, and the trailer as JSON. */
  proven: { length: number; lines: number; trailer: string } | undefined
  complete: boolean
}

export const NOTHING_RECEIVED: Received = {
  blob: new Blob(),
  lines: 0,
  proven: undefined,
  complete: false,
}

export interface ExportRequest {
  filters: ExportFilters
  format: Format
  /** What an interrupted export has received. */
  so: Received
  signal: AbortSignal
  /** Called for each received part. */
  received(so: Received): void
}

/**
 * Receives an export, or the rest of one, up to its signed end.
 * @throws RequestFailed also for an export that ends without its last trailer; what was received was passed on before
 */
export async function receiveExport(request: ExportRequest): Promise<void> {
  const { filters, format, signal, received } = request
  let so = untilTrailer(request.so)
  const query = new URLSearchParams({ format: FORMATS[format].sent })
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value)
  if (so.proven) query.set('trailer', base64url(so.proven.trailer))
  const accept = FORMATS[format].mediaType
  const body = await openStream({ path: '/auditLog/export', query, accept, signal })
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(body, signal, SILENT_MS)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length === 0) continue
    so = withLines(so, lines)
    received(so)
  }
  if (!so.complete) throw new RequestFailed(INTERRUPTED)
}

const encoder = new TextEncoder()

function withLines({ blob, lines, proven, complete }: Received, added: readonly string[]): Received {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = blob.size
  const found = { proven, complete }
  for (const [index, line] of added.entries()) {
    const bytes = encoder.encode(`${line}\n`)
    parts.push(bytes)
    length += bytes.length
    const trailer = trailerIn(line)
    if (trailer === undefined) continue
    found.proven = { length, lines: lines + index + 1, trailer }
    found.complete = JSON.parse(trailer).trailer.complete === true
  }
  return { blob: new Blob([blob, ...parts]), lines: lines + added.length, ...found }
}

/** Without what follows the last trailer. */
function untilTrailer(so: Received): Received {
  const { proven } = so
  if (!proven) return NOTHING_RECEIVED
  return { ...so, blob: so.blob.slice(0, proven.length), lines: proven.lines }
}

/** The JSON of a line that is a trailer, see "The lines of an export" in docs/audit.md. */
function trailerIn(line: string): string | undefined {
  const json = line.startsWith('CEF:')
    ? line.split(' gantryProof=', 2)[1]?.replace(/\\([\\=])/g, '$1')
    : line.startsWith(',')
      ? line
          .trimEnd()
          .replace(/^,+"|"$/g, '')
          .replaceAll('""', '"')
      : line
  return json?.startsWith('{"signature":') && json.includes('"trailer":{') ? json : undefined
}

const base64url = (text: string) =>
  btoa(String.fromCharCode(...encoder.encode(text)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const INTERRUPTED = {
  status: 0,
  code: 'unreachable',
  title: 'The export was cut off',
  detail: 'It has no signed end.',
}

const CELLS = /(?:^|,)("(?:[^"]|"")*"|[^,"]*)/g

/** Without it Excel does not read UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/**
 * The rows of the entries of an export as CSV, without their proofs.
 * @param environments names of environments by id, which the rows get in place of the ids
 */
export async function entriesOnly(
  csv: Blob,
  environments: ReadonlyMap<string, string>,
): Promise<Pick<Received, 'blob' | 'lines'>> {
  const rows: string[] = []
  const decoder = new TextDecoder()
  let place = -1
  let rest = ''
  for await (const chunk of chunksOf(csv.stream(), new AbortController().signal, SILENT_MS)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      // Rows that are no entries have no number.
      if (line.startsWith(',')) continue
      const cells = [...line.matchAll(CELLS)].map(([, cell = '']) => cell).slice(0, -1)
      if (place === -1) place = cells.indexOf('environment')
      const name = environments.get(cells[place] ?? '')
      rows.push(`${(name === undefined ? cells : cells.with(place, quoted(name))).join(',')}\r\n`)
    }
  }
  return { blob: new Blob([BYTE_ORDER_MARK, ...rows]), lines: rows.length }
}

/** A cell. What a spreadsheet would take for a formula begins with an apostrophe, as the service writes it. */
const quoted = (text: string) => `"${text.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`
