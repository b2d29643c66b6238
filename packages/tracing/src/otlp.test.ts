import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  answered,
  beginContext,
  currentContext,
  databaseSpan,
  handlingMessage,
  inOwnContext,
  inSpan,
  requestSpan,
  sendingMessages,
  withTracer,
} from './index.ts'
import { type OtlpOptions, otlpTracer } from './otlp.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN_ID = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE_ID}-${SPAN_ID}-01`
const LEFT_OUT = `00-${TRACE_ID}-${SPAN_ID}-00`
const MESSAGE = { id: 'm-1', subject: 'events.catalog.API_CREATED', data: { requestId: 'r-1' } }

interface Received {
  name: string
  spanId: string
  traceId: string
  parentSpanId?: string
  kind: number
  status: { code: number }
  links: { spanId: string }[]
  attributes: { key: string; value: object }[]
}

/** A collector in this process, which answers as told. */
async function startCollector(answer: (response: ServerResponse) => void = response => response.end('{}')) {
  const requests: { path: string | undefined; token: unknown; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ path: request.url, token: request.headers['x-token'], body })
    answer(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const resources = () => requests.flatMap(({ body }) => JSON.parse(body).resourceSpans)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    requests,
    resources,
    spans: (): Received[] =>
      resources().flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope: { spans: Received[] }) => scope.spans),
      ),
  }
}

const reasons: (string | undefined)[] = []
const open = (url: string, options: Partial<OtlpOptions> = {}) => {
  reasons.length = 0
  return otlpTracer({
    url,
    headers: {},
    protocol: 'http/json',
    sampler: { name: 'parentbased_always_on', ratio: 1 },
    resource: { 'service.name': 'gantry-catalog' },
    report: reason => reasons.push(currentContext() ? 'in the context of a request' : reason),
    ...options,
  })
}

test('spans continue the trace of a request, down to the messages that it causes and what they cause', async () => {
  const collector = await startCollector()
  const { tracer, close } = open(collector.url, { headers: { 'x-token': 'secret' } })
  const published: (typeof MESSAGE & { headers?: Record<string, string> })[] = []
  await withTracer(tracer, async () => {
    const context = beginContext('r-1', SAMPLED, { name: 'POST /apis', kind: 'server' })
    await inOwnContext(context, async () => {
      await inSpan(databaseSpan('sqlite', 'append', 'api'), async () => {})
      const url = new URL('http://media:8080/images?token=secret')
      await inSpan(requestSpan('GET', url), async span => answered(span, 404))
      await expect(
        inSpan({ name: 'CreateApi api' }, () =>
          Promise.reject(Object.assign(new Error(), { code: 'taken' })),
        ),
      ).rejects.toThrow()
      const headers = currentContext()?.headers
      await sendingMessages('nats', [{ ...MESSAGE, ...(headers && { headers }) }], async sent => {
        published.push(...sent)
      })
    })
    const [message = MESSAGE] = published
    await handlingMessage('nats', message, async () => expect(currentContext()?.requestId).toBe('r-1'))
  })
  await close(5_000)

  expect(collector.requests).toMatchObject([{ path: '/v1/traces', token: 'secret' }])
  expect(JSON.stringify(collector.resources())).not.toContain('secret')
  expect(JSON.stringify(collector.resources()[0].resource)).toContain('gantry-catalog')
  const spans = new Map(collector.spans().map(span => [span.name, span]))
  const parentOf = (name: string) => {
    const { parentSpanId } = spans.get(name) ?? {}
    return [...spans.values()].find(({ spanId }) => spanId === parentSpanId)?.name ?? parentSpanId
  }
  expect([...spans.values()].map(({ traceId }) => traceId)).toEqual(Array(6).fill(TRACE_ID))
  expect([...spans.keys()].map(name => [name, spans.get(name)?.kind, parentOf(name)]).sort()).toEqual([
    ['CreateApi api', 1, 'POST /apis'],
    ['GET', 3, 'POST /apis'],
    ['POST /apis', 2, SPAN_ID],
    ['append api', 3, 'POST /apis'],
    ['process events.catalog.API_CREATED', 5, 'send events.catalog.API_CREATED'],
    ['send events.catalog.API_CREATED', 4, 'POST /apis'],
  ])
  expect(spans.get('process events.catalog.API_CREATED')?.links).toMatchObject([
    { spanId: spans.get('send events.catalog.API_CREATED')?.spanId },
  ])
  const contentOf = (name: string) => {
    const { attributes, status } = spans.get(name) as Received
    const values = attributes.map(({ key, value }) => [key, Object.values(value)[0]])
    return { ...Object.fromEntries(values), status: status.code }
  }
  expect(contentOf('CreateApi api')).toEqual({ 'error.type': 'taken', status: 2 })
  expect(contentOf('GET')).toEqual({
    'http.request.method': 'GET',
    'url.full': 'http://media:8080/images',
    'server.address': 'media',
    'server.port': 8080,
    'http.response.status_code': 404,
    'error.type': '404',
    status: 2,
  })
  expect(contentOf('append api')).toEqual({
    'db.system.name': 'sqlite',
    'db.operation.name': 'append',
    'db.collection.name': 'api',
    status: 0,
  })
  expect(contentOf('process events.catalog.API_CREATED')).toEqual({
    'messaging.system': 'nats',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'events.catalog.API_CREATED',
    'messaging.message.id': 'm-1',
    status: 0,
  })
})

