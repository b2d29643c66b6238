import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listApis, OPERATIONS, type Principal, requests, SCOPES } from '@gantry/contracts'
import { type ReceivedSpan, startSpanReceiver } from '@gantry/engines'
import { ranOn } from '@gantry/engines/ran-on'
import { derivedPrincipalKey, passedPrincipals } from '@gantry/service-runtime'
import { freePort } from '@gantry/service-runtime/testing'
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const MAIN = join(import.meta.dirname, 'src/main.ts')

/** Webhooks may reach a receiver in the test. */
const OF_RECEIVER = { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8', WEBHOOK_RETRY_SCHEDULE: '100ms,1h' }

/** Only requests with a sampled traceparent are recorded. The collector starts in its test. */
const collectorPort = await freePort()
const TRACING = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
  // The collector is part of this process, which may be busy for seconds. While there is none, the exporter retries as long.
  OTEL_EXPORTER_OTLP_TIMEOUT: '4000',
  OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
}

ranOn(() => /^ {2}event log(.*\n)+? {2}images.*$/m.exec(output)?.[0].replace(/\s+/g, ' ').trim() ?? '')
let folder: string
let port: number
let child: ChildProcess
let output = ''
let authorization: string
let url: string

/** Pid and URLs of every process by name, parsed from the printed table. */
const processes = () =>
  new Map(
    [...output.matchAll(/^ {2}(gateway|\w+-\d) +(\d+) +(\d+) +(\d+|-) +ready$/gm)].map(
      ([, name, pid, at, inside]) => [
        name ?? '',
        { pid: Number(pid), url: `http://127.0.0.1:${at}`, inside: `http://127.0.0.1:${inside}` },
      ],
    ),
  )

const send = (path: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, {
    ...init,
    headers: { authorization, 'content-type': 'application/json', ...init.headers },
  })
