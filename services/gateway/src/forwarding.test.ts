import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { OPERATIONS, type Principal, SCOPES, subjects } from '@gantry/contracts'
import { replicas } from '@gantry/hosting'
import {
  BodyMemory,
  httpServer,
  PRINCIPAL_HEADER,
  ResponseMemory,
  requireScope,
} from '@gantry/service-runtime'
import { type Span, type SpanStart, type Tracer, withTracer } from '@gantry/tracing'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { forwarding, type Upstream } from './forwarding.ts'

const ada: Principal = {
  userId: '11111111-1111-4111-8111-111111111111',
  username: 'ada',
  role: 'GLOBAL_ADMIN',
  scopes: [...SCOPES],
  kind: 'login',
  tokenId: null,
  credentialId: 'login-1',
  expiresAt: 2_000_000_000_000,
}
const API = '33333333-3333-4333-8333-333333333333'

/** A replica that answers with the given function and records its requests. */
async function replica(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer(async (request, response) => {
    if (request.url?.endsWith('/health/ready')) return void response.end()
    const { method = '', url = '', headers } = request
    asked.push({ method, url, headers, body: await text(request).catch(() => '') })
    answer(request, response)
  })
  const port = await listen(server)
  opened.push(server)
  return { url: `http://127.0.0.1:${port}`, asked, server }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

async function refusing(): Promise<string> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

let opened: Server[]
let apps: FastifyInstance[]
beforeEach(() => {
  opened = []
  apps = []
})
afterEach(async () => {
  for (const app of apps) await app.close()
  for (const server of opened) {
    server.closeAllConnections()
    server.close()
  }
})

interface GatewayOptions {
  basePath?: string
  /** In bytes. */
  bodyMemory?: number
  /** URLs of services that have replicas of their own. */
  others?: Partial<Record<Upstream, string>>
}

async function gatewayTo(
  urls: string[],
  { basePath = '', bodyMemory = 268_435_456, others = {} }: GatewayOptions = {},
) {
  const log = pino({ level: 'silent' })
  const now = () => new Date()
  const metrics = new Registry()
  const app = httpServer({
    basePath,
    log,
    metrics,
    now,
    notReadyReason: () => undefined,
    memory: { bodies: new BodyMemory(bodyMemory), responses: new ResponseMemory(134_217_728) },
  })
  const at = (urls: string[]) => replicas({ urls, basePath, now, log })
  const found = at(urls)
  const of = (service: Upstream) => (others[service] ? at([others[service]]) : found)
  await app.register(
    async scope => {
      await forwarding(scope, {
        sign: ({ username }, { service, id }) => `signed ${username} for ${service} ${id}`,
        admit(_request, _reply, operation) {
          requireScope(ada, operation)
          return ada
        },
        services: {
          catalog: of('catalog'),
          identity: of('identity'),
          media: of('media'),
          notifier: of('notifier'),
        },
      })
    },
    { prefix: basePath },
  )
  apps.push(app)
  const heldBytes = async () =>
    (await metrics.getSingleMetric('gantry_request_body_bytes')?.get())?.values[0]?.value
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }), heldBytes }
}

const ok = (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json', etag: '"7"' }).end('{"done":true}')

test('a service gets the request as the gateway got it', async () => {
  const catalog = await replica(ok)
  const { url } = await gatewayTo([catalog.url], { basePath: '/gantry' })
  const response = await fetch(`${url}/gantry/apis/${API}?expand=all`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      'if-match': '"6"',
      'idempotency-key': 'k1',
      'x-request-id': 'r1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: '{"name":"a"}',
  })
  expect([response.status, response.headers.get('etag'), await response.json()]).toEqual([
    200,
    '"7"',
    { done: true },
  ])
  expect(catalog.asked).toMatchObject([
    {
      method: 'PUT',
      url: `/gantry/apis/${API}?expand=all`,
      body: '{"name":"a"}',
      headers: {
        'content-type': 'application/json',
        'content-length': '12',
        'if-match': '"6"',
        'idempotency-key': 'k1',
        'x-request-id': 'r1',
        'x-forwarded-for': '127.0.0.1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        [PRINCIPAL_HEADER]: 'signed ada for catalog updateApi',
      },
    },
  ])
})

/** The four services, with their requests as `service: METHOD path signed principal`. */
async function services() {
  const asked: string[] = []
  const urls = {} as Record<Upstream, string>
  for (const service of ['catalog', 'identity', 'media', 'notifier'] as const) {
    const server = createServer((request, response) => {
      asked.push(`${service}: ${request.method} ${request.url} ${request.headers[PRINCIPAL_HEADER]}`)
      request.resume()
      ok(request, response)
    })
    urls[service] = `http://127.0.0.1:${await listen(server)}`
    opened.push(server)
  }
  return { asked, urls }
}

