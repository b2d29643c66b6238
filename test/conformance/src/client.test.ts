import { once } from 'node:events'
import { createServer, type OutgoingHttpHeaders } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf } from './client.ts'
import { contractOf, type OpenApi } from './contract.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const Thing = {
  type: 'object',
  properties: { name: { type: 'string' }, createdAt: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  components: { schemas: { Thing } },
  paths: {
    '/things/{id}': {
      get: {
        responses: {
          200: json({ $ref: '#/components/schemas/Thing' }),
          404: { content: { 'application/problem+json': { schema: {}, examples: { 'not-found': {} } } } },
        },
      },
      delete: { responses: { 204: {} } },
    },
    '/things/newest': { get: { responses: { 200: json({ type: 'string' }) } } },
  },
} as unknown as OpenApi

/** Sends a request to a service with this response to every request. */
const asking = async (
  status: number,
  headers: OutgoingHttpHeaders,
  body: string,
  method = 'GET',
  path = '/things/1',
) => {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'x-request-id': 'r1', ...headers }).end(body),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const exercised: string[] = []
  const service = {
    baseUrl: `http://127.0.0.1:${port}`,
    contract: contractOf(document),
    exercised: ({ key }: { key: string }) => exercised.push(key),
  }
  const answer = await clientOf(service).request(method, path)
  return { answer, exercised }
}
const JSON_TYPE = { 'content-type': 'application/json' }
const problem = {
  type: 'about:blank',
  title: 'No',
  status: 404,
  detail: 'No thing',
  instance: '/things/1',
  code: 'not-found',
  requestId: 'r1',
  timestamp: '2026-11-21T09:30:00.000Z',
}
const refusing = (changes: object, headers: OutgoingHttpHeaders = {}) =>
  asking(
    404,
    { 'content-type': 'application/problem+json', ...headers },
    JSON.stringify({ ...problem, ...changes }),
  )

test('accepts a response that the document lists, and records the operation', async () => {
  const { answer, exercised } = await asking(200, JSON_TYPE, '{"name":"a"}')
  expect(answer.as(200)).toEqual({ name: 'a' })
  expect(exercised).toEqual(['GET /things/{id}'])
})

test('prefers the operation of a literal path to one with a placeholder', async () => {
  const { exercised } = await asking(200, JSON_TYPE, '"a"', 'GET', '/things/newest')
  expect(exercised).toEqual(['GET /things/newest'])
})

test('accepts a complete problem, and does not record the operation', async () => {
  const { answer, exercised } = await refusing({})
  expect(answer.refused(404, 'not-found').detail).toBe('No thing')
  expect(exercised).toEqual([])
})

const NAMED = '{"name":"a"}'
const IN_SECONDS = '{"name":"a","createdAt":"2026-11-21T09:30:00Z"}'
test.for<[string, Parameters<typeof asking>, string]>([
  ['a status that is not listed', [201, JSON_TYPE, NAMED], 'answered 201, which the document does not list'],
  ['a content type that is not listed', [200, { 'content-type': 'text/plain' }, 'a'], 'type text/plain'],
  ['a body of another type than listed', [200, JSON_TYPE, '{"name":1}'], 'does not match its schema'],
  ['an unknown member', [200, JSON_TYPE, '{"name":"a","more":1}'], 'does not match its schema'],
  ['no request id', [204, { 'x-request-id': '' }, '', 'DELETE'], 'without X-Request-Id'],
  ['a body where none is listed', [200, JSON_TYPE, '{}', 'DELETE'], 'answered 200'],
  ['an operation that is not listed', [200, JSON_TYPE, '{}', 'PUT'], 'PUT /things/1 is not in the document'],
  ['a time without milliseconds', [200, JSON_TYPE, IN_SECONDS], 'createdAt'],
])('fails on %s', async ([, response, fault]) => {
  await expect(asking(...response)).rejects.toThrow(fault)
})

test.for<[string, object]>([
  ['without detail', { detail: undefined }],
  ['with a status other than that of the response', { status: 400 }],
  ['with a code that is not kebab-case', { code: 'NotFound' }],
  ['of another request', { requestId: 'r2' }],
  ['with a time in another format', { timestamp: '21.11.2026' }],
  ['with malformed errors', { errors: ['name'] }],
  ['with a stack trace', { detail: 'Error: no\n    at get (/srv/things.ts:10:5)' }],
])('fails on a problem %s', async ([, changes]) => {
  await expect(refusing(changes)).rejects.toThrow('GET /things/1 answered 404, but')
})

test('fails on a problem with a code that the document does not list for the operation', async () => {
  await expect(refusing({ code: 'thing-locked' })).rejects.toThrow('answered 404 thing-locked')
})

test('fails on a refusal that is not a problem', async () => {
  await expect(refusing({}, { 'content-type': 'application/json' })).rejects.toThrow('application/json')
})
