import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { cidrs } from './address.ts'
import type { Resolve } from './host-resolver.ts'
import { type PostRequest, type Sender, sender } from './post.ts'

const CERTIFICATE = readFileSync(new URL('./fixtures/hooks.test.crt', import.meta.url), 'utf8')
const PRIVATE_KEY = readFileSync(new URL('./fixtures/hooks.test.key', import.meta.url), 'utf8')
/** Timeout of the requests that do not choose one. */
const LIMIT_MS = 20_000
/** Longer than LIMIT_MS, so that connecting cannot time out in its place. */
const CONNECT_LIMIT_MS = 60_000
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }]

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

const listen = async (server: Server): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', socket => sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
const http = async (respond: RequestListener) =>
  `http://127.0.0.1:${await listen(createHttpServer(respond))}/hook`

/** A receiver that runs `write` on the first data of each connection. */
const raw = async (write: (socket: Socket) => void) => {
  const connections: Socket[] = []
  const port = await listen(
    createServer(socket => {
      connections.push(socket)
      socket.once('data', () => write(socket))
    }),
  )
  return { url: `http://127.0.0.1:${port}/`, connections }
}

const senderOf = (options: { resolve?: Resolve; allowed?: string; ca?: string } = {}): Sender => {
  const { resolve = async () => LOOPBACK, allowed = '127.0.0.0/8', ca } = options
  const made = sender({
    resolve,
    allowed: allowed ? cidrs.parse(allowed) : [],
    timeoutMs: CONNECT_LIMIT_MS,
    ...(ca && { ca }),
  })
  open.push(() => made.close())
  return made
}

const post = (url: string, more: Partial<PostRequest> = {}, by = senderOf()) =>
  by.post({
    url,
    headers: { 'content-type': 'application/json', 'webhook-id': 'm' },
    body: Buffer.from('{"größe":1}'),
    timeoutMs: LIMIT_MS,
    signal: new AbortController().signal,
    ...more,
  })

const failureOf = async (answer: ReturnType<typeof post>) => {
  const { status, failure } = await answer
  return [failure?.code, status]
}

describe('a post', () => {
  test('sends body and headers unchanged and reads the response', async () => {
    let seen: unknown
    const url = await http(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method, url: path, headers } = request
      seen = {
        method,
        path,
        body: Buffer.concat(chunks).toString(),
        type: headers['content-type'],
        length: headers['content-length'],
      }
      response.writeHead(202, { 'retry-after': '7' }).end('taken')
    })
    expect(await post(`${url}?a=1&b=%20`)).toEqual({
      status: 202,
      body: 'taken',
      headers: expect.objectContaining({ 'retry-after': '7' }),
      retryAfter: '7',
      failure: undefined,
      durationMs: expect.any(Number),
    })
    expect(seen).toEqual({
      method: 'POST',
      path: '/hook?a=1&b=%20',
      body: '{"größe":1}',
      type: 'application/json',
      length: '13',
    })
  })

  test.for([200, 204, 299])('succeeds with a %i', async status => {
    const url = await http((_, response) => response.writeHead(status).end())
    expect(await failureOf(post(url))).toEqual([undefined, status])
  })

  test.for([400, 410, 500, 599])('fails with a %i', async status => {
    const url = await http((_, response) => response.writeHead(status).end('no'))
    const failure = { code: 'http-status', message: `answered ${status}` }
    expect(await post(url)).toMatchObject({ status, body: 'no', failure })
  })

  test.for([301, 304, 307])('fails with a %i and is not redirected', async status => {
    let visits = 0
    const url = await http((request, response) => {
      visits++
      response.writeHead(status, { location: `http://${request.headers.host}/elsewhere?token=secret` }).end()
    })
    const answer = await post(url)
    expect(answer).toMatchObject({ status, failure: { code: 'redirect' } })
    expect(answer.failure?.message).toMatch(/ to http:.*\/elsewhere…, which is not followed$/)
    expect(visits).toBe(1)
  })

  test('ignores interim responses', async () => {
    const { url } = await raw(socket =>
      socket.write(
        'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      ),
    )
    expect(await post(url)).toMatchObject({ status: 200, body: 'ok', failure: undefined })
  })
})