test.each([
  ['parentbased_always_on', LEFT_OUT, false],
  ['parentbased_always_on', undefined, true],
  ['parentbased_always_off', SAMPLED, true],
  ['parentbased_always_off', undefined, false],
  ['parentbased_traceidratio', undefined, false],
  ['parentbased_traceidratio', SAMPLED, true],
  ['traceidratio', SAMPLED, false],
  ['always_on', LEFT_OUT, true],
  ['always_off', SAMPLED, false],
] as const)('%s with the traceparent %s and the ratio 0 records: %s', async (name, given, recorded) => {
  const { tracer, close } = open('http://127.0.0.1:1/v1/traces', { sampler: { name, ratio: 0 } })
  onTestFinished(() => close(0))
  const context = withTracer(tracer, () => beginContext('r-1', given, { name: 'GET /apis' }))
  expect(context.span !== undefined).toBe(recorded)
  expect(context.traceparent).toMatch(recorded ? /-01$/ : given === undefined ? /-00$/ : given)
  if (given) expect(context.traceId).toBe(TRACE_ID)
})

test('a collector that refuses is reported once, and again when it takes spans', async () => {
  let status = 400
  const collector = await startCollector(response => void response.writeHead(status).end('{}'))
  const { tracer, close } = open(collector.url)
  const record = () =>
    withTracer(tracer, () =>
      inOwnContext(beginContext('r-1', SAMPLED, { name: 'GET /apis' }), () =>
        inSpan({ name: 'CreateApi api' }, async () => {}),
      ),
    )
  for (const count of [1, 2]) {
    await record()
    await vi.waitFor(() => expect(collector.requests).toHaveLength(count))
  }
  status = 200
  await record()
  await vi.waitFor(() => expect(reasons).toEqual([expect.stringMatching(/Bad Request|400/), undefined]))
  await close(5_000)
})

test('a collector that does not answer delays the end by the given time only', async () => {
  const { promise: unanswered, resolve } = Promise.withResolvers<ServerResponse>()
  let arrived = 0
  const collector = await startCollector(response => {
    if (arrived++ === 0) resolve(response)
    else response.end()
  })
  const { tracer, close } = open(collector.url)
  withTracer(tracer, () => beginContext('r-1', SAMPLED, { name: 'GET /apis' }).span?.end())
  const closed = close(1_000)
  const response = await unanswered
  await closed
  // Without the given time the end would wait until the exporter gives up and closes its connection. The collector learns
  // of that before it receives another request.
  await fetch(collector.url, { method: 'POST', body: '{}' })
  expect(response.destroyed).toBe(false)
})
