import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { Gauge, Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { processLog } from '../service/process-log.ts'
import { noteCaller } from './request-context.ts'
import { httpServer } from './server.ts'

let notReady: string | undefined
let metrics: Registry
let lines: string[]
let app: ReturnType<typeof httpServer>
beforeEach(() => {
  notReady = undefined
  lines = []
  metrics = new Registry()
  app = httpServer({
    basePath: '/gantry',
    log: pino({ level: 'info' }, { write: line => void lines.push(line) }),
    metrics,
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    notReadyReason: () => notReady,
  })
  app.get('/gantry/fault', async () => {
    throw new Error('a secret inside')
  })
  app.post('/gantry/echo', async request => request.body ?? 'nothing')
})
afterEach(async () => {
  await app.close()
})

test('/health/ready tells whether the server is ready, and why not', async () => {
  const ready = await app.inject('/gantry/health/ready')
  expect(ready.json()).toEqual({ status: 'ready', time: '2026-11-21T10:00:00.000Z' })
  notReady = 'waits for the log'
  const answer = await app.inject('/gantry/health/ready')
  expect(answer.statusCode).toBe(503)
  expect(answer.headers['retry-after']).toBe('2')
  expect(answer.json()).toMatchObject({ code: 'not-ready', detail: 'waits for the log' })
  expect((await app.inject('/gantry/health/live')).statusCode).toBe(200)
})

test('metrics of requests have no health checks, scrapes and unknown paths, and begin with 0 for each class', async () => {
  const responses = async () => {
    const { values = [] } = (await metrics.getSingleMetric('gantry_http_responses_total')?.get()) ?? {}
    return Object.fromEntries(values.map(({ labels, value }) => [labels.class, value]))
  }
  const none = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }
  notReady = 'waits for the log'
  for (const path of ['health/live', 'health/ready', 'metrics', 'unknown'])
    await app.inject(`/gantry/${path}`)
  expect(await responses()).toEqual(none)
  await app.inject('/gantry/fault')
  await app.inject({ method: 'POST', url: '/gantry/echo' })
  expect(await responses()).toEqual({ ...none, '2xx': 1, '5xx': 1 })
  const durations = await metrics.getSingleMetricAsString('gantry_http_request_duration_seconds')
  const routes = durations.matchAll(/_count\{.*route="([^"]*)"/g)
  expect([...routes].map(([, route]) => route)).toEqual(['none', '/gantry/fault', '/gantry/echo'])
})

test('/metrics is computed at most once a second, after the request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let computed = 0
  let asked = 0
  new Gauge({
    name: 'computed',
    help: '-',
    registers: [metrics],
    collect() {
      this.set(++computed)
    },
  })
  app.addHook('preHandler', async () => void asked++)
  const scrape = async () => /^computed (\d+)$/m.exec((await app.inject('/gantry/metrics')).body)?.[1]
  const scrapes = async (ms: number) => {
    asked = 0
    const answers = Promise.all(Array.from({ length: 20 }, scrape))
    while (asked < 20) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(ms)
    const before = computed
    await vi.advanceTimersByTimeAsync(1)
    return { before, answers: new Set(await answers) }
  }
  expect(await scrapes(0)).toEqual({ before: 1, answers: new Set(['1']) })
  expect(await scrapes(998)).toEqual({ before: 1, answers: new Set(['2']) })
})

test.for([
  [['host: a', 'Host: a'], 400],
  [['host: a', 'host: b'], 400],
  [['host: a'], 200],
] as const)('a request with the headers %j is answered %i', async ([headers, status]) => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.end(['GET /gantry/health/live HTTP/1.1', ...headers, 'connection: close', '', ''].join('\r\n'))
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})

test('a plugin that takes minutes to register does not fail the start', async () => {
  vi.useFakeTimers()
  try {
    const added = Promise.withResolvers<void>()
    app.register(async () => added.promise)
    const ready = app.ready().then(() => 'ready')
    await vi.advanceTimersByTimeAsync(300_000)
    added.resolve()
    expect(await ready).toBe('ready')
  } finally {
    vi.useRealTimers()
  }
})

describe('a problem', () => {
  test('never shows the details of an internal error, which are logged with the request id', async () => {
    const answer = await app.inject({ url: '/gantry/fault', headers: { 'x-request-id': 'r-1' } })
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toEqual({
      type: 'urn:gantry:problem:internal-error',
      title: 'An internal error occurred',
      status: 500,
      detail: 'An internal error occurred',
      instance: '/gantry/fault',
      code: 'internal-error',
      requestId: 'r-1',
      timestamp: '2026-11-21T10:00:00.000Z',
    })
    expect(lines.join()).toContain('a secret inside')
    expect(lines.join()).toContain('r-1')
  })
})

