import { createServer, type Server } from 'node:http'
import { INTERNAL_PORT_HEADER, type ServerOptions } from '@gantry/service-kit'
import { freePort } from '@gantry/service-kit/testing'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Port, processServers, type Servers } from './servers.ts'

const host = '127.0.0.1'

let opened: Servers[]
let notReady: string | undefined
beforeEach(() => {
  opened = []
  notReady = undefined
})
afterEach(async () => {
  await Promise.all(opened.map(servers => servers.close()))
})

function serversAt(port: number, second?: Omit<Port, 'host'>): Servers {
  const options: ServerOptions = {
    basePath: '/gantry',
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
    now: () => new Date(),
    notReadyReason: () => notReady,
  }
  const servers = processServers(options, { setting: 'PORT', port, host }, second && { ...second, host })
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
