import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { startServiceProcess } from '@gantry/standalone/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { call, createApi, newFolder } from './src/service.ts'

/** An operation of the service's OpenAPI document. */
interface Operation {
  path: string
  method: string
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

/** Requests per operation. */
const RUNS = Number(process.env.HOSTILE_REQUESTS ?? 10)
const METHODS = new Set(['get', 'post', 'put', 'delete'])
const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const folder = newFolder()

const WORDS = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  'NaN',
  'null',
  '../..',
  '%',
  "' OR 1=1 --",
  '"*"',
  '\u0000',
  '\ud800',
]
const LONG = [
  '😀',
  '__proto__',
  'constructor',
  '9'.repeat(400),
  'a'.repeat(9000),
  '{{7*7}}',
  '$where',
  UNKNOWN,
]
const nasty = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom(...WORDS, ...LONG))
/** Encoded text that is allowed in a URL. */
const inUrl = nasty.map(text => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80'))
const otherValue = fc.oneof(
  ...[nasty, fc.double(), fc.integer(), fc.boolean(), fc.jsonValue({ maxDepth: 3 })],
  fc.constantFrom(null, [], {}),
)
const NOT_JSON = ['{', '[', '{"a":1,}', '{"a":1}{"a":2}', '"', '\ufeff{}', '['.repeat(20_000)]

/** The documented example with some members changed, another JSON value, or bytes that are not JSON. */
function bodyOf(example: unknown): fc.Arbitrary<Buffer> {
  const members = example && typeof example === 'object' ? Object.keys(example) : []
  const name = fc.constantFrom(...members, '__proto__', 'constructor', 'extra')
  const changes = fc.dictionary(name, otherValue, { maxKeys: 4 })
  const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
  return fc.oneof(
    { weight: 4, arbitrary: changes.map(changed => json({ ...(example as object), ...changed })) },
    { weight: 1, arbitrary: otherValue.map(json) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(...NOT_JSON).map(given => Buffer.from(given)) },
  )
}

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      ...['application/json', 'application/json; charset=utf-16', 'application/cloudevents+json'],
      ...['text/plain', 'multipart/form-data', 'multipart/form-data; boundary=x', 'nonsense'],
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

/** Requests to an operation with random parameters, headers and bodies. */
function requestsTo({ path, parameters = [], requestBody }: Operation) {
  const [content] = Object.values(requestBody?.content ?? {})
  const names = parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name)
  const parts = fc.array(fc.oneof(inUrl, fc.constant(UNKNOWN)), { minLength: 3, maxLength: 3 })
  const query = fc.dictionary(fc.constantFrom(...names, 'unknown'), inUrl, { maxKeys: 3 })
  const target = fc.tuple(parts, query).map(([parts, query]) => {
    const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    const next = parts.values()
    return `${path.replace(/\{\w+\}/g, () => next.next().value ?? UNKNOWN)}?${search.join('&')}`
  })
  return fc.record({ target, headers, body: requestBody ? bodyOf(content?.example) : fc.constant(undefined) })
}

test('random requests to every operation get no 5xx, and refusals are problems and change nothing', async () => {
  const service = await startServiceProcess(folder, { LOGIN_LIMIT_PER_MINUTE: '0' })
  const { hostname, port } = new URL(service.url)
  const agent = new Agent({ keepAlive: true })
  /** fetch refuses some of the headers. */
  const send = (method: string, path: string, headers: Record<string, string>, body?: Buffer) =>
    new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
      const given = {
        authorization: service.authorization,
        ...(body && { 'content-type': 'application/json' }),
      }
      const options = { agent, hostname, port, method, path, headers: { ...given, ...headers } }
      request(options, async answer => {
        const { statusCode: status = 0, headers } = answer
        const type = headers['content-type'] ?? ''
        // The event stream does not end by itself, so its headers are enough.
        const isStream = /x-ndjson|event-stream/.test(type)
        if (isStream) answer.destroy()
        resolve({ status, type, text: isStream ? '' : await text(answer) })
      })
        .on('error', reject)
        .end(body)
    })
  const totals = async () => {
    const lists = ['/apis', '/webhooks', '/users', '/accessTokens'].map(path =>
      call<{ totalElements: number }>(service, 'GET', `${path}?size=1`),
    )
    return (await Promise.all(lists)).map(({ body }) => body.totalElements)
  }
  await createApi(service, 'bystander')
  const { body } = await call<{ paths: Record<string, Record<string, Operation>> }>(
    service,
    'GET',
    '/openapi.json',
  )
  const operations = Object.entries(body.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      // A logout would end the session of the test.
      METHODS.has(method) && operation.operationId !== 'logout'
        ? { ...operation, path, method: method.toUpperCase() }
        : [],
    ),
  )
  expect(operations.length).toBeGreaterThan(40)
  let before = await totals()
  for (const operation of operations) {
    let changed = false
    for (const { target, headers, body } of fc.sample(requestsTo(operation), {
      seed: 20_261_121,
      numRuns: RUNS,
    })) {
      const { status, type, text } = await send(operation.method, target, headers, body)
      expect(status, `${operation.method} ${target} answered ${text}`).toBeLessThan(500)
      if (status < 400) changed ||= operation.method !== 'GET'
      else {
        expect(type).toMatch(/^application\/problem\+json/)
        expect(JSON.parse(text)).toMatchObject({
          status,
          code: expect.any(String),
          requestId: expect.any(String),
        })
      }
    }
    const after = await totals()
    if (!changed) expect(after, operation.operationId).toEqual(before)
    before = after
  }
  agent.destroy()
  expect(await service.stop()).toBe(0)
})