test.for([
  ['private, no-cache', 'GET', 200, { etag: '"7"' }],
  ['private, no-cache', 'HEAD', 304, { etag: '"7"' }],
  ['no-store', 'GET', 200, {}],
  ['no-store', 'GET', 412, { etag: '"7"' }],
  ['no-store', 'POST', 200, { etag: '"7"' }],
  ['public, max-age=60', 'GET', 200, { 'cache-control': 'public, max-age=60' }],
] as const)('a response may be cached as %s: %s %i %j', async ([caching, method, status, headers]) => {
  app.route({
    method: method === 'HEAD' ? 'GET' : method,
    url: '/gantry/record',
    handler: (_request, reply) => reply.code(status).headers(headers).send(''),
  })
  expect((await app.inject({ method, url: '/gantry/record' })).headers['cache-control']).toBe(caching)
})

test('every problem and health check says that it must not be stored', async () => {
  for (const url of ['/gantry/fault', '/gantry/absent', '/gantry/health/ready'])
    expect((await app.inject(url)).headers['cache-control']).toBe('no-store')
})

test('an empty body with a content type counts as absent', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/gantry/echo',
    headers: { 'content-type': 'application/json' },
    payload: '',
  })
  expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 200, body: 'nothing' })
})

test('an unknown path is told apart from a missing record, and from one without the base path', async () => {
  const detailOf = async (path: string) => (await app.inject(path)).json().detail
  expect(await detailOf('/gantry/nothing')).toBe('no operation has this path: see /gantry/openapi.json')
  expect(await detailOf('/apis')).toBe('all paths begin with /gantry')
})

test('a valid request id of the client is kept, and an invalid one is replaced', async () => {
  const id = async (given: string) =>
    (await app.inject({ url: '/gantry/health/live', headers: { 'x-request-id': given } })).headers[
      'x-request-id'
    ]
  expect(await id('trace-7')).toBe('trace-7')
  expect(await id('<script>')).toMatch(/^[0-9a-f-]{36}$/)
})

describe('the access log', () => {
  const caller = {
    userId: '22222222-2222-4222-8222-222222222222',
    username: 'grace',
    role: 'USER',
    scopes: [],
    kind: 'accessToken',
    tokenId: '44444444-4444-4444-8444-444444444444',
    credentialId: '44444444-4444-4444-8444-444444444444',
    expiresAt: 0,
  } as const
  const logged = () => lines.map(line => JSON.parse(line)).find(({ msg }) => msg === 'answered')

  test('has the caller, the request, the address and the status', async () => {
    app.get('/gantry/things/:id', async request => {
      noteCaller(request, { ...caller, scopes: [] })
      return 'done'
    })
    await app.inject({
      url: '/gantry/things/7?name=a%20secret',
      headers: { 'x-request-id': 'r-1', authorization: 'Bearer a secret' },
      remoteAddress: '192.0.2.7',
    })
    expect(logged()).toMatchObject({
      requestId: 'r-1',
      method: 'GET',
      route: '/gantry/things/:id',
      path: '/gantry/things/7',
      status: 200,
      ms: expect.any(Number),
      address: '192.0.2.7',
      principal: caller.userId,
      accessToken: caller.tokenId,
    })
    expect(logged()).not.toHaveProperty('code')
    expect(lines.join()).not.toContain('secret')
  })

  test('has the code of the problem of a refused request', async () => {
    const answer = await app.inject({ url: '/gantry/nothing', headers: { 'x-request-id': 'r-2' } })
    expect(logged()).toMatchObject({ requestId: 'r-2', status: 404, code: answer.json().code })
  })

  test('has no headers, at whatever depth a library logs them', () => {
    const log = processLog({ level: 'trace' }, { write: line => void lines.push(line) })
    const headers = { authorization: 'Bearer a secret' }
    log.trace({ headers, request: { headers }, error: { response: { headers }, status: 7 } })
    expect(lines.map(line => JSON.parse(line))).toMatchObject([{ error: { status: 7 } }])
    expect(lines.join()).not.toContain('secret')
  })

  test('leaves out failures whose cause is reported elsewhere', () => {
    const log = processLog({ level: 'info' }, { write: line => void lines.push(line) })
    const reported = Object.assign(new Error('the disk is full'), { reported: true })
    log.error({ worker: 'catalog.projector', err: new Error('away', { cause: reported }) }, 'failed')
    log.error(reported, 'failed')
    log.error({ err: new Error('away', { cause: new Error('refused') }) }, 'failed')
    expect(lines.map(line => JSON.parse(line).err.message)).toEqual(['away: refused'])
  })

  test.for([
    ['pat_0000000000000000000000000000000000000000000000001', 'pat_…'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_…'],
    ['eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln', 'eyJ…'],
  ])('cuts off a secret in a path: %s', async ([secret, shown]) => {
    await app.inject(`/gantry/accessTokens/${secret}`)
    expect(logged()).toMatchObject({ path: `/gantry/accessTokens/${shown}`, status: 404 })
    expect(lines.join()).not.toContain(secret)
  })
})
