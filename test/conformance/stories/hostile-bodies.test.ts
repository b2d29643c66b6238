import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { admin, createApi, service, unique } from '../src/gantry.ts'
import { isNoFault, SEEDS, stillServes } from '../src/hostile.ts'
import { exchange, type Piece } from '../src/raw.ts'

const ROUNDS = 12
const AT_ONCE = 15

const base = new URL(service.baseUrl)
const prefix = base.pathname.replace(/\/$/, '')
let api: string
beforeAll(async () => {
  api = (await createApi()).id
})

const BODIES = {
  json: { type: 'application/json', text: '{"name":"x"}' },
  event: { type: 'application/cloudevents+json', text: '{"specversion":"1.0","data":{}}' },
  form: {
    type: 'multipart/form-data; boundary=b',
    text: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\u0089PNG\r\n--b--\r\n',
  },
}
const request = fc.record({
  operation: fc.constantFrom(
    'POST /apis',
    'PUT /apis/API-ID',
    'POST /apis/API-ID/versions',
    'PUT /apis/API-ID/image',
    'POST /events',
    'POST /login',
    'POST /webhooks',
    'DELETE /users/nobody',
    'GET /apis',
    'POST /nothing',
  ),
  body: fc.constantFrom(...Object.values(BODIES)),
  /** How often the text is repeated. Some bodies are much larger than all buffers. */
  repeated: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(1_000, 100_000) },
  ),
  credential: fc.constantFrom('admin', 'none'),
  framing: fc.constantFrom(
    ...[
      'length',
      'length',
      'shorter',
      'longer',
      'none',
      'chunked',
      'chunked',
      'extensions',
      'trailers',
      'no end',
    ],
    ...['bad size', 'huge size', 'negative size', 'line feeds', 'size too long', 'no line break'],
  ),
  headers: fc.array(
    fc.constantFrom(
      ...[
        'Content-Length: -1',
        'Content-Length: +5',
        'Content-Length: 0x5',
        'Content-Length: 5, 5',
        'Content-Length: ',
      ],
      ...[
        'Content-Length: 99999999999999999999',
        'Transfer-Encoding: identity',
        'Transfer-Encoding: gzip, chunked',
      ],
      ...[
        'Transfer-Encoding: chunked, chunked',
        'Transfer-Encoding: xchunked',
        'Transfer-Encoding : chunked',
      ],
      ...[
        'Content-Encoding: gzip',
        'Expect: 100-continue',
        'Expect: something',
        'Content-Type: text/plain',
        'TE: x',
      ],
      ...['Trailer: Content-Length', 'Upgrade: websocket', 'Connection: upgrade', 'Idempotency-Key: hostile'],
    ),
    { maxLength: 2 },
  ),
  cuts: fc.array(
    fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), afterMs: fc.integer({ min: 0, max: 40 }) }),
    {
      maxLength: 4,
    },
  ),
  ending: fc.constantFrom('wait' as const, 'wait' as const, 'half-close' as const, 'reset' as const),
})
type Hostile = typeof request extends fc.Arbitrary<infer Given> ? Given : never

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** The body, with header lines that describe its length correctly or wrongly. */
function framed(framing: Hostile['framing'], text: string): { lines: string[]; body: string } {
  const half = Math.ceil(text.length / 2)
  const chunked = (body: string) => ({ lines: ['Transfer-Encoding: chunked'], body })
  const size = text.length.toString(16)
  switch (framing) {
    case 'length':
      return { lines: [`Content-Length: ${text.length}`], body: text }
    case 'shorter':
      return { lines: [`Content-Length: ${half}`], body: text }
    case 'longer':
      return { lines: [`Content-Length: ${text.length + 100}`], body: text }
    case 'chunked':
      return chunked(`${chunk(text.slice(0, half))}${chunk(text.slice(half))}0\r\n\r\n`)
    case 'extensions':
      return chunked(`${size};a=b;c="d;${'e'.repeat(5_000)}"\r\n${text}\r\n0;x\r\n\r\n`)
    case 'trailers':
      return chunked(`${chunk(text)}0\r\nContent-Length: 5\r\nAuthorization: Bearer x\r\n\r\n`)
    case 'no end':
      return chunked(chunk(text))
    case 'bad size':
      return chunked(`g\r\n${text}\r\n0\r\n\r\n`)
    case 'huge size':
      return chunked(`${'f'.repeat(20)}\r\n${text}\r\n0\r\n\r\n`)
    case 'negative size':
      return chunked(`-${size}\r\n${text}\r\n0\r\n\r\n`)
    case 'line feeds':
      return chunked(`${size}\n${text}\n0\n\n`)
    case 'size too long':
      return chunked(`${'0'.repeat(100_000)}${size}\r\n${text}\r\n0\r\n\r\n`)
    case 'no line break':
      return chunked(`${size}\r\n${text}0\r\n\r\n`)
    default:
      return { lines: [], body: text }
  }
}

async function send({ operation, body, repeated, credential, framing, headers, cuts, ending }: Hostile) {
  const [method = '', path = ''] = operation.replace('API-ID', api).split(' ')
  const { lines, body: text } = framed(
    framing,
    body.text.replace('"x"', `"${unique('slow')}"`).repeat(repeated),
  )
  const head = [
    `${method} ${prefix}${path} HTTP/1.1`,
    `Host: ${base.host}`,
    `Content-Type: ${body.type}`,
    ...(credential === 'admin' ? [`Authorization: ${admin.authorization}`] : []),
    ...lines,
    ...headers,
  ]
  const all = Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`, 'latin1')
  const places = [0, ...cuts.map(({ at }) => Math.floor(at * all.length)), all.length].toSorted(
    (a, b) => a - b,
  )
  const pieces: Piece[] = places.slice(1).map((end, n) => ({
    bytes: all.subarray(places[n], end),
    afterMs: n === 0 ? 0 : (cuts[n - 1]?.afterMs ?? 0),
  }))
  // The pieces may be an incomplete request, so a response is not required.
  const answer = await exchange(base, pieces, { method, ending, finished: false })
  if (!answer) return undefined
  const what = JSON.stringify({ operation, framing, headers, ending, repeated })
  isNoFault(answer, what)
  if (answer.status < 300) {
    const documented = service.contract.find(method, path)
    expect(Object.keys(documented?.definition.responses ?? {}), what).toContain(String(answer.status))
    expect(credential, what).toBe('admin')
  }
  return answer.status
}

test.each(SEEDS)(
  'a slow, unfinished or wrongly framed body does not affect other requests, seed %i',
  async seed => {
    const statuses = new Set<number | undefined>()
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }), async hostiles => {
        for (const status of await Promise.all(hostiles.map(send))) statuses.add(status)
      }),
      { seed, numRuns: ROUNDS, endOnFailure: true },
    )
    await stillServes()
    expect([...statuses]).toEqual(expect.arrayContaining([undefined, 400, 401]))
  },
)
