import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { limitConnections } from './connections.ts'
import { type ClientOptions, httpServer } from './server.ts'

let app: FastifyInstance | undefined
let sockets: Socket[] = []
let port: number
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await app?.close()
  app = undefined
})

async function listen(clients: ClientOptions = {}) {
  app = httpServer({
    basePath: '',
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    notReadyReason: () => undefined,
    clients,
  })
  app.post('/things', async () => 'taken')
  app.get('/slow', async (_request, reply) => {
    await once(reply.raw, 'close')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as { port: number }).port
}

/** Opens a connection. @returns the socket, the text received so far, and whether it was closed */
async function open(localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  const seen = { socket, received: '', closed: false }
  socket.on('data', chunk => (seen.received += chunk))
  socket.on('close', () => (seen.closed = true))
  socket.on('error', () => {})
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  return seen
}
const soon = (assertion: () => void) => vi.waitFor(assertion, { interval: 10 })
const answers = async () => {
  const client = await open()
  client.socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await soon(() => expect(client.received || client.closed).toBeTruthy())
  expect(client.received).toContain('"live"')
  return client
}

describe('a slow client', () => {
  const timeouts = { headersMs: 300, requestMs: 600, idleMs: 400, silentMs: 120_000 }
  const STARTS = {
    'says nothing': '',
    'does not end its headers': 'GET /health/live HTTP/1.1\r\nHost: a\r\n',
    'does not end its body':
      'POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n',
  }

  test.for(Object.entries(STARTS))('that %s is answered with 408 and disconnected', async ([, start]) => {
    await listen({ timeouts })
    const client = await open()
    client.socket.write(start)
    // Single bytes do not extend the timeout.
    const dripping = start === '' ? undefined : setInterval(() => client.socket.write('x'), 50)
    await soon(() => expect(client.closed).toBe(true))
    clearInterval(dripping)
    expect(client.received).toMatch(/^HTTP\/1\.1 408 /)
    expect(client.received).toContain('"code":"request-timeout"')
  })

  test('is disconnected if it sends no request on an open connection', async () => {
    await listen({ timeouts })
    const client = await answers()
    await soon(() => expect(client.closed).toBe(true))
    expect(client.received).not.toContain('408')
  })

  test('is disconnected if no byte is transferred in either direction', async () => {
    await listen({ timeouts: { ...timeouts, silentMs: 300 } })
    const client = await open()
    client.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
    await soon(() => expect(client.closed).toBe(true))
  })
})

describe('connections beyond the limit', () => {
  test('are refused, and accepted again after others have ended', async () => {
    await listen({ connections: { total: 2, perAddress: 0, proxies: [] } })
    const [first] = [await answers(), await answers()]
    const third = await open()
    await soon(() => expect(third.closed).toBe(true))
    expect(third.received).toBe('')
    first.socket.destroy()
    await vi.waitFor(answers)
  })

  test('of one address are refused, those of another address are not', async () => {
    await listen({ connections: { total: 0, perAddress: 1, proxies: [] } })
    const first = await answers()
    const second = await open()
    await soon(() => expect(second.closed).toBe(true))
    const other = await open('127.0.0.2')
    other.socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    await soon(() => expect(other.received).toContain('"live"'))
    first.socket.destroy()
    await vi.waitFor(answers)
  })

  test('are counted by the /64 network of an IPv6 address', () => {
    const server = new EventEmitter()
    const limits = { total: 0, perAddress: 1, proxies: [] }
    limitConnections(server as Server, limits, pino({ level: 'silent' }))
    const isOpen = (remoteAddress: string) => {
      const socket = Object.assign(new Duplex(), { remoteAddress })
      server.emit('connection', socket)
      return !socket.destroyed
    }
    const addresses = ['2001:db8::1', '2001:db8:0:0:1::2', '2001:db8:0:1::1', '::ffff:192.0.2.1', '192.0.2.1']
    expect(addresses.map(isOpen)).toEqual([true, false, true, true, false])
    expect(['fe80::1%eth0', 'fe80::2%eth0', '192.0.2.2'].map(isOpen)).toEqual([true, false, true])
  })

  test('are accepted from a proxy, to which the limit per address does not apply', async () => {
    await listen({ connections: { total: 0, perAddress: 1, proxies: ['127.0.0.0/8'] } })
    await answers()
    await answers()
  })
})

describe('a body over the limit', () => {
  test.for([
    ['announced', (body: Buffer) => body],
    ['in chunks', (body: Buffer) => new Blob([body]).stream()],
  ] as const)('%s is refused to a client that is still sending', async ([, bodyOf]) => {
    await listen()
    const answer = await fetch(`http://127.0.0.1:${port}/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bodyOf(Buffer.alloc(24 * 1_048_576, 'x')),
      duplex: 'half',
    })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'body-too-large' })
  })

  test('leaves the connection usable for later requests', async () => {
    await listen()
    const client = await open()
    client.socket.write(
      `POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n`,
    )
    await soon(() => expect(client.received).toMatch(/^HTTP\/1\.1 413 /))
    client.socket.write('x'.repeat(2_000_000))
    client.socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    await soon(() => expect(client.received).toContain('"live"'))
  })
})

test('headers over the limit are answered with 431', async () => {
  await listen()
  const client = await open()
  client.socket.write(`GET /health/live HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`)
  await soon(() => expect(client.closed).toBe(true))
  expect(client.received).toMatch(/^HTTP\/1\.1 431 /)
  expect(client.received).toContain('"code":"headers-too-large"')
})