const named = (name: string) => ({
  method: 'POST',
  body: JSON.stringify({ name, displayName: name, status: 'ACTIVE', tags: [] }),
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-cluster-'))
  port = await freePort()
  child = endsWithParent(
    spawn(process.execPath, [MAIN, '--replicas', '2'], {
      env: {
        ...process.env,
        DATA_DIR: folder,
        PORT: String(port),
        LOGIN_LIMIT_PER_MINUTE: '0',
        ...OF_RECEIVER,
        ...TRACING,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  // The last line of what it prints when it is ready, after the addresses and the password.
  const isReady = () => output.includes('Ctrl-C stops all processes')
  await vi.waitFor(() => expect(isReady() || child.exitCode !== null).toBe(true), { timeout: 300_000 })
  expect(child.exitCode, output).toBe(null)
  url = `http://127.0.0.1:${port}`
  const password = /password {2,}(\S+)/.exec(output)?.[1]
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  })
  authorization = answer.headers.get('authorization') ?? ''
  expect(authorization, await answer.text()).toMatch(/^Bearer /)
}, 300_000)

afterAll(async () => {
  if (child.exitCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
})

test('prints which stores are real or substitutes, and every process', () => {
  expect(output).toMatch(/event log +(a stand-in for|stands in for|real: )/)
  expect(output).toMatch(/bus +(stands in for|real: )/)
  expect([...processes().keys()].sort()).toEqual([
    ...['catalog-1', 'catalog-2', 'gateway', 'identity-1', 'identity-2'],
    ...['media-1', 'media-2', 'notifier-1', 'notifier-2'],
  ])
})

test('only its owner can read the data folder, its files and the logs', async () => {
  const entries = await readdir(folder, { recursive: true })
  const modes = entries.map(async entry => ({ entry, mode: (await lstat(join(folder, entry))).mode }))
  const open = (await Promise.all(modes)).filter(({ mode }) => mode & 0o077)
  expect(entries).toContain('logs/notifier-1.log')
  expect(open.map(({ entry }) => entry)).toEqual([])
})

test('every replica shows a write immediately', async () => {
  // The gateway asks the replicas in turn: each of them gets writes and reads of those of the other.
  for (let i = 0; i < 4; i++) {
    const created = await send('/apis', named(`read at once ${i}`))
    expect(created.status, await created.clone().text()).toBe(201)
    const location = created.headers.get('location') ?? ''
    for (let reads = 0; reads < 2; reads++) expect((await send(location)).status).toBe(200)
    const list = (await (await send('/apis?size=1')).json()) as { totalElements: number }
    expect(list.totalElements).toBe(i + 1)
  }
})

test('the audit log has a refusal of the gateway and one of a service, with the address of their caller', async () => {
  const scopes = ['USER_WRITE', 'ACCESS_TOKEN_MANAGE']
  const made = await send('/accessTokens', { method: 'POST', body: JSON.stringify({ name: 'a', scopes }) })
  const { token } = (await made.json()) as { token: string }
  const refused = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'refused-1' }
    const answer = await send(path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status, await answer.text()).toBe(403)
  }
  await refused('/events', {})
  await refused('/accessTokens', { name: 'wider', scopes: ['API_READ'] })
  const log = await (await send('/auditLog?action=OPERATION_REFUSED&sort=timestamp,asc')).json()
  const { content } = log as { content: { resourceId: string; requestId: string; address: string }[] }
  expect(content.map(({ resourceId, requestId, address }) => [resourceId, requestId, address])).toEqual([
    ['publishEvent', 'refused-1', '127.0.0.1'],
    ['createAccessToken', 'refused-1', '127.0.0.1'],
  ])
})

describe('a service that is called without the gateway', () => {
  const principal: Principal = {
    userId: 'a3a1f1d0-5f0e-4b5c-9c39-0d6f2b1e7a01',
    username: 'admin',
    role: 'GLOBAL_ADMIN',
    scopes: [...SCOPES],
    kind: 'login',
    tokenId: null,
    credentialId: 'login-1',
    expiresAt: Date.now() + 3_600_000,
  }
  const principals = async () => {
    const { encryptionKey } = JSON.parse(await readFile(join(folder, 'cluster.json'), 'utf8'))
    const key = derivedPrincipalKey(Buffer.from(encryptionKey, 'base64'))
    return passedPrincipals(fastify(), { key, now: () => new Date() })
  }
  const callers: Record<string, () => Record<string, string>> = {
    'with no credential': () => ({}),
    'with the token of a user': () => ({ authorization }),
    'with the token of a user in place of the signature': () => ({
      'x-gantry-principal': authorization.replace('Bearer ', ''),
    }),
  }

  test.for(Object.entries(callers))('a call %s is refused by every service', async ([, headers]) => {
    // The test below sends a request for every operation.
    const oneOfEach = new Map(OPERATIONS.map(operation => [operation.service, operation]))
    for (const { service, method, path, bodyExample } of oneOfEach.values()) {
      if (service === 'gateway') continue
      const asked = `${processes().get(`${service}-1`)?.url}${path.replace(/\{\w+\}/g, principal.userId)}`
      const answer = await fetch(asked, {
        method,
        headers: { ...headers(), 'content-type': 'application/json' },
        ...(bodyExample !== undefined && { body: JSON.stringify(bodyExample) }),
      })
      expect(answer.status, `${method} ${asked} answered ${await answer.clone().text()}`).toBe(401)
      expect(await answer.json()).toMatchObject({ code: 'unauthenticated' })
    }
  })

  const question = () => ({
    id: requests.authenticate.id,
    asked: { credential: authorization.replace('Bearer ', ''), address: '192.0.2.1' },
  })

  /** Sends an internal request of the gateway to identity, at one of its ports. */
  const askInside = (origin: string | undefined, headers: Record<string, string>) =>
    fetch(`${origin}/inside/requests`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(question()),
    })

  test('a principal that was captured for one operation is refused for every other', async () => {
    const { sign } = await principals()
    const captured = { 'x-gantry-principal': sign(principal, listApis), 'content-type': 'application/json' }
    const asked: [string, number][] = []
    for (const { id, service, method, path } of OPERATIONS) {
      if (service === 'gateway') continue
      const at = `${processes().get(`${service}-1`)?.url}${path.replace(/\{\w+\}/g, principal.userId)}`
      const answer = await fetch(at, { method, headers: captured })
      await answer.body?.cancel()
      asked.push([id, answer.status])
    }
    expect(asked.filter(([, status]) => status !== 401)).toEqual([[listApis.id, 200]])
    const { url, inside } = processes().get('identity-1') ?? {}
    expect((await askInside(inside, captured)).status).toBe(401)
    expect((await askInside(url, captured)).status).toBe(404)
  })

  test('answers internal requests of its callers at its internal port', async () => {
    const { sign } = await principals()
    const { url, inside } = processes().get('identity-1') ?? {}
    const headers = { 'x-gantry-principal': sign(principal, requests.authenticate) }
    const answers = await Promise.all([askInside(inside, headers), askInside(url, headers)])
    expect(answers.map(({ status }) => status)).toEqual([200, 404])
  })
})