test('each operation is forwarded to its service', async () => {
  const { asked, urls } = await services()
  const { url } = await gatewayTo([urls.catalog], { basePath: '/a/b', others: urls })
  const expected: string[] = []
  for (const { id, service, method, path, params } of OPERATIONS) {
    if (service === 'gateway') continue
    // Version names may contain any characters.
    const isNamed = 'version_id' in (params?.shape ?? {})
    const own = path.replace('{version_id}', isNamed ? 'v 1%2F2' : '{version_id}').replace(/\{\w+\}/g, API)
    const response = await fetch(`${url}/a/b${own}?a=1`, { method })
    await response.body?.cancel()
    const forwarded = own.replace(' ', '%20')
    expected.push(`${service}: ${method} /a/b${forwarded}?a=1 signed ada for ${service} ${id}`)
  }
  for (const [file, id] of [
    ['jwks.json', 'jwks'],
    ['audit-keys.json', 'auditKeys'],
  ]) {
    await (await fetch(`${url}/a/b/.well-known/${file}`)).body?.cancel()
    expected.push(`identity: GET /a/b/.well-known/${file} signed anonymous for identity ${id}`)
  }
  expect(asked).toEqual(expected)
})

test('only the operations of the contracts are forwarded', async () => {
  const { asked, urls } = await services()
  const { app } = await gatewayTo([urls.catalog], { others: urls })
  const isOperation = (asked: string, path: string) =>
    OPERATIONS.some(
      operation =>
        operation.method === (asked === 'HEAD' ? 'GET' : asked) &&
        new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
  const paths = [
    ...['/', '/metrics', '/health', '/health/live', '/health/ready', '/inside', '/inside/requests'],
    ...['/inside/requests/', '//inside/requests', '/inside%2Frequests', '/%69nside/requests', '/%6Detrics'],
    ...[
      '/openapi.json',
      '/docs',
      '/.well-known',
      '/apis/metrics/inside/requests',
      '/catalog/metrics',
      '/*',
      '/:id',
    ],
    ...Object.values(subjects).map(
      subject => `/${typeof subject === 'string' ? subject : subject('catalog', 'X')}`,
    ),
    ...OPERATIONS.map(({ path }) => path.replace(/\{\w+\}/g, API)).flatMap(path => [
      path,
      `${path}/metrics`,
      `/catalog${path}`,
    ]),
  ]
  const sent: string[] = []
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const) {
      if (isOperation(method, path)) continue
      await app.inject({ method, url: path })
      sent.push(`${method} ${path}`)
    }
  }
  expect(sent.length).toBeGreaterThan(500)
  expect(asked).toEqual([])
})

test('claims of a caller about its identity are not passed on', async () => {
  const catalog = await replica(ok)
  const { url } = await gatewayTo([catalog.url])
  await fetch(`${url}/apis`, {
    headers: {
      [PRINCIPAL_HEADER]: 'forged',
      authorization: 'Bearer secret',
      'x-forwarded-for': '1.2.3.4',
      cookie: 'a=b',
    },
  })
  expect(catalog.asked[0]?.headers).toMatchObject({
    [PRINCIPAL_HEADER]: 'signed ada for catalog listApis',
    'x-forwarded-for': '127.0.0.1',
  })
  expect(catalog.asked[0]?.headers).not.toHaveProperty('authorization')
  expect(catalog.asked[0]?.headers).not.toHaveProperty('cookie')
})

test.for(['GET', 'POST', 'PUT', 'DELETE'])('a %s goes to another replica when one refuses', async method => {
  const catalog = await replica(ok)
  const { url } = await gatewayTo([await refusing(), catalog.url])
  const path = method === 'POST' ? '/apis' : `/apis/${API}`
  const json = { headers: { 'content-type': 'application/json' }, body: '{"name":"a"}' }
  for (let i = 0; i < 2; i++) {
    const response = await fetch(`${url}${path}`, { method, ...(method.startsWith('P') && json) })
    expect(response.status).toBe(200)
  }
  expect(catalog.asked).toHaveLength(2)
})

test('a read goes to another replica when the connection breaks', async () => {
  const breaking = await replica(request => void request.socket.destroy())
  const catalog = await replica(ok)
  const { url } = await gatewayTo([breaking.url, catalog.url])
  for (let i = 0; i < 2; i++) expect((await fetch(`${url}/apis`)).status).toBe(200)
})

test('a read goes to another replica when the first does not respond for seconds', async () => {
  const silent = await replica(() => {})
  const catalog = await replica(ok)
  const { url } = await gatewayTo([silent.url, catalog.url])
  for (let i = 0; i < 2; i++) expect((await fetch(`${url}/apis`)).status).toBe(200)
  expect(silent.asked).toHaveLength(1)
})

test.for(['POST', 'PUT', 'DELETE'])('a %s that may have been applied is not sent again', async method => {
  const breaking = await replica(request => void request.socket.destroy())
  const { url } = await gatewayTo([breaking.url, breaking.url])
  const json = { headers: { 'content-type': 'application/json' }, body: '{}' }
  const response = await fetch(`${url}/apis${method === 'POST' ? '' : `/${API}`}`, {
    method,
    ...(method.startsWith('P') && json),
  })
  expect(response.status).toBe(503)
  expect(breaking.asked).toHaveLength(1)
})

