import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { administrator } from '../testing/index.ts'
import { BodyMemory, GrowingBuffer, retainBody } from './body-memory.ts'
import { noteCaller } from './request-context.ts'
import { ResponseMemory } from './response-memory.ts'
import { httpServer } from './server.ts'

const KIBIBYTE = 1_024
const MEBIBYTE = 1_048_576

describe('the memory for bodies', () => {
  test('gives one caller at most a quarter of the limit', () => {
    const memory = new BodyMemory(1_000)
    const body = memory.countFor('ada')
    body.add(250)
    expect(() => body.add(1)).toThrow('too-many-requests')
    expect(() => memory.countFor('ada').add(1)).toThrow('too-many-requests')
    for (const other of ['bob', 'eve', 'kim']) memory.countFor(other).add(250)
    expect(memory.bytes).toBe(1_000)
    expect(() => memory.countFor('sue').add(1)).toThrow('body-memory-full')
    body.subtract(1)
    memory.countFor('sue').add(1)
  })

  test('is released once, after the last user of the body', () => {
    const memory = new BodyMemory(1_000)
    const body = memory.countFor('ada')
    body.add(200)
    body.retain()
    body.release()
    expect(memory.bytes).toBe(200)
    body.release()
    expect(memory.bytes).toBe(0)
    expect(() => body.add(1)).toThrow('malformed-request')
    body.subtract(200)
    expect(memory.bytes).toBe(0)
  })

  test('counts the allocated memory, and joins small chunks', () => {
    const memory = new BodyMemory(64 * MEBIBYTE)
    const buffer = new GrowingBuffer(memory.countFor('ada'))
    const added = Buffer.from(Array.from({ length: 64 * KIBIBYTE }, (_, at) => at % 256))
    for (const byte of added) buffer.add(Buffer.from([byte]))
    expect(buffer.bytes().equals(added)).toBe(true)
    expect(memory.bytes).toBe(64 * KIBIBYTE)
  })
})

