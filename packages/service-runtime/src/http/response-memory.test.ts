import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { administrator } from '../testing/index.ts'
import { BodyMemory } from './body-memory.ts'
import { noteCaller } from './request-context.ts'
import { ResponseMemory } from './response-memory.ts'
import { httpServer } from './server.ts'

const KIBIBYTE = 1_024
const LIMIT = 6_000 * KIBIBYTE
/** The kernel takes such a response completely. A quarter of the limit has room for one, not for two. */
const BODY = Buffer.alloc(1_000 * KIBIBYTE, 'x')

let app: FastifyInstance
let memory: ResponseMemory
let handled: number
beforeEach(() => listen(LIMIT))
afterEach(async () => {
  app.server.closeAllConnections()
  await app.close()
})

async function listen(limit: number) {
  handled = 0
  memory = new ResponseMemory(limit, true)
  app = httpServer({
    basePath: '',
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    notReadyReason: () => undefined,
    memory: { bodies: new BodyMemory(limit), responses: memory },
  })
  app.addHook('onRequest', async request => {
    const { 'x-user': user } = request.headers
    if (typeof user === 'string') noteCaller(request, { ...administrator, userId: user })
  })
  app.route({
    method: ['GET', 'POST'],
    url: '/body',
    async handler(_request, reply) {
      handled++
      return reply.header('etag', '"1"').header('cache-control', 'public').send(BODY)
    },
  })
  app.get('/small', async (_request, reply) => reply.send(BODY.subarray(0, 300 * KIBIBYTE)))
  app.get('/stream', async (_request, reply) => {
    return reply.header('content-length', 16_000 * KIBIBYTE).send(Readable.from(Array(16).fill(BODY)))
  })
  app.get('/follow', async (_request, reply) => {
    const endless = new Readable({ read() {} })
    endless.push('x')
    return reply.send(endless)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
}

interface Client {
  user?: string
  path?: string
  method?: string
  address?: string
  requests?: number
}
/** Sends requests and reads the head of the first response only. */
async function unread({ user, path = '/body', method = 'GET', address = '127.0.0.1', requests = 1 }: Client) {
  const { port } = app.server.address() as { port: number }
  const socket = connect({ port, host: '127.0.0.1', localAddress: address })
  onTestFinished(() => void socket.destroy())
  const seen = { socket, answer: '', closed: false }
  socket.on('error', () => {}).on('close', () => (seen.closed = true))
  const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${user ? `X-User: ${user}\r\n` : ''}\r\n`
  socket.write(head.repeat(requests))
  await once(socket, 'readable')
  seen.answer += socket.read(200)
  return seen
}
const connections = () => promisify<number>(done => app.server.getConnections(done))()
const statusOf = async (client: Client) => (await unread(client)).answer.slice(9, 12)
const soon = (assertion: () => unknown) => vi.waitFor(assertion, { interval: 5 })

describe('responses that a client does not read', () => {
  test('count in the kernel too: further reads of the caller get 429 until they are read', async () => {
    const first = await unread({ user: 'ada' })
    expect(first.answer).toMatch(/^HTTP\/1\.1 200 /)
    const second = await unread({ user: 'ada' })
    expect(second.answer).toMatch(/^HTTP\/1\.1 429 /)
    expect(second.answer).toMatch(/cache-control: no-store/)
    expect(second.answer).not.toMatch(/etag/)
    expect(handled).toBe(2)
    expect(await statusOf({ user: 'ada', path: '/body?again' })).toBe('429')
    // The size of the second response was known by then.
    expect(handled).toBe(2)
    expect(await statusOf({ user: 'bob' })).toBe('200')
    first.socket.resume()
    await soon(async () => expect(await statusOf({ user: 'ada' })).toBe('200'))
    expect(await statusOf({ user: 'ada', method: 'POST' })).toBe('200')
    const before = handled
    expect(await statusOf({ user: 'ada', method: 'POST' })).toBe('429')
    expect(handled).toBe(before)
  })

  test('do not count once they are read, however fast the client is', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port } = app.server.address() as { port: number }
    for (let n = 0; n < 4; n++) {
      const response = await fetch(`http://127.0.0.1:${port}/body`, { headers: { 'x-user': 'ada' } })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
  })

  test('count after the server has closed the connection, until the client has them', async () => {
    const { socket } = await unread({ user: 'ada' })
    app.server.closeIdleConnections()
    await soon(() => expect(connections()).resolves.toBe(0))
    expect(await statusOf({ user: 'ada' })).toBe('429')
    socket.resume()
    await once(socket, 'close')
    await soon(async () => expect(await statusOf({ user: 'ada' })).toBe('200'))
  })

  test('of pipelined requests count together', async () => {
    await unread({ user: 'ada', requests: 3 })
    await soon(() => expect(handled).toBe(2))
    await memory.closeSlow(performance.now())
    expect(memory.bytes).toBeLessThan(1.5 * BODY.length)
  })

  test('are not passed to another caller of the connection beyond the share of that caller', async () => {
    await unread({ address: '127.0.0.2', path: '/small' })
    const { socket } = await unread({ user: 'ada', address: '127.0.0.2' })
    for (const path of ['/none', '/body']) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await soon(() => expect(handled).toBe(2))
    expect(await statusOf({ user: 'ada' })).toBe('429')
    expect(await statusOf({ user: 'bob' })).toBe('200')
  })

  test('of callers without credentials together use at most half', async () => {
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
      expect(await statusOf({ address })).toBe('200')
    const refused = await unread({ address: '127.0.0.4' })
    expect(refused.answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(await statusOf({ user: 'ada' })).toBe('200')
    expect(await statusOf({ path: '/health/live' })).toBe('200')
  })

  test('of two addresses without credentials leave room for those of a third one', async () => {
    await app.close()
    await listen(4 * LIMIT)
    for (const address of ['127.0.0.1', '127.0.0.2'])
      for (let status = '200'; status === '200'; ) status = await statusOf({ address })
    expect(await statusOf({ address: '127.0.0.3' })).toBe('200')
  })

  test('count with 1 MiB at first when they are streamed, also those that begin at once', async () => {
    const users = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay', 'guy', 'hal']
    const begun = await Promise.all(users.map(user => statusOf({ user, path: '/stream' })))
    expect(begun.filter(status => status === '200')).toHaveLength(5)
    expect(begun.filter(status => status === '503')).toHaveLength(3)
  })
})

describe('a connection', () => {
  const later = () => memory.closeSlow(performance.now() + 30_000)

  test('is reset when its client receives less than 1 KiB/s over 30 s', async () => {
    const client = await unread({ user: 'ada', path: '/stream' })
    await memory.closeSlow(performance.now())
    await memory.closeSlow(performance.now() + 20_000)
    expect(await connections()).toBe(1)
    client.socket.read(256)
    await later()
    await soon(() => expect(connections()).resolves.toBe(0))
    await later()
    expect(memory.bytes).toBe(0)
  })

  test('stays open while its client receives more, or has received everything', async () => {
    const { socket } = await unread({ user: 'ada', path: '/stream' })
    await unread({ user: 'bob', path: '/follow' })
    await memory.closeSlow(performance.now())
    const before = memory.bytes
    let read = 0
    await new Promise<void>(resolve =>
      socket.on('data', ({ length }) => {
        read += length
        if (read > 14 * BODY.length) resolve(void socket.pause())
      }),
    )
    await later()
    expect(memory.bytes).toBeLessThan(before - BODY.length)
    expect(await connections()).toBe(2)
  })
})
