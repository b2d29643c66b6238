import { EventEmitter } from 'node:events'
import { Refusal, requests } from '@gantry/contracts'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { answerProblem, INTERNAL_PORT_HEADER, PRINCIPAL_HEADER, Unanswered } from '@gantry/service-runtime'
import { ReadModelsUnavailable } from '@gantry/stores'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type InternalRequestsOptions, internalRequests } from './internal-requests.ts'
import { replicas } from './replicas.ts'

const PASSES = [requests.apiExists, requests.react('catalog')].map(({ id }) => `a pass to catalog for ${id}`)
const log = pino({ level: 'silent' })

let opened: FastifyInstance[]
beforeEach(() => {
  opened = []
})
afterEach(async () => {
  for (const app of opened) app.server.closeAllConnections()
  await Promise.all(opened.map(app => app.close()))
})

async function listening(routes: (app: FastifyInstance) => void): Promise<string> {
  const app = Fastify()
  opened.push(app)
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, new Date(0)))
  await app.register(async scope => routes(scope), { prefix: '/gantry' })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Starts a replica of catalog. @returns its URL and the ids of the APIs that it was asked for */
async function catalog(answer = async (_api: string) => true) {
  const asked: unknown[] = []
  const inside = internalRequests({ services: {}, basePath: '/gantry', pass: () => '' })
  const stop = inside.answer(requests.apiExists, async ({ api }) => {
    asked.push(api)
    return { exists: await answer(api) }
  })
  const url = await listening(app =>
    inside.routes(app, ({ headers }, purpose) => {
      const allowed = purpose ? [`a pass to ${purpose.service} for ${purpose.id}`] : PASSES
      if (!allowed.includes(String(headers[PRINCIPAL_HEADER]))) throw new Refusal('unauthenticated')
    }),
  )
  return { url, asked, stop }
}

type Pass = InternalRequestsOptions['pass']

const asking = (urls: string[], pass: Pass = ({ service, id }) => `a pass to ${service} for ${id}`) => {
  const { ask } = internalRequests({
    services: { catalog: replicas({ urls, basePath: '/gantry', now: () => new Date(), log }) },
    basePath: '/gantry',
    pass,
  })
  return (api: string, timeoutMs = 5_000) => ask({ ...requests.apiExists, timeoutMs }, { api })
}
/** No process listens there. Fetch would refuse a lower port itself. */
const nowhere = 'http://127.0.0.1:1024'

test('a request is answered by a replica at the URL of the service', async () => {
  const { url } = await catalog(async api => api === 'petstore')
  const exists = asking([url])
  expect(await exists('petstore')).toEqual({ exists: true })
  expect(await exists('nothing')).toEqual({ exists: false })
})

test('requests go to the internal port that the health check of the replica names', async () => {
  const { url: inside, asked } = await catalog()
  const url = await listening(app =>
    app.get('/health/ready', async (_request, reply) =>
      reply.header(INTERNAL_PORT_HEADER, new URL(inside).port).send({}),
    ),
  )
  const found = replicas({ urls: [url], basePath: '/gantry', now: () => new Date(), log })
  onTestFinished(found.watch())
  await vi.waitFor(() => expect(found.ready()).toBe(true))
  const services = { catalog: found }
  const pass: Pass = ({ service, id }) => `a pass to ${service} for ${id}`
  const { ask } = internalRequests({ services, basePath: '/gantry', pass })
  expect(await ask(requests.apiExists, { api: 'a' })).toEqual({ exists: true })
  expect(asked).toEqual(['a'])
})

test('requests go to the replicas in turn', async () => {
  const [first, second] = [await catalog(), await catalog()]
  const exists = asking([first.url, second.url])
  for (const api of ['a', 'b', 'c', 'd']) await exists(api)
  expect([first.asked, second.asked]).toEqual([
    ['b', 'd'],
    ['a', 'c'],
  ])
})

