import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

import { INTERNAL_PORT_HEADER, type ServerOptions } from '@gantry/service-runtime'
import { freePort } from '@gantry/service-runtime/testing'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Port, processServers, type Servers } from './servers.ts'

const host = '127.0.0.1'

let opened: Servers[]
let notReady: string | undefined
/** Lines of the log. */
let lines: string[]
beforeEach(() => {
  lines = []
  opened = []
  notReady = undefined
})
afterEach(async () => {
  await Promise.all(opened.map(servers => servers.close()))
})

function serversAt(port: number, second?: Omit<Port, 'host'>, at = host): Servers {
  const options: ServerOptions = {
    basePath: '/gantry',
    log: pino({ level: 'warn' }, { write: line => lines.push(line) }),
    metrics: new Registry(),
    now: () => new Date(),
    notReadyReason: () => notReady,
  }
  const servers = processServers(
    options,
    { setting: 'PORT', port, host: at },
    second && { ...second, host: at },
  )
  opened.push(servers)
  return servers
}

const answering = (path: string) => async (app: FastifyInstance) => void app.get(path, async () => path)
const ROUTES = { routes: answering('/apis'), inside: answering('/inside') }
const PATHS = ['/health/live', '/health/ready', '/apis', '/inside', '/metrics']

const ask = (port: number, path: string) => fetch(`http://${host}:${port}/gantry${path}`)
/** The paths with status 200 at a port. */
async function answered(port: number): Promise<string[]> {
  const answers = await Promise.all(PATHS.map(async path => [path, (await ask(port, path)).status] as const))
  expect(answers.filter(([, status]) => status !== 200 && status !== 404)).toEqual([])
  return answers.flatMap(([path, status]) => (status === 200 ? [path] : []))
}

test('a process with one port answers all routes there, but no internal requests', async () => {
  const port = await freePort()
  await serversAt(port).listen(ROUTES)
  expect(await answered(port)).toEqual(['/health/live', '/health/ready', '/apis', '/metrics'])
  expect((await ask(port, '/health/ready')).headers.has(INTERNAL_PORT_HEADER)).toBe(false)
})

test.each(['INTERNAL_PORT', 'METRICS_PORT'] as const)('/metrics is only at %s', async setting => {
  const [port, own] = [await freePort(), await freePort()]
  const inside = setting === 'INTERNAL_PORT' ? { inside: ROUTES.inside } : {}
  await serversAt(port, { setting, port: own }).listen({ routes: ROUTES.routes, ...inside })
  expect(await answered(port)).toEqual(['/health/live', '/health/ready', '/apis'])
  expect(await answered(own)).toEqual([...(setting === 'INTERNAL_PORT' ? ['/inside'] : []), '/metrics'])
})

test('requests at both ports are measured together', async () => {
  const [port, own] = [await freePort(), await freePort()]
  await serversAt(port, { setting: 'INTERNAL_PORT', port: own }).listen(ROUTES)
  await Promise.all([ask(port, '/apis'), ask(own, '/inside')])
  const metrics = await (await ask(own, '/metrics')).text()
  for (const route of ['/gantry/apis', '/gantry/inside'])
    expect(metrics).toContain(
      `gantry_http_request_duration_seconds_count{method="GET",route="${route}",status="200"} 1`,
    )
  expect(metrics).toContain('gantry_ready 1')
})

test.each([
  ['ready', undefined, 200],
  ['not ready', 'waits for its start', 503],
])(
  'the health check of a process that is %s names the actual internal port if the setting is 0',
  async (_, reason, status) => {
    notReady = reason
    const port = await freePort()
    await serversAt(port, { setting: 'INTERNAL_PORT', port: 0 }).listen(ROUTES)
    const health = await ask(port, '/health/ready')
    expect(health.status).toBe(status)
    const internalPort = Number(health.headers.get(INTERNAL_PORT_HEADER))
    expect((await ask(internalPort, '/inside')).status).toBe(200)
  },
)

test('the health check does not name METRICS_PORT', async () => {
  const port = await freePort()
  await serversAt(port, { setting: 'METRICS_PORT', port: 0 }).listen(ROUTES)
  expect((await ask(port, '/health/ready')).headers.has(INTERNAL_PORT_HEADER)).toBe(false)
})

test.each(['PORT', 'INTERNAL_PORT', 'METRICS_PORT'] as const)(
  'a %s that is in use is named in the error',
  async setting => {
    const taken = await new Promise<Server>(resolve => {
      const server = createServer().listen(0, host, () => resolve(server))
    })
    const { port } = taken.address() as { port: number }
    const free = await freePort()
    const servers =
      setting === 'PORT'
        ? serversAt(port, { setting: 'INTERNAL_PORT', port: free })
        : serversAt(free, { setting, port })
    await expect(servers.listen(ROUTES)).rejects.toThrow(`${setting} ${port} is already in use`)
    taken.close()
  },
)

