import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The parts of the service's OpenAPI document that the test uses. */
interface OpenApi {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        parameters?: { name: string; in: string }[]
        requestBody?: { content: Record<string, { example?: unknown }> }
      }
    >
  >
}

interface Sent {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | undefined
}

const RUNS = 120
const METHODS = new Set(['get', 'post', 'put', 'delete'])
const agent = new Agent({ keepAlive: true })
let folder: string
let service: ServiceProcess
let openApi: OpenApi

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-hostile-'))
  service = await startServiceProcess(folder, { LOGIN_LIMIT_PER_MINUTE: '0' })
  openApi = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi
  await send({
    method: 'POST',
    path: '/apis',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ name: 'bystander', displayName: 'x', status: 'ACTIVE', tags: [] })),
  })
})
afterAll(async () => {
  agent.destroy()
  await service.stop()
  await rm(folder, { recursive: true })
})

function send({
  method,
  path,
  headers,
  body,
}: Sent): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    const outgoing = request(
      { agent, hostname, port, method, path, headers: { authorization: service.authorization, ...headers } },
      answer => {
        const type = answer.headers['content-type'] ?? ''
        // The event stream does not end by itself, so its headers are enough.
        if (type.startsWith('application/x-ndjson') || type.startsWith('text/event-stream')) {
          answer.destroy()
          return resolve({ status: answer.statusCode ?? 0, type, text: '' })
        }
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() }),
        )
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'NaN',
    'null',
    'true',
    '../..',
    '%',
    "' OR 1=1 --",
    '"*"',
    '\u0000',
    '\ud800',
    '😀',
    '__proto__',
    'constructor',
    '9'.repeat(400),
    'a'.repeat(9000),
    '{{7*7}}',
    '<script>',
    '$where',
    UNKNOWN,
  ),
)
/** Encoded text that is allowed in a URL. */
const inUrl = nasty.map(text => {
  const wellFormed = text.toWellFormed()
  return wellFormed === text ? encodeURIComponent(text) : '%ED%A0%80'
})

const otherValue = fc.oneof(
  nasty,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant([]),
  fc.constant({}),
)

/** The documented example with some members changed, another JSON value, or bytes that are not JSON. */
function bodyOf(example: unknown): fc.Arbitrary<Buffer> {
  const members = example && typeof example === 'object' ? Object.keys(example) : []
  const mutated = fc.dictionary(
    fc.constantFrom(...(members.length > 0 ? members : ['x']), '__proto__', 'constructor', 'extra'),
    otherValue,
    { maxKeys: 4 },
  )
  return fc.oneof(
    {
      weight: 4,
      arbitrary: mutated.map(changes => Buffer.from(JSON.stringify({ ...(example as object), ...changes }))),
    },
    { weight: 1, arbitrary: otherValue.map(value => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          '{',
          '[',
          '{"a":1,}',
          '{"a":1}{"a":2}',
          '"',
          '\ufeff{}',
          '{"__proto__":{"a":1}}',
          '['.repeat(20_000),
        )
        .map(text => Buffer.from(text)),
    },
  )
}

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      'application/cloudevents+json',
      'text/plain',
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      'nonsense',
      'application/xml',
    ),
    'if-match': fc.constantFrom('*', '"0"', 'W/"0"', 'x', '"99999999999999999999"', ',,,'),
    'if-none-match': fc.constantFrom('*', '"0"', 'x', '"'),
    'x-request-id': fc.constantFrom('a', 'x'.repeat(500), '<>', ' '),
    traceparent: fc.constantFrom('x', '00-0-0-0'),
    'idempotency-key': fc.constantFrom('', 'k', 'k'.repeat(5000), 'ö'),
    accept: fc.constantFrom('*/*', 'x/y', '', 'text/event-stream'),
    'last-event-id': fc.constantFrom('x', '-1', '9'.repeat(30)),
  },
  { requiredKeys: [] },
)

const operations = () =>
  Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )

const totals = () =>
  Promise.all(
    ['/apis', '/webhooks', '/users', '/accessTokens'].map(async path => {
      const { text } = await send({ method: 'GET', path: `${path}?size=1`, headers: {}, body: undefined })
      return `${path}: ${JSON.parse(text).totalElements}`
    }),
  )

describe('no request causes an internal error', () => {
  test('random requests to every operation of the document get no 5xx, and refusals are problems and change nothing', {
    timeout: 300_000,
  }, async () => {
    let sent = 0
    for (const { path, method, operationId, parameters = [], requestBody } of operations()) {
      // A logout would end the session of the test.
      if (operationId === 'logout') continue
      const [, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const query = parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name)
      const strange = fc.record({
        parts: fc.array(fc.oneof(inUrl, fc.constant(UNKNOWN)), { minLength: 3, maxLength: 3 }),
        query: fc.dictionary(fc.constantFrom(...(query.length > 0 ? query : ['q']), 'unknown'), inUrl, {
          maxKeys: 3,
        }),
        headers,
        body: requestBody ? bodyOf(content?.example) : fc.constant(undefined),
      })
      const before = await totals()
      let changed = false
      await fc.assert(
        fc.asyncProperty(strange, async ({ parts, query, headers, body }) => {
          let part = 0
          const filled = path.replace(/\{\w+\}/g, () => parts[part++] ?? UNKNOWN)
          const search = new URLSearchParams()
          const pairs = Object.entries(query)
            .map(([name, value]) => `${name}=${value}`)
            .join('&')
          const target = `${filled}${pairs ? `?${pairs}` : ''}${search}`
          const answer = await send({
            method,
            path: target,
            headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
            body,
          })
          sent++
          expect(answer.status, `${method} ${target} answered ${answer.text}`).toBeLessThan(500)
          if (answer.status >= 400) {
            expect(answer.type).toMatch(/^application\/problem\+json/)
            expect(JSON.parse(answer.text)).toMatchObject({
              status: answer.status,
              code: expect.any(String),
              requestId: expect.any(String),
            })
          } else if (method !== 'GET') changed = true
        }),
        { numRuns: RUNS, seed: 20261121, endOnFailure: true },
      )
      if (!changed) expect(await totals(), operationId).toEqual(before)
    }
    expect(sent).toBeGreaterThan(3_000)
  })

  test.each<[string, string]>([
    ['bytes that are not HTTP', 'hello\r\n\r\n'],
    ['a header without a colon', 'GET /apis HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['two lengths', 'POST /apis HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST /apis HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['headers without end', `GET /apis HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
    ['a path that does not decode', 'GET /apis/%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['an unknown method', 'BREW /apis HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('%s', async (_name, bytes) => {
    const { hostname, port } = new URL(service.url)
    const text = await new Promise<string>((resolve, reject) => {
      let received = ''
      const socket = connect(Number(port), hostname, () => socket.write(bytes))
      socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
      socket.on('data', chunk => (received += chunk))
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(text).toContain('application/problem+json')
  })

  test('a body over the limit is refused before it is complete', async () => {
    const body = Buffer.from(
      JSON.stringify({ name: 'big', displayName: 'x'.repeat(2_000_000), status: 'ACTIVE', tags: [] }),
    )
    const answer = await send({
      method: 'POST',
      path: '/apis',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'body-too-large' })
  })
})