test('another replica is asked if one cannot be reached or is not ready', async () => {
  const [starting, ready] = [await catalog(), await catalog()]
  starting.stop()
  for (const failing of [nowhere, starting.url]) {
    const exists = asking([failing, ready.url])
    for (const api of ['a', 'b']) expect(await exists(api)).toEqual({ exists: true })
  }
  expect(ready.asked).toEqual(['a', 'b', 'a', 'b'])
  expect(starting.asked).toEqual([])
})

test('a paused replica leaves half of the timeout for another one', async () => {
  let pausedRequests = 0
  const paused = await listening(app =>
    app.post('/inside/requests', () => {
      pausedRequests++
      return new Promise(() => {})
    }),
  )
  const other = await catalog()
  const exists = asking([other.url, paused])
  expect(await exists('a', 4_000)).toEqual({ exists: true })
  expect(pausedRequests).toBe(1)
})

test('a single replica is asked again after its connection was lost', async () => {
  const broken = new EventEmitter()
  const { url, asked } = await catalog(async () => {
    if (asked.length === 1) broken.emit('connection')
    return true
  })
  broken.once('connection', () => opened[0]?.server.closeAllConnections())
  expect(await asking([url])('a')).toEqual({ exists: true })
  expect(asked).toEqual(['a', 'a'])
})

test('a refusal is passed on unchanged, and no other replica is asked', async () => {
  const refusing = async () => {
    throw new Refusal('api-not-found', { detail: 'it is gone' })
  }
  const [first, second] = [await catalog(refusing), await catalog(refusing)]
  const refused = asking([first.url, second.url])('a')
  await expect(refused).rejects.toBeInstanceOf(Refusal)
  await expect(refused).rejects.toMatchObject({ code: 'api-not-found', details: { detail: 'it is gone' } })
  expect([...first.asked, ...second.asked]).toEqual(['a'])
})

test('a request without an answer fails within its timeout, and says whether it may have been carried out', async () => {
  await expect(asking([nowhere])('a')).rejects.toMatchObject({ mayBeDone: false, reason: 'ECONNREFUSED' })
  const paused = await listening(app => app.post('/inside/requests', () => new Promise(() => {})))
  const unanswered = asking([nowhere, paused])('a', 200)
  await expect(unanswered).rejects.toBeInstanceOf(Unanswered)
  await expect(unanswered).rejects.toMatchObject({ mayBeDone: true })
})

test.for(['forged', 'a pass to catalog for catalog.react'])('the principal %s is refused', async shown => {
  const { url, asked } = await catalog()
  await expect(asking([url], () => shown)('a')).rejects.toMatchObject({
    mayBeDone: false,
    reason: 'PRINCIPAL_KEY or ENCRYPTION_KEY differs',
  })
  expect(asked).toEqual([])
})

test.for([
  ['no JSON', '{', 400],
  ['no request', 'null', 400],
  [
    'another shape than that of the request',
    JSON.stringify({ id: 'catalog.api-exists', asked: { api: 1 } }),
    400,
  ],
  ['a body of more than 32 MiB', JSON.stringify({ id: 'x'.repeat(33_600_000) }), 413],
] as const)('%s is refused', async ([, body, status]) => {
  const { url, asked } = await catalog()
  const headers = { 'content-type': 'application/json', [PRINCIPAL_HEADER]: PASSES[0] ?? '' }
  const response = await fetch(`${url}/gantry/inside/requests`, { method: 'POST', headers, body })
  expect(response.status).toBe(status)
  expect(asked).toEqual([])
})

test.for([EventStoreUnavailable, ReadModelsUnavailable])(
  'the requesting service gets the code unavailable, not an internal error, for %s',
  async Unavailable => {
    const { url } = await catalog(async () => {
      throw new Unavailable('connection refused')
    })
    await expect(asking([url])('petstore')).rejects.toMatchObject({ code: 'unavailable' })
  },
)
