import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { admin, service, unique } from '../src/gantry.ts'
import { isNoFault, isReady, sample, sendAll } from '../src/hostile.ts'
import { exchange, type Piece, PREFIX, requestOf } from '../src/raw.ts'

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
const OPERATIONS =
  'POST /apis, PUT /apis/API-ID, POST /apis/API-ID/versions, PUT /apis/API-ID/image, POST /events, POST /login, POST /webhooks, DELETE /users/nobody, GET /apis, POST /nothing'
const HEADERS = `
  Content-Length: -1 | Content-Length: +5 | Content-Length: 0x5 | Content-Length: 5, 5 | Content-Length:
  Content-Length: 99999999999999999999 | Transfer-Encoding: identity | Transfer-Encoding: gzip, chunked
  Transfer-Encoding: chunked, chunked | Transfer-Encoding: xchunked | Transfer-Encoding : chunked
  Content-Encoding: gzip | Expect: 100-continue | Expect: something | Content-Type: text/plain | TE: x
  Trailer: Content-Length | Upgrade: websocket | Connection: upgrade | Idempotency-Key: hostile`
  .split(/[|\n]/)
  .map(line => line.trim())
  .filter(line => line !== '')

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const half = (text: string) => Math.ceil(text.length / 2)
const size = (text: string) => text.length.toString(16)
const chunked = (bodyOf: (text: string) => string) => (text: string) => ({
  lines: ['Transfer-Encoding: chunked'],
  body: bodyOf(text),
})
const announced = (lengthOf: (text: string) => number) => (text: string) => ({
  lines: [`Content-Length: ${lengthOf(text)}`],
  body: text,
})
/** Header lines that describe the length of a body correctly or wrongly, and the bytes of the body. */
const FRAMINGS = {
  length: announced(text => text.length),
  shorter: announced(half),
  longer: announced(text => text.length + 100),
  none: (text: string) => ({ lines: [], body: text }),
  chunked: chunked(text => `${chunk(text.slice(0, half(text)))}${chunk(text.slice(half(text)))}0\r\n\r\n`),
  extensions: chunked(text => `${size(text)};a=b;c="d;${'e'.repeat(5_000)}"\r\n${text}\r\n0;x\r\n\r\n`),
  trailers: chunked(text => `${chunk(text)}0\r\nContent-Length: 5\r\nAuthorization: Bearer x\r\n\r\n`),
  'no end': chunked(chunk),
  'bad size': chunked(text => `g\r\n${text}\r\n0\r\n\r\n`),
  'huge size': chunked(text => `${'f'.repeat(20)}\r\n${text}\r\n0\r\n\r\n`),
  'negative size': chunked(text => `-${size(text)}\r\n${text}\r\n0\r\n\r\n`),
  'line feeds': chunked(text => `${size(text)}\n${text}\n0\n\n`),
  'size too long': chunked(text => `${'0'.repeat(100_000)}${size(text)}\r\n${text}\r\n0\r\n\r\n`),
  'no line break': chunked(text => `${size(text)}\r\n${text}0\r\n\r\n`),
}
type Framing = keyof typeof FRAMINGS

const request = fc.record({
  operation: fc.constantFrom(...OPERATIONS.split(', ')),
  body: fc.constantFrom(...Object.values(BODIES)),
  /** How often the text is repeated. Some bodies are much larger than all buffers. */
  repeated: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(1_000, 100_000) },
  ),
  credential: fc.constantFrom('admin', 'none'),
  framing: fc.constantFrom(...(Object.keys(FRAMINGS) as Framing[])),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 }),
  cuts: fc.array(
    fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), afterMs: fc.integer({ min: 0, max: 40 }) }),
    { maxLength: 4 },
  ),
  ending: fc.constantFrom('wait' as const, 'wait' as const, 'half-close' as const, 'reset' as const),
})
type Hostile = typeof request extends fc.Arbitrary<infer Given> ? Given : never

async function send({ operation, body, repeated, credential, framing, headers, cuts, ending }: Hostile) {
  const [method = '', path = ''] = operation.replace('API-ID', api).split(' ')
  const renamed = body.text.replace('"x"', `"${unique('slow')}"`).repeat(repeated)
  const { lines, body: text } = FRAMINGS[framing](renamed)
  const authorization = credential === 'admin' ? [`Authorization: ${admin.authorization}`] : []
  const head = [`Content-Type: ${body.type}`, ...authorization, ...lines, ...headers]
  const all = requestOf(method, PREFIX + path, head, text)
  const places = [0, ...cuts.map(({ at }) => Math.floor(at * all.length)), all.length].toSorted(
    (a, b) => a - b,
  )
  const pieces: Piece[] = places.slice(1).map((end, n) => ({
    bytes: all.subarray(places[n], end),
    afterMs: n === 0 ? 0 : (cuts[n - 1]?.afterMs ?? 0),
  }))
  // The pieces may be an incomplete request, so a response is not required.
  const answer = await exchange(pieces, { method, ending, finished: false })
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

test('a slow, unfinished or wrongly framed body does not affect other requests', async () => {
  const requests = sample(request, 140)
  expect(new Set(requests.map(({ framing }) => framing)).size).toBe(Object.keys(FRAMINGS).length)
  expect(new Set(requests.flatMap(({ headers }) => headers)).size).toBe(HEADERS.length)
  const statuses = await sendAll(requests, send)
  await isReady()
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([undefined, 400, 401]))
})