describe.each(['catalog', 'identity', 'media', 'notifier'])('%s', service => {
  const at = () => processes().get(`${service}-1`) ?? { url: '', inside: '' }
  const statusOf = async (url: string) => {
    const answer = await fetch(url)
    await answer.body?.cancel()
    return answer.status
  }

  test('has health at its port, and metrics at its internal port', async () => {
    const { url, inside } = at()
    for (const path of ['/health/live', '/health/ready'])
      expect([path, await statusOf(url + path), await statusOf(inside + path)]).toEqual([path, 200, 404])
    expect([await statusOf(`${url}/metrics`), await statusOf(`${inside}/metrics`)]).toEqual([404, 200])
  })

  test('has none of its operations at its internal port', async () => {
    for (const { method, path } of OPERATIONS.filter(operation => operation.service === service)) {
      const answer = await fetch(`${at().inside}${path.replace(/\{\w+\}/g, '1')}`, { method })
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
  })
})

/** The log lines of the processes of a service that contain a text. */
async function linesOf(service: string, text: string): Promise<Record<string, unknown>[]> {
  const logs = join(folder, 'logs')
  const names = (await readdir(logs)).filter(name => name.startsWith(service))
  const lines = (await Promise.all(names.map(name => readFile(join(logs, name), 'utf8'))))
    .join('')
    .split('\n')
  return lines.filter(line => line.includes(text)).map(line => JSON.parse(line))
}

test('the lines of every process and the attempts of webhooks have the ids of the request that caused them', async () => {
  const received: unknown[] = []
  const receiver = createServer(async request => {
    // An event of an earlier test may be delivered too.
    if ((await text(request)).includes('"traced"')) received.push(request.headers.traceparent)
    request.socket.destroy()
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void receiver.close())
  const { port: at } = receiver.address() as AddressInfo
  const webhook = {
    displayName: 'traced',
    url: `http://127.0.0.1:${at}`,
    active: true,
    eventTypes: ['API_CREATED'],
  }
  const subscribed = await send('/webhooks', {
    method: 'POST',
    body: JSON.stringify({ name: 'traced', ...webhook }),
  })
  expect(subscribed.status, await subscribed.text()).toBe(201)

  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  const ids = {
    requestId: 'r-traced',
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
  }
  const headers = { 'x-request-id': ids.requestId, traceparent }
  expect((await send('/apis', { ...named('traced'), headers })).status).toBe(201)
  for (const service of ['gateway', 'catalog'])
    await vi.waitFor(async () =>
      expect(await linesOf(service, '"r-traced"')).toMatchObject([{ ...ids, msg: 'answered' }]),
    )
  // The second attempt is started by the scheduler, after the reaction to the event.
  await vi.waitFor(() => expect(received).toEqual([traceparent, traceparent]))
  await vi.waitFor(async () => {
    const failed = { ...ids, msg: 'an attempt failed' }
    expect(await linesOf('notifier', '"r-traced"')).toMatchObject([failed, failed])
  })
  await send(subscribed.headers.get('location') ?? '', { method: 'DELETE' })

  await send('/apis?size=1', { headers: { 'x-request-id': 'r-untraced' } })
  const untraced = async () => [
    ...(await linesOf('gateway', '"r-untraced"')),
    ...(await linesOf('catalog', '"r-untraced"')),
  ]
  await vi.waitFor(async () => expect(await untraced()).toHaveLength(2))
  const [first, second] = await untraced()
  expect(first?.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(second).toMatchObject({ traceId: first?.traceId, spanId: first?.spanId })
})

test('a request is one trace, from the gateway to its webhooks, and a missing collector fails nothing', async () => {
  const received: unknown[] = []
  const receiver = createServer(({ headers }, response) => {
    received.push(headers.traceparent)
    response.end()
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void receiver.close())
  const { port: at } = receiver.address() as AddressInfo
  const webhook = {
    ...{ name: 'spans', displayName: 'spans', url: `http://127.0.0.1:${at}/secret-path?a=secret-query` },
    ...{ active: true, eventTypes: ['API_CREATED'] },
  }
  const subscribed = await send('/webhooks', { method: 'POST', body: JSON.stringify(webhook) })
  expect(subscribed.status, await subscribed.text()).toBe(201)
  onTestFinished(
    async () => void (await send(subscribed.headers.get('location') ?? '', { method: 'DELETE' })),
  )

  const create = async (name: string, traceId: string) => {
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
    expect((await send('/apis', { ...named(name), headers })).status).toBe(201)
  }
  await create('without a collector', '1af7651916cd43dd8448eb211c80319c')
  await vi.waitFor(async () =>
    expect(await linesOf('gateway', 'takes no spans; they are dropped')).toHaveLength(1),
  )

  const collector = await startSpanReceiver(collectorPort, folder)
  onTestFinished(() => collector.stop())
  const traceId = '2af7651916cd43dd8448eb211c80319c'
  await create('secret name', traceId)
  const ofTrace = async () => (await collector.spans()).filter(span => span.traceId === traceId)
  await vi.waitFor(async () => expect(pathsOf(await ofTrace())).toEqual(expect.arrayContaining(PATHS)), {
    interval: 100,
  })
  await vi.waitFor(async () => expect(await linesOf('gateway', 'takes spans again')).toHaveLength(1))
  expect(await linesOf('gateway', 'takes no spans; they are dropped')).toHaveLength(1)

  const spans = await ofTrace()
  expect(JSON.stringify(spans)).not.toContain('secret')
  const request = spans.find(({ kind, attributes }) => kind === 3 && attributes['server.port'] === at)
  expect(received).toContain(`00-${traceId}-${request?.spanId}-01`)
})

/** The spans of a trace, each after its ancestors, with the service and without the deepest ones. */
const PATHS = [
  ['gateway POST /apis'],
  ['gateway POST /apis', 'gateway POST'],
  ['gateway POST /apis', 'gateway POST', 'catalog POST /apis'],
].map(path => path.join(' > '))
const COMMAND = `${PATHS[2]} > catalog CreateApi api`
const MESSAGE = `${COMMAND} > catalog send events.catalog.API_CREATED > notifier process events.catalog.API_CREATED`
const DELIVERY = `${MESSAGE} > notifier CreateDelivery delivery`
const ATTEMPT = `${DELIVERY} > notifier attempt delivery`
PATHS.push(
  ...[
    `${COMMAND} > catalog append apiname`,
    `${COMMAND} > catalog append api`,
    `${COMMAND} > catalog project api`,
  ],
  ...[`${DELIVERY} > notifier append delivery`, `${DELIVERY} > notifier project delivery`],
  ...[`${ATTEMPT} > notifier POST`, `${ATTEMPT} > notifier RecordOutcome delivery`],
)

function pathsOf(spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map(span => [span.spanId, span]))
  const pathOf = ({ parentSpanId, name, resource }: ReceivedSpan): string => {
    const parent = byId.get(parentSpanId)
    const own = `${resource['service.name']?.replace('gantry-', '')} ${name}`
    return parent ? `${pathOf(parent)} > ${own}` : own
  }
  return spans.map(pathOf)
}

test('kill -9 of a replica fails no read, and the replica restarts', async () => {
  const { pid = 0, url: killed } = processes().get('catalog-1') ?? {}
  process.kill(pid, 'SIGKILL')
  for (let i = 0; i < 50; i++) expect((await send('/apis?size=1')).status).toBe(200)
  await vi.waitFor(() => expect(output).toMatch(/catalog-1 is ready again/))
  expect((await fetch(`${killed}/health/ready`)).status).toBe(200)
})

test('SIGTERM of a replica fails no request', async () => {
  const { pid = 0 } = processes().get('catalog-2') ?? {}
  process.kill(pid, 'SIGTERM')
  for (let i = 0; !output.includes('catalog-2 is ready again'); i++) {
    expect((await send('/apis', named(`rolling ${i}`))).status).toBe(201)
    expect((await send('/apis?size=1')).status).toBe(200)
  }
  const log = await readFile(join(folder, 'logs', 'catalog-2.log'), 'utf8')
  expect(log).toContain('"stopped"')
})

test('SIGTERM of the cluster stops all processes and exits with 0', async () => {
  const running = [...processes()].map(([, { pid }]) => pid)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(running.filter(isAlive)).toEqual([])
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