describe('a server', () => {
  let app: FastifyInstance
  let metrics: Registry
  let sockets: Socket[]
  let working: PromiseWithResolvers<void>
  let began: PromiseWithResolvers<void>
  let gone: PromiseWithResolvers<void>
  let admitting: PromiseWithResolvers<Socket>
  let admitted: PromiseWithResolvers<void>
  beforeEach(async () => {
    sockets = []
    metrics = new Registry()
    working = Promise.withResolvers()
    began = Promise.withResolvers()
    gone = Promise.withResolvers()
    admitting = Promise.withResolvers()
    admitted = Promise.withResolvers()
    app = httpServer({
      basePath: '',
      log: pino({ level: 'silent' }),
      metrics,
      now: () => new Date('2026-11-21T10:00:00.000Z'),
      notReadyReason: () => undefined,
      memory: { bodies: new BodyMemory(256 * KIBIBYTE), responses: new ResponseMemory(MEBIBYTE) },
    })
    app.addHook('onRequest', async request => {
      const { 'x-user': user } = request.headers
      if (typeof user === 'string') noteCaller(request, { ...administrator, userId: user })
      if (user !== 'slow') return
      admitting.resolve(request.raw.socket)
      await admitted.promise
    })
    app.post('/things', (request, reply) =>
      retainBody(
        request,
        (async () => {
          reply.raw.once('close', gone.resolve)
          began.resolve()
          await working.promise
          reply.code(204)
        })(),
      ),
    )
    app.post('/inside', { config: { vouched: true } }, async () => 'taken')
    app.get('/stream', async (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200).flushHeaders()
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterEach(async () => {
    working.resolve()
    admitted.resolve()
    for (const socket of sockets) socket.destroy()
    app.server.closeAllConnections()
    await app.close()
  })

  const gauge = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value
  const bytes = () => gauge('gantry_request_body_bytes')
  const soon = (assertion: () => unknown) => vi.waitFor(assertion, { interval: 5 })
  const url = () => {
    const { port } = app.server.address() as { port: number }
    return `http://127.0.0.1:${port}`
  }
  const send = async (head: string, body = '') => {
    const socket = connect(Number(new URL(url()).port), '127.0.0.1')
    sockets.push(socket)
    const seen = { socket, answer: '' }
    socket.on('error', () => {}).on('data', data => (seen.answer += data))
    await once(socket, 'connect')
    socket.write(`${head}\r\nHost: a\r\nContent-Type: application/json\r\n\r\n${body}`)
    return seen
  }
  const post = (user: string, length: number, body: string, path = '/things') =>
    send(`POST ${path} HTTP/1.1\r\nX-User: ${user}\r\nContent-Length: ${length}`, body)

  test('shows the limit and the bytes in memory as metrics', async () => {
    expect([await gauge('gantry_request_body_limit_bytes'), await bytes()]).toEqual([256 * KIBIBYTE, 0])
    await post('ada', 50_000, 'x'.repeat(40_000))
    await soon(async () => expect(await bytes()).toBeGreaterThanOrEqual(40_000))
    expect(await bytes()).toBeLessThan(2 * 65_536)
  })

  test.each(['Content-Length: 200002', 'Transfer-Encoding: chunked'])(
    'reads no body before the caller is admitted: %s',
    async length => {
      const seen = await send(`POST /inside HTTP/1.1\r\nX-User: slow\r\n${length}`)
      const server = await admitting.promise
      const head = server.bytesRead
      const body = JSON.stringify('x'.repeat(200_000))
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      seen.socket.write(length.startsWith('Content') ? body : chunk)
      for (let turn = 0; turn < 20; turn++) expect((await fetch(`${url()}/health/live`)).status).toBe(200)
      expect(server.bytesRead).toBe(head)
      admitted.resolve()
      await soon(() => expect(seen.answer).toMatch(/^HTTP\/1\.1 200 .*taken$/s))
    },
  )

  test('releases the body of a client that has disconnected', async () => {
    const { socket } = await post('ada', 50_000, 'x'.repeat(40_000))
    await soon(async () => expect(await bytes()).toBeGreaterThanOrEqual(40_000))
    socket.destroy()
    await soon(async () => expect(await bytes()).toBe(0))
  })

  test('counts a body until the work has ended, even if the client disconnects before', async () => {
    const body = JSON.stringify('x'.repeat(40_000))
    const { socket } = await post('ada', body.length, body)
    await began.promise
    socket.destroy()
    await gone.promise
    expect(await bytes()).toBeGreaterThanOrEqual(40_000)
    working.resolve()
    await soon(async () => expect(await bytes()).toBe(0))
  })

  test('refuses a caller beyond their share and reads the rest, so that the connection stays usable', async () => {
    const refused = await post('ada', 100_000, 'x'.repeat(90_000))
    await soon(() => expect(refused.answer).toMatch(/^HTTP\/1\.1 429 .*retry-after: 2\r\n/s))
    expect(refused.answer).toContain('"code":"too-many-requests"')
    expect(refused.answer).not.toMatch(/connection: close/i)
    refused.socket.write(`${'x'.repeat(10_000)}GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`)
    await soon(() => expect(refused.answer).toContain('"live"'))
  })

  test('accepts all bodies of other processes of the installation', async () => {
    const body = JSON.stringify('x'.repeat(200_000))
    const { answer } = await post('ada', body.length, body, '/inside').then(async seen => {
      await soon(() => expect(seen.answer).not.toBe(''))
      return seen
    })
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('does not keep the body of a GET', async () => {
    const reader = await send('GET /stream HTTP/1.1\r\nContent-Length: 4000000')
    await soon(() => expect(reader.answer).toMatch(/^HTTP\/1\.1 200 /))
    reader.socket.write('x'.repeat(4_000_000))
    // The server has read the body: the socket buffers of both sides are smaller.
    await soon(() => expect(reader.socket.writableLength).toBe(0))
  })
})