test('when no replica responds, the client gets 503 with Retry-After', async () => {
  const { url } = await gatewayTo([await refusing(), await refusing()])
  const response = await fetch(`${url}/apis`)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('2')
  expect(response.headers.get('content-type')).toMatch('application/problem+json')
  expect(await response.json()).toMatchObject({ code: 'unavailable', instance: '/apis' })
})

/** A tracer that keeps the spans of kind client that have ended, as `status error`. */
function recordingTracer() {
  const ended: string[] = []
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const begin = ({ kind }: SpanStart): Span => {
    let status: unknown = null
    let error: string | null = null
    let isOpen = true
    return {
      traceparent,
      set(attributes) {
        status = attributes['http.response.status_code'] ?? status
      },
      fail: type => (error = type),
      end() {
        if (isOpen && kind === 'client') ended.push(`${status} ${error}`)
        isOpen = false
      },
      child: begin,
    }
  }
  const tracer: Tracer = { start: start => ({ traceparent, span: begin(start) }) }
  return { tracer, ended }
}

test('the span of a request to a service ends with its response, or when another replica is tried', async () => {
  const { tracer, ended } = recordingTracer()
  const catalog = await replica((_request, response) => void response.writeHead(404).end())
  const { url } = await withTracer(tracer, async () => gatewayTo([await refusing(), catalog.url]))
  for (let i = 0; i < 2; i++) await (await fetch(`${url}/apis`)).body?.cancel()
  await vi.waitFor(() => expect(ended.toSorted()).toEqual(['404 404', '404 404', 'null ECONNREFUSED']))
})

test.for(['GET', 'POST'])('the span of a %s to a service ends when the client is gone', async method => {
  const { tracer, ended } = recordingTracer()
  const waiting: ServerResponse[] = []
  const slow = await replica((_request, response) => void waiting.push(response))
  const { url } = await withTracer(tracer, () => gatewayTo([slow.url]))
  const json = { headers: { 'content-type': 'application/json' }, body: '{}' }
  const leaving = new AbortController()
  const init = { method, signal: leaving.signal, ...(method === 'POST' && json) }
  const left = fetch(`${url}/apis`, init).catch(() => 'gone')
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  leaving.abort()
  expect(await left).toBe('gone')
  await vi.waitFor(() => expect(ended).toEqual(['null aborted']))
  waiting[0]?.end()
})

test('a client that is still sending gets the response, and its connection stays open', async () => {
  const media = createServer((_request, response) => void response.writeHead(413).end('too large'))
  const port = await listen(media)
  opened.push(media)
  const { url } = await gatewayTo([`http://127.0.0.1:${port}`])
  const response = await fetch(`${url}/apis/${API}/image`, {
    method: 'PUT',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: Buffer.alloc(8 * 1_048_576),
  })
  expect([response.status, await response.text()]).toEqual([413, 'too large'])
  expect(response.headers.get('connection')).not.toBe('close')
})

describe('the memory for bodies', () => {
  const form = { 'content-type': 'multipart/form-data; boundary=b' }

  test('is not used up by bodies that are streamed', async () => {
    const media = await replica(ok)
    const { url, heldBytes } = await gatewayTo([media.url], { bodyMemory: 1_048_576 })
    const body = Buffer.alloc(4 * 1_048_576, 'x')
    const response = await fetch(`${url}/apis/${API}/image`, { method: 'PUT', headers: form, body })
    expect(response.status).toBe(200)
    expect(media.asked[0]?.body).toHaveLength(body.length)
    await vi.waitFor(async () => expect(await heldBytes()).toBe(0))
  })

  test('counts bytes that a slow service has not read, and JSON until the service responds', async () => {
    const waiting: { request: IncomingMessage; response: ServerResponse }[] = []
    const slow = createServer((request, response) => void waiting.push({ request, response }))
    const port = await listen(slow)
    opened.push(slow)
    const { url, heldBytes } = await gatewayTo([`http://127.0.0.1:${port}`])
    const upload = fetch(`${url}/apis/${API}/image`, {
      method: 'PUT',
      headers: form,
      body: Buffer.alloc(16 * 1_048_576, 'x'),
    })
    await vi.waitFor(async () => expect(await heldBytes()).toBeGreaterThanOrEqual(65_536))
    expect(await heldBytes()).toBeLessThan(1_048_576)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.request.resume().on('end', () => waiting[0]?.response.end('{}'))
    expect((await upload).status).toBe(200)
    await vi.waitFor(async () => expect(await heldBytes()).toBe(0))

    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"a"}' }
    const leaving = new AbortController()
    const left = fetch(`${url}/apis`, { ...json, signal: leaving.signal }).catch(() => 'given up')
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    leaving.abort()
    expect(await left).toBe('given up')
    const stayed = fetch(`${url}/apis`, json)
    await vi.waitFor(() => expect(waiting).toHaveLength(3))
    expect(await heldBytes()).toBeGreaterThanOrEqual(2 * json.body.length)
    for (const { response } of waiting.slice(1)) response.end('{}')
    expect((await stayed).status).toBe(200)
    await vi.waitFor(async () => expect(await heldBytes()).toBe(0))
  })
})
