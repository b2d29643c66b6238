import { createServer, type Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { INTERNAL_PORT_HEADER } from '@gantry/service-runtime'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hostInUrl, isResolved, originsBehind } from './addresses.ts'
import { replicas } from './replicas.ts'

/** Advances the clock until the assertion holds. The health checks are real requests. */
const eventually = async (assertion: () => void) => {
  for (let step = 0; step < 1_000; step++) {
    try {
      return assertion()
    } catch {
      await vi.advanceTimersByTimeAsync(100)
      await setTimeout(5)
    }
  }
  assertion()
}

let port: number
let opened: Server[]
let unwatch: () => void
beforeEach(() => {
  port = 0
  opened = []
  unwatch = () => {}
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  unwatch()
  vi.useRealTimers()
  for (const server of opened) server.close().closeAllConnections()
})

/** Starts a replica at an address. All replicas use the same port. */
async function replicaAt(address: string, { ready = true } = {}) {
  const state: { ready: boolean; asked: number; internalPort?: number | undefined } = { ready, asked: 0 }
  const server = createServer((_request, response) => {
    state.asked++
    if (state.internalPort) response.setHeader(INTERNAL_PORT_HEADER, state.internalPort)
    response.writeHead(state.ready ? 200 : 503).end()
  })
  await new Promise<void>(resolve => server.listen(port, address, resolve))
  opened.push(server)
  port = (server.address() as { port: number }).port
  return { state, url: `http://${address}:${port}` }
}

function openReplicas(
  names: Record<string, string[]>,
  urls = Object.keys(names).map(name => `http://${name}:${port}`),
) {
  let failures = 0
  const found = replicas({
    urls,
    basePath: '',
    now: () => new Date(),
    log: pino({ level: 'silent' }),
    async resolve(name) {
      const addresses = names[name]
      if (addresses) return addresses
      failures++
      throw new Error(`no such name: ${name}`)
    },
  })
  unwatch = found.watch()
  /** The replicas that six requests go to. */
  const asked = () => [...new Set(Array.from({ length: 6 }, () => found.next()))].sort()
  return { found, asked, failures: () => failures }
}

describe('a host name', () => {
  test('stands for all of its addresses', async () => {
    const [one, other] = [await replicaAt('127.0.0.2'), await replicaAt('127.0.0.3')]
    const { found, asked } = openReplicas({ catalog: ['127.0.0.2', '127.0.0.3'] })
    await eventually(() => expect(asked()).toEqual([one.url, other.url]))
    expect(found.ready()).toBe(true)
  })

  test('a new replica gets requests as soon as it is ready', async () => {
    const [one, other] = [await replicaAt('127.0.0.2'), await replicaAt('127.0.0.3', { ready: false })]
    const names = { catalog: ['127.0.0.2'] }
    const { asked } = openReplicas(names)
    await eventually(() => expect(asked()).toEqual([one.url]))
    names.catalog = ['127.0.0.2', '127.0.0.3']
    await eventually(() => expect(other.state.asked).toBeGreaterThan(1))
    expect(asked()).toEqual([one.url])
    other.state.ready = true
    await eventually(() => expect(asked()).toEqual([one.url, other.url]))
  })

  test('a removed replica gets neither requests nor health checks', async () => {
    const [one, other] = [await replicaAt('127.0.0.2'), await replicaAt('127.0.0.3')]
    const names = { catalog: ['127.0.0.2', '127.0.0.3'] }
    const { asked } = openReplicas(names)
    await eventually(() => expect(asked()).toEqual([one.url, other.url]))
    names.catalog = ['127.0.0.3']
    await eventually(() => expect(asked()).toEqual([other.url]))
    one.state.asked = 0
    other.state.asked = 0
    await eventually(() => expect(other.state.asked).toBeGreaterThan(2))
    expect(one.state.asked).toBeLessThan(2)
  })

  test('keeps its last addresses while it cannot be resolved', async () => {
    const one = await replicaAt('127.0.0.2')
    const names: Record<string, string[]> = { catalog: ['127.0.0.2'] }
    const { found, asked, failures } = openReplicas(names)
    await eventually(() => expect(asked()).toEqual([one.url]))
    delete names.catalog
    await eventually(() => expect(failures()).toBeGreaterThan(1))
    expect(asked()).toEqual([one.url])
    expect(found.ready()).toBe(true)
  })

  test('is used itself until it is resolved for the first time', () => {
    port = 8080
    const { asked, found } = openReplicas({}, ['http://catalog:8080'])
    expect(asked()).toEqual(['http://catalog:8080'])
    expect(found.ready()).toBe(false)
  })
})

test('origins have the syntax of URLs', async () => {
  const resolve = async () => ['10.0.0.7', 'fd00::7', '10.0.0.7']
  expect(await originsBehind('http://catalog:8080', resolve)).toEqual([
    'http://10.0.0.7:8080',
    'http://[fd00::7]:8080',
  ])
  expect(await originsBehind('http://catalog', resolve)).toEqual(['http://10.0.0.7', 'http://[fd00::7]'])
})

test.for([
  ['http://catalog:8080', true],
  ['http://catalog.gantry.svc.cluster.local:8080', true],
  ['http://10.0.0.7:8080', false],
  ['http://[fd00::7]:8080', false],
  ['https://catalog:8080', false],
] as const)('%s is resolved: %s', ([origin, expected]) => {
  expect(isResolved(origin)).toBe(expected)
})

describe('internal requests', () => {
  test('go to the port that the last health check names, and before to that of the URL', async () => {
    const one = await replicaAt('127.0.0.2')
    const { found } = openReplicas({}, [one.url])
    expect(found.inside(one.url)).toBe(one.url)
    for (const internalPort of [9081, 9082]) {
      one.state.internalPort = internalPort
      await eventually(() => expect(found.inside(one.url)).toBe(`http://127.0.0.2:${internalPort}`))
    }
  })
})

test.each([
  ['localhost', 'localhost'],
  ['10.0.0.7', '10.0.0.7'],
  ['::1', '[::1]'],
])('the host %s is %s in a URL', (host, expected) => {
  expect(hostInUrl(host)).toBe(expected)
})