/** Calls `write` every 10 ms until the socket is closed. */
const keepSending = (socket: Socket, write: () => void) => {
  const timer = setInterval(write, 10)
  socket.on('close', () => clearInterval(timer))
}

describe('a slow receiver', () => {
  test.for<[string, (socket: Socket) => void]>([
    ['never responds', () => {}],
    [
      'sends its headers byte by byte',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        keepSending(socket, () => socket.write('y'))
      },
    ],
    [
      'keeps sending interim responses',
      socket => keepSending(socket, () => socket.write('HTTP/1.1 102 Processing\r\n\r\n')),
    ],
  ])('that %s fails at the timeout, and its connection is closed', async ([, write]) => {
    const { url, connections } = await raw(write)
    expect(await failureOf(post(url, { timeoutMs: 150 }))).toEqual(['timeout', null])
    await vi.waitFor(() => expect(connections.every(({ closed }) => closed)).toBe(true))
  })

  test('that does not complete the TLS handshake fails at the timeout', async () => {
    const url = (await raw(() => {})).url.replace('http:', 'https:')
    expect(await failureOf(post(url, { timeoutMs: 150 }))).toEqual(['timeout', null])
  })

  test('that sends its body slowly fails at the timeout, with the received part', async () => {
    const url = await http((_, response) => {
      response.writeHead(200)
      if (response.socket) keepSending(response.socket, () => response.write('drip '))
    })
    const answer = await post(url, { timeoutMs: 2_000 })
    expect(answer).toMatchObject({ status: 200, failure: { code: 'timeout' } })
    expect(answer.body).toMatch(/^drip drip/)
  })

  test('whose name resolves after the timeout gets no request', async () => {
    let visits = 0
    const url = await http((_, response) => {
      visits++
      response.end()
    })
    const found = Promise.withResolvers<typeof LOOPBACK>()
    const by = senderOf({ resolve: () => found.promise })
    const named = url.replace('127.0.0.1', 'hooks.test')
    expect(await failureOf(post(named, { timeoutMs: 50 }, by))).toEqual(['timeout', null])
    found.resolve(LOOPBACK)
    // The next request, on its own connection, gets a response; the one before it was never sent.
    expect(await failureOf(post(named, {}, by))).toEqual([undefined, 200])
    expect(visits).toBe(1)
  })

  test('is aborted by the signal', async () => {
    const { url, connections } = await raw(() => {})
    const controller = new AbortController()
    const answer = post(url, { signal: controller.signal })
    await vi.waitFor(() => expect(connections).toHaveLength(1))
    controller.abort()
    expect(await failureOf(answer)).toEqual(['interrupted', null])
    expect(await failureOf(post(url, { signal: controller.signal }))).toEqual(['interrupted', null])
  })
})