describe('a server that stops', () => {
  const arrived = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const routes = async (app: FastifyInstance) => {
    app.get('/held', async () => {
      arrived.resolve()
      await held.promise
      return 'held'
    })
    app.get('/apis', async () => 'now')
    app.post('/apis', async () => 'stored')
  }
  /** A client with connections that it keeps open. */
  const client = (port: number, at = host) => {
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    return async (path: string, method = 'GET') => {
      const asked = request({ agent, port, host: at, path: `/gantry${path}`, method })
      asked.end(method === 'POST' ? '' : undefined)
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      return [response.headers.connection, await text(response)]
    }
  }

  const refusesConnections = (port: number, at = host) =>
    vi.waitFor(async () => {
      const socket = connect(port, at)
      await expect(once(socket, 'connect').finally(() => socket.destroy())).rejects.toThrow()
    })

  test('ends each connection with the next response, also of requests in progress, and then closes at once', async () => {
    const port = await freePort()
    const servers = serversAt(port)
    await servers.listen({ routes })
    const [ask, late] = [client(port), client(port)]
    expect(await ask('/apis')).toEqual(['keep-alive', 'now'])
    const waiting = late('/held')
    await arrived.promise
    servers.drain()
    expect(await ask('/apis')).toEqual(['close', 'now'])
    expect(await ask('/apis', 'POST')).toEqual(['close', 'stored'])
    const closed = servers.close(60_000)
    await refusesConnections(port)
    held.resolve()
    expect(await waiting).toEqual(['close', 'held'])
    await closed
  })

  test('waits for requests at every address of its host', async () => {
    const port = await freePort()
    const servers = serversAt(port, undefined, 'localhost')
    const answer = Promise.withResolvers<void>()
    let begun = 0
    let answered = 0
    const slow = async (app: FastifyInstance) =>
      void app.get('/slow', async () => {
        begun++
        await answer.promise
        answered++
        return 'slow'
      })
    await servers.listen({ routes: slow })
    const addresses = (await lookup('localhost', { all: true })).map(({ address }) => address)
    const asked = addresses.map(address => client(port, address)('/slow'))
    await vi.waitFor(() => expect(begun).toBe(addresses.length))
    const closed = servers.close(60_000)
    await Promise.all(addresses.map(address => refusesConnections(port, address)))
    answer.resolve()
    await closed
    expect(answered).toBe(addresses.length)
    expect(await Promise.all(asked)).toEqual(addresses.map(() => ['close', 'slow']))
  })

  test('does not wait for connections on which nothing was sent', async () => {
    const port = await freePort()
    const servers = serversAt(port)
    await servers.listen(ROUTES)
    const [inAdvance, used] = [connect(port, host), connect(port, host)]
    used.write('GET /gantry/apis HTTP/1.1\r\nhost: a\r\n\r\n')
    await Promise.all([once(inAdvance, 'connect'), once(used, 'data')])
    await Promise.all([servers.close(5_000), once(inAdvance, 'close'), once(used, 'close')])
    expect(lines).toEqual([])
  })

  test('destroys the connections whose requests last longer than the timeout', async () => {
    const port = await freePort()
    const servers = serversAt(port)
    const arrived = Promise.withResolvers<void>()
    const endlessly = () => {
      arrived.resolve()
      return new Promise(() => {})
    }
    await servers.listen({ routes: async app => void app.get('/endless', endlessly) })
    const [endless, unsent] = [client(port)('/endless'), connect(port, host)]
    const gone = new Promise(resolve => unsent.on('error', () => {}).once('close', resolve))
    const failure = expect(endless).rejects.toThrow('socket hang up')
    unsent.resume().write('POST /gantry/apis HTTP/1.1\r\nHost: a\r\n')
    await Promise.all([arrived.promise, once(unsent, 'connect')])
    await servers.close(100)
    await failure
    await gone
    expect(lines.join('')).toContain('have not ended within SHUTDOWN_TIMEOUT')
  })

  test('destroys no connections later if closing fails', async () => {
    const servers = serversAt(await freePort())
    const routes = async (app: FastifyInstance) => {
      app.addHook('onClose', async () => {
        throw new Error('the store fails')
      })
    }
    await servers.listen({ routes })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await expect(servers.close(50)).rejects.toThrow('the store fails')
    opened.pop()
    vi.advanceTimersByTime(100)
    expect(lines).toEqual([])
  })
})
