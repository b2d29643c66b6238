import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Format, Received } from './export.ts'

/** The modules read the address of the page when they are loaded. */
let exporting: typeof import('./export.ts')
beforeAll(async () => {
  vi.stubGlobal('document', { baseURI: 'http://service/console/' })
  exporting = await import('./export.ts')
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const trailer = (complete: boolean) => `{"signature":"s","trailer":{"complete":${complete}}}`
const escaped = (text: string) => text.replaceAll('=', '\\=')

/** A record and a trailer as a line of each form, see docs/audit.md. */
const LINES: Record<Exclude<Format, 'table'>, { record: string; last: (json: string) => string }> = {
  ndjson: { record: '{"number":1}', last: json => json },
  csv: { record: '1,API_CREATED', last: json => `,,"${json.replaceAll('"', '""')}"\r` },
  cef: { record: 'CEF:0|record', last: json => `CEF:0|end gantryProof=${escaped(json)}` },
}

/** Receives a response until it ends. */
async function receive(format: keyof typeof LINES, so: Received, body: string) {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url)
    return new Response(body, { headers: { 'content-type': 'text/plain' } })
  })
  let last = so
  const { signal } = new AbortController()
  const received = (next: Received) => {
    last = next
  }
  const failure = await exporting
    .receiveExport({ filters: { resource: 'API' }, format, so, signal, received })
    .then(
      () => undefined,
      error => error.problem.title,
    )
  return { failure, so: last, query: new URL(asked[0] ?? '', 'http://service').searchParams }
}

test.for(['ndjson', 'csv', 'cef'] as const)(
  'an export as %s that was cut off is incomplete and continues after its last trailer',
  async format => {
    const { record, last } = LINES[format]
    const proven = `${record}\n${last(trailer(false))}\n`
    const cut = await receive(format, exporting.NOTHING_RECEIVED, `${proven}${record}\n${record.slice(0, 4)}`)
    expect(cut.failure).toBe('The export was cut off')
    expect(cut.query.has('trailer')).toBe(false)
    expect([cut.so.lines, cut.so.complete]).toEqual([3, false])

    const rest = `${record}\n${last(trailer(true))}\n`
    const whole = await receive(format, cut.so, rest)
    expect(whole.failure).toBeUndefined()
    const sent = whole.query.get('trailer') ?? ''
    expect(atob(sent.replaceAll('-', '+').replaceAll('_', '/'))).toBe(trailer(false))
    expect(whole.query.get('resource')).toBe('API')
    expect(await whole.so.blob.text()).toBe(`${proven}${rest}`)
    expect([whole.so.lines, whole.so.complete]).toEqual([4, true])
  },
)

test('the file of an export is named by its range', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-29T12:00:00Z') })
  const [day, second] = ['2026-11-01T00:00:00.000Z', '2026-11-20T08:30:05.000Z']
  expect(exporting.fileName('csv', {})).toBe('audit-log-to-2026-11-29.csv')
  expect(exporting.fileName('cef', { from: day })).toBe('audit-log-2026-11-01-to-2026-11-29.cef')
  expect(exporting.fileName('csv', { from: day, to: second })).toBe(
    'audit-log-2026-11-01-to-2026-11-20T083005Z.csv',
  )
  vi.useRealTimers()
})

test('a table has the entries alone, with the names of environments', async () => {
  const rows = [
    'number,action,environment,after,proof',
    ',,,,"{""header"":1}"',
    '7,API_DEPLOYED,e1,"{""a"":""b,c""}","{""record"":{""x"":"",""}}"',
    '8,API_UPDATED,,,"{""record"":1}"',
    '9,API_UNDEPLOYED,e2,,"{""record"":1}"',
    ',,,,"{""trailer"":1}"',
  ].map(row => `${row}\r\n`)
  const { blob, lines } = await exporting.entriesOnly(
    new Blob(rows),
    new Map([
      ['e1', 'Staging, "old"'],
      ['e2', '=1+1'],
    ]),
  )
  expect(lines).toBe(4)
  expect((await blob.text()).split('\r\n')).toEqual([
    'number,action,environment,after',
    '7,API_DEPLOYED,"Staging, ""old""","{""a"":""b,c""}"',
    '8,API_UPDATED,,',
    '9,API_UNDEPLOYED,"\'=1+1",',
    '',
  ])
})