describe('an oversized response', () => {
  /**
   * Writes `beginning`, then `rest` repeatedly for as long as the client reads.
   * @returns the number of bytes written so far
   */
  const flood = async (beginning: string, rest: string) => {
    let written = 0
    const { url, connections } = await raw(socket => {
      socket.write(beginning)
      const more = () => {
        do written += rest.length
        while (!socket.destroyed && socket.write(rest))
      }
      socket.on('drain', more)
      more()
    })
    return { url, connections, written: () => written }
  }

  test('is read up to a limit, and the connection is closed', async () => {
    const chunk = '400\r\n'.concat('x'.repeat(1_024), '\r\n')
    const { url, connections, written } = await flood(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      chunk,
    )
    expect(await post(url)).toMatchObject({ status: 200, body: 'x'.repeat(4_096), failure: undefined })
    await vi.waitFor(() => expect(connections[0]?.closed).toBe(true))
    expect(written()).toBeLessThan(50_000_000)
  })

  test.for<[string, string, string, number | null]>([
    ['interim answers without end', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1_000), null],
    [
      'an interim response with endless headers',
      'HTTP/1.1 103 Early Hints\r\n',
      `a: ${'b'.repeat(60_000)}\r\n`,
      null,
    ],
    ['headers without end', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(10_000), null],
    [
      'an endless chunk extension',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=',
      'x'.repeat(65_536),
      200,
    ],
    [
      'an endless trailer',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
      'a: b\r\n'.repeat(10_000),
      200,
    ],
  ])('with %s fails at once', async ([, beginning, rest, status]) => {
    const { url, connections, written } = await flood(beginning, rest)
    expect(await failureOf(post(url))).toEqual(['bad-answer', status])
    await vi.waitFor(() => expect(connections[0]?.closed).toBe(true))
    expect(written()).toBeLessThan(50_000_000)
  })

  test('is measured per request, not per connection, which is reused', async () => {
    const long = 'x'.repeat(15_000)
    const ports = new Set<number | undefined>()
    const url = await http((request, response) => {
      ports.add(request.socket.remotePort)
      request.resume().on('end', () => response.end(long))
    })
    const by = senderOf()
    for (let n = 0; n < 20; n++) expect(await failureOf(post(url, {}, by))).toEqual([undefined, 200])
    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

describe('an invalid response', () => {
  test.for<[string, string]>([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['an unexpected 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok'],
  ])('that is %s fails', async ([, bytes]) => {
    const { url } = await raw(socket => socket.write(bytes))
    expect(await failureOf(post(url))).toEqual(['bad-answer', null])
  })

  test('fails when the connection is closed before or within it, with what was received', async () => {
    const early = await raw(socket => socket.destroy())
    expect(await failureOf(post(early.url))).toEqual(['closed-early', null])
    const within = await raw(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun'))
    const failure = { code: 'closed-early' }
    expect(await post(within.url)).toMatchObject({ status: 200, body: 'begun', failure })
  })
})

describe('a secure connection', () => {
  const secure = async (respond: RequestListener = (_, response) => response.end('safe')) => {
    const port = await listen(createHttpsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, respond))
    return `https://hooks.test:${port}/`
  }

  test('to a name in the certificate succeeds', async () => {
    const url = await secure()
    expect(await post(url, {}, senderOf({ ca: CERTIFICATE }))).toMatchObject({ status: 200, body: 'safe' })
  })
  test('with an untrusted certificate, to another name or to a receiver without TLS fails', async () => {
    const other = (await secure()).replace('hooks.test', 'other.test')
    const plain = (await http((_, response) => response.end())).replace('http:', 'https:')
    const answers = [post(await secure()), post(other, {}, senderOf({ ca: CERTIFICATE })), post(plain)]
    for (const answer of answers) expect(await failureOf(answer)).toEqual(['tls-failed', null])
  })
})

describe('an address that webhooks may not reach', () => {
  /** A receiver on this machine that must not be called. */
  const forbidden = async () => {
    const visits: string[] = []
    const url = await http((request, response) => {
      visits.push(request.url ?? '')
      response.end()
    })
    return { port: new URL(url).port, visits }
  }

  test('is refused in every notation', async () => {
    const { port, visits } = await forbidden()
    const resolve = () => Promise.reject(new Error('unexpected lookup'))
    const by = senderOf({ allowed: '', resolve })
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '017700000001',
      '０x7f.1',
      '0',
      '10.0.0.1',
    ]
    const inIpv6 = [
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[fc00::1]',
    ]
    for (const host of [...hosts, ...inIpv6])
      for (const scheme of ['http', 'https'])
        expect(await failureOf(post(`${scheme}://${host}:${port}/`, {}, by))).toEqual([
          'address-refused',
          null,
        ])
    expect(visits).toEqual([])
  })

  test.for<[string, string[]]>([
    ['this one', ['127.0.0.1']],
    ['this one and public ones', ['93.184.215.14', '127.0.0.1', '2606:4700::1111']],
    ['this one embedded in IPv6', ['64:ff9b::7f00:1']],
  ])('is refused when the addresses of a name are %s', async ([, addresses]) => {
    const { port, visits } = await forbidden()
    const found = addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    const by = senderOf({ allowed: '', resolve: async () => found })
    const answer = await post(`http://hooks.test:${port}/`, {}, by)
    expect(answer.failure).toMatchObject({ code: 'address-refused' })
    expect(answer.failure?.message).toContain('hooks.test')
    expect(visits).toEqual([])
  })

  test('is not reached by DNS rebinding: a name is resolved once per connection', async () => {
    const { port, visits } = await forbidden()
    let lookups = 0
    const resolve: Resolve = async () => [{ address: lookups++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }]
    const by = senderOf({ allowed: '127.0.0.2/32', resolve })
    expect(await failureOf(post(`http://rebinding.test:${port}/`, {}, by))).toEqual(['connect-failed', null])
    expect([lookups, visits]).toEqual([1, []])
    expect(await failureOf(post(`http://rebinding.test:${port}/`, {}, by))).toEqual(['address-refused', null])
    expect(visits).toEqual([])
  })
})

describe('a host name', () => {
  test('that does not exist fails like one with a private address, and neither failure has an address', async () => {
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND hooks.test'), { code: 'ENOTFOUND' })
    const answers: Resolve[] = [
      () => Promise.reject(unknown),
      async () => [],
      async () => [{ address: '10.1.2.3', family: 4 }],
    ]
    for (const resolve of answers) {
      const { failure } = await post('http://hooks.test/', {}, senderOf({ resolve }))
      const { code, message } = failure ?? {}
      expect({ code, message }).toEqual({
        code: 'address-refused',
        message: 'hooks.test has no address that webhooks may reach',
      })
    }
  })
  test('at whose address no process listens fails without revealing the address', async () => {
    const { url } = await raw(() => {})
    for (const close of open.splice(0)) await close()
    const { failure } = await post(url.replace('127.0.0.1', 'hooks.test'))
    expect(failure).toMatchObject({ code: 'connect-failed', message: 'cannot connect: ECONNREFUSED' })
    expect(failure?.cause).toMatchObject({ message: expect.stringContaining('127.0.0.1') })
  })
  test('that the resolver does not answer is a fault of the service', async () => {
    const error = Object.assign(new Error('getaddrinfo EAI_AGAIN hooks.test'), { code: 'EAI_AGAIN' })
    const by = senderOf({ resolve: () => Promise.reject(error) })
    const { failure } = await post('http://hooks.test/', {}, by)
    expect([failure?.code, failure?.fault]).toEqual(['resolver-failed', 'SERVICE'])
  })
  test('is resolved once for all requests that wait for it', async () => {
    const url = await http((_, response) => response.end())
    let lookups = 0
    const found = Promise.withResolvers<typeof LOOPBACK>()
    const by = senderOf({
      resolve: () => {
        lookups++
        return found.promise
      },
    })
    const named = url.replace('127.0.0.1', 'hooks.test')
    const answers = [1, 2, 3].map(() => failureOf(post(named, {}, by)))
    await vi.waitFor(() => expect(lookups).toBeGreaterThan(0))
    found.resolve(LOOPBACK)
    expect(await Promise.all(answers)).toEqual(Array(3).fill([undefined, 200]))
    expect(lookups).toBe(1)
  })
  test('with several addresses is reached at one that accepts connections', async () => {
    const url = await http((_, response) => response.end('here'))
    const found = [{ address: '127.0.0.9', family: 4 }, ...LOOPBACK]
    const by = senderOf({ resolve: async () => found })
    expect(await post(url.replace('127.0.0.1', 'hooks.test'), {}, by)).toMatchObject({
      status: 200,
      body: 'here',
    })
  })
})
