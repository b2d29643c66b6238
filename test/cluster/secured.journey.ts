import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Certificates,
  type Engine,
  findNats,
  lacksSyncInterval,
  makeCertificates,
} from '@gantry/engines'
import { ranOn } from '@gantry/engines/ran-on'
import { openBus } from '@gantry/hosting/bus'
import type { Bus, Json } from '@gantry/messaging'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { type Cluster, startCluster } from './src/cluster.ts'
import { readClusterSettings } from './src/settings.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONFIG = join(ROOT, 'deploy/nats/nats-server.conf')
/** A revocation takes effect on every gateway within this time while NATS is there. */
const REVOKED_WITHIN_MS = 1_000
const LOGINS = 10
const USERS = [
  'catalog',
  'identity',
  'media',
  'notifier',
  'gateway',
  'agent',
  'producer',
  'audit',
  'operator',
]
const SAMPLE = join(ROOT, 'docs/samples/jetstream-consumer/consumer.mjs')

const folder = await mkdtemp(join(tmpdir(), 'gantry-secured-'))
const certificates = await makeCertificates(folder)
const found = await findNats()
ranOn(found.found ? found.description : '')
const skipped = certificates ? lacksSyncInterval(found) : 'there is no openssl'
afterAll(() => rm(folder, { recursive: true, force: true }))

const password = (user: string) => `${user}-keeps-this-to-itself`
const userOf = (process: string) => process.replace(/-\d$/, '')

describe.skipIf(skipped)('with NATS over TLS and a NATS user per service', { meta: { skipped } }, () => {
  let nats: Engine
  let messaging: string
  let tls: Certificates
  let cluster: Cluster
  let encryptionKey: string
  let gateways: string[]
  let receiver: Server
  const deliveries: { type: string }[] = []
  const administrator = { username: 'admin', password: 'a password for this test' }

  const asUser = (user: string) => ({
    NATS_USER: user,
    NATS_PASSWORD: password(user === 'deployment-agent' ? 'agent' : user),
    NATS_CA: tls.ca,
  })
  /** URL of a gateway by its number, from 1. */
  const gateway = (number: number) => gateways[number - 1] ?? ''

  const urlsOf = (service: string) =>
    cluster.processes
      .filter(({ name }) => name.startsWith(service))
      .map(({ port }) => `http://127.0.0.1:${port}`)

  beforeAll(async () => {
    if (!certificates || !found.found) return
    tls = certificates
    for (const user of USERS) process.env[`${user.toUpperCase()}_NATS_PASSWORD`] = password(user)
    process.env.NATS_TLS_CERT = tls.certFile
    process.env.NATS_TLS_KEY = tls.keyFile
    nats = await found.start({ args: ['-c', CONFIG] })
    messaging = nats.url.replace('nats:', 'tls:')
    process.env.MESSAGING_URL = messaging

    receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      deliveries.push(JSON.parse(body))
      response.writeHead(204).end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const settings = readClusterSettings({
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
      HOST: '127.0.0.1',
      EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
      READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
      MESSAGING_URL: messaging,
      GANTRY_ADMIN_PASSWORD: administrator.password,
    })
    cluster = await startCluster({
      settings,
      replicas: 2,
      // The gateways and identity share what a revocation and a rotation change.
      single: ['catalog', 'media', 'notifier'],
      gateways: 2,
      environment: {
        ...PROGRAM_ENVIRONMENT,
        WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        LOGIN_LIMIT_PER_MINUTE: String(LOGINS),
        RATE_LIMIT_PER_MINUTE: '0',
        TRUST_PROXY: '127.0.0.1',
      },
      ownEnvironment: name => asUser(userOf(name)),
      say: () => {},
    })
    encryptionKey = settings.encryptionKey
    gateways = urlsOf('gateway')
  }, 300_000)

  afterAll(async () => {
    await cluster?.stop()
    await nats?.stop()
    receiver?.close()
  })

  let addresses = 0
  /** An address without counted requests. */
  const elsewhere = () => `198.51.100.${++addresses}`
  const logIn = async (at: number, who = administrator, address = elsewhere()) => {
    const answer = await fetch(`${gateway(at)}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify(who),
    })
    return { status: answer.status, authorization: answer.headers.get('authorization') ?? '' }
  }
  // biome-ignore lint/suspicious/noExplicitAny: each operation has another body
  type Body = any
  const call = async (
    at: number,
    authorization: string,
    method: string,
    path: string,
    body?: object | FormData,
  ): Promise<{ status: number; body: Body }> => {
    const json = body !== undefined && !(body instanceof FormData)
    const answer = await fetch(`${gateway(at)}${path}`, {
      method,
      headers: { authorization, ...(json && { 'content-type': 'application/json' }) },
      ...(body && { body: json ? JSON.stringify(body) : (body as FormData) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: isJson(answer) && text !== '' ? JSON.parse(text) : text }
  }
  const isJson = ({ headers }: Response) => /[/+]json\b/.test(headers.get('content-type') ?? '')
  const eventually = <T>(expectation: () => T | Promise<T>) =>
    vi.waitFor(expectation, { timeout: 60_000, interval: 50 })

  test('all services work together through both gateways', async () => {
    const { authorization } = await logIn(1)
    expect(authorization).toMatch(/^Bearer /)
    const one = (method: string, path: string, body?: object | FormData) =>
      call(1, authorization, method, path, body)
    const other = (path: string) => call(2, authorization, 'GET', path)

    const hook = await one('POST', '/webhooks', {
      displayName: 'All',
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      active: true,
      eventTypes: ['API_CREATED', 'API_DEPLOYED', 'API_IMAGE_UPDATED', 'PRODUCT_API_ADDED'],
    })
    expect(hook.status).toBe(201)
    const named = { name: 'secured', displayName: 'Secured', status: 'ACTIVE', tags: [] }
    const { body: api } = await one('POST', '/apis', named)
    const form = new FormData()
    form.set('file', new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>']), 'a.svg')
    expect((await one('PUT', `/apis/${api.id}/image`, form)).status).toBe(200)
    expect((await other(`/apis/${api.id}`)).body.hasImage).toBe(true)

    const environment = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
    expect((await one('PUT', `/environments/${environment}/apis/${api.id}`)).status).toBe(202)
    await eventually(async () =>
      expect((await other(`/apis/${api.id}`)).body.deploymentStatus).toBe('DEPLOYED'),
    )
    const product = '2f0c3a52-7d0e-4a53-8a3e-0d9b9f0f7c22'
    const added = { specversion: '1.0', id: 'p1', source: '/products', type: 'PRODUCT_API_ADDED' }
    const event = await one('POST', '/events', { ...added, data: { product, api: api.id } })
    expect(event.status).toBe(202)
    await eventually(async () => expect((await other(`/apis?product=${product}`)).body.totalElements).toBe(1))
    await eventually(() =>
      expect(new Set(deliveries.map(({ type }) => type))).toEqual(
        new Set(['API_CREATED', 'API_DEPLOYED', 'API_IMAGE_UPDATED', 'PRODUCT_API_ADDED']),
      ),
    )
    const streamed = await eventually(async () => {
      const text = JSON.stringify((await call(2, authorization, 'GET', '/events?size=1000')).body)
      for (const source of ['catalog', 'identity', 'media', 'notifier', '/products'])
        expect(text).toContain(`"source":"${source}"`)
      return text
    })
    expect(streamed).toContain('"API_DEPLOYED"')
  })

  describe('a NATS user', () => {
    /** A connection as this NATS user, and the errors that the server reports. */
    const connect = async (user: string, settings: object = {}) => {
      const said: string[] = []
      const log = { info: (_: object, line: string) => said.push(line), warn() {}, error() {} }
      const opened = openBus({ MESSAGING_URL: messaging, ...asUser(user), ...settings }, { name: user, log })
      onTestFinished(() => opened.store.close())
      return { bus: opened.store, said }
    }
    const message = (subject: string) => ({
      id: crypto.randomUUID(),
      subject,
      data: { forged: true } as Json,
    })
    const readFirst = async (bus: Bus, subject: string, reader?: string) => {
      const options = { subjects: [subject], after: 0, live: false, signal: AbortSignal.timeout(10_000) }
      for await (const { subject: read } of bus.read({ ...options, ...(reader && { reader }) })) return read
      return undefined
    }

    test.each([
      ['catalog', 'events.identity.USER_CREATED'],
      ['catalog', 'events.notifier.WEBHOOK_CREATED'],
      ['catalog', 'platform.events'],
      ['identity', 'events.catalog.API_DELETED'],
      ['media', 'deployments.reported'],
      ['notifier', 'events.catalog.API_DELETED'],
      ['gateway', 'events.identity.USER_UPDATED'],
      ['deployment-agent', 'events.catalog.API_DEPLOYED'],
      ['operator', 'events.catalog.API_DELETED'],
      ['audit', 'events.catalog.API_DELETED'],
      ['audit', 'platform.events'],
    ])('%s cannot publish to %s', async (user, subject) => {
      const { bus } = await connect(user)
      await expect(bus.publish([message(subject)])).rejects.toThrow(/ermissions Violation/i)
    })

    test.each([
      ['catalog', 'events.notifier.*'],
      ['identity', 'events.catalog.*'],
      ['media', 'events.notifier.*'],
      ['deployment-agent', 'events.>'],
      ['audit', 'platform.events'],
      ['audit', 'deployments.reported'],
    ])('%s cannot read %s', async (user, subject) => {
      const { bus } = await connect(user)
      await expect(readFirst(bus, subject)).rejects.toThrow(/ermissions Violation/i)
      for (const reader of [user, 'catalog-media', 'notifier', 'mine'])
        await expect(readFirst(bus, subject, reader)).rejects.toThrow(/ermissions Violation/i)
    })

    test.each([
      ['identity', '_INBOX.>'],
      ['catalog', '_INBOX.notifier.>'],
      ['notifier', 'identity.authenticate'],
      ['notifier', 'identity.user-standing'],
      ['media', 'gateway.rate-counts'],
    ])('%s cannot subscribe to %s', async (user, subject) => {
      const { bus, said } = await connect(user)
      await bus.ping()
      const stop = bus.listen(subject, () => {})
      onTestFinished(stop)
      await eventually(() =>
        expect(said.join('\n')).toContain(`PERMISSIONS_VIOLATION: subscription of ${subject}`),
      )
    })

    test.each(['catalog', 'identity', 'media'])('%s reads its own last event, and no other', async user => {
      const { bus, said } = await connect(user)
      const own = await bus.last([`events.${user}.*`])
      expect(own?.subject).toMatch(new RegExp(`^events\\.${user}\\.`))
      for (const subject of [
        'events.notifier.*',
        'events.>',
        `events.${user === 'media' ? 'catalog' : 'media'}.*`,
      ])
        await expect(bus.last([subject])).rejects.toThrow(/ermissions Violation/i)
      expect(said.join('\n')).not.toContain(`last-events-${user}`)
    })

    test('audit consumes all public events; a consumer that is killed misses none and repeats none', async () => {
      const file = join(folder, 'consumed.ndjson')
      const start = () =>
        endsWithParent(
          spawn(process.execPath, [SAMPLE, file], {
            env: { ...PROGRAM_ENVIRONMENT, NATS_URL: messaging, ...asUser('audit') },
            stdio: 'ignore',
          }),
        )
      const { authorization } = await logIn(1)
      const hasAll = async () => {
        const text = await readFile(file, 'utf8').catch(() => '')
        const consumed = text
          .split('\n')
          .slice(0, -1)
          .map(line => (JSON.parse(line) as { event: { id: string } }).event.id)
        const { content } = (await call(1, authorization, 'GET', '/events?size=1000')).body
        expect(consumed.toSorted()).toEqual(content.map(({ id }: { id: string }) => id).toSorted())
        return content.length as number
      }
      const first = start()
      const before = await eventually(hasAll)
      expect(before).toBeGreaterThan(2)
      first.kill('SIGKILL')
      await once(first, 'close')
      // NATS delivers all messages again to a new consumer, and the last one again to the old consumer after 30 s.
      const { bus } = await connect('audit')
      await bus.broadcast('$JS.API.CONSUMER.DELETE.GANTRY.audit', {})
      await bus.ping()
      const late = { name: 'late', displayName: 'x', status: 'ACTIVE', tags: [] }
      await call(1, authorization, 'POST', '/apis', late)
      const second = start()
      onTestFinished(() => void second.kill('SIGKILL'))
      await eventually(async () => expect(await hasAll()).toBeGreaterThan(before))
      // It stops at a message of another log, whose positions it cannot compare with those that it has.
      const ended = once(second, 'close')
      const headers = { 'log-position': '~', 'log-identity': 'another' }
      const message = { id: 'restored', subject: 'events.platform.SUBSCRIPTION_CREATED', data: {}, headers }
      await (await connect('notifier')).bus.publish([message])
      expect(await ended).toEqual([1, null])
    })

    test('can use its own subjects, so the refusals above come from permissions', async () => {
      const { bus } = await connect('notifier')
      expect((await bus.last(['events.notifier.*', 'events.platform.*']))?.headers).toHaveProperty(
        'log-position',
      )
      expect(await readFirst(bus, 'events.catalog.*')).toMatch(/^events\.catalog\./)
    })
  })

  describe('two gateways', () => {
    /** A new user with their credentials. */
    const newUser = async (admin: string) => {
      const who = { username: `user-${addresses++}`, password: 'correct horse battery' }
      const created = await call(1, admin, 'POST', '/users', {
        ...who,
        displayName: who.username,
        email: `${who.username}@example.com`,
        role: 'ADMIN',
      })
      expect(created.status, JSON.stringify(created.body)).toBe(201)
      return { id: created.body.id as string, who, record: created.body }
    }
    /**
     * Sends requests, one after the other, until the gateway refuses the credential. The duration of a request says nothing
     * about the revocation.
     * @returns milliseconds from now to the sending of the last request that was not refused; 0 if there was none
     */
    const lastAccepted = async (at: number, authorization: string) => {
      const since = performance.now()
      for (let accepted = 0; ; ) {
        const sent = performance.now() - since
        if ((await call(at, authorization, 'GET', '/apis?size=1')).status === 401) return accepted
        if (sent > 60_000) throw new Error('the credential is not refused')
        accepted = sent
      }
    }
    const isAtOnce = (ms: number) => ms < REVOKED_WITHIN_MS
    const measure = async (revoke: () => Promise<{ status: number }>, authorization: string) => {
      for (const at of [1, 2]) expect((await call(at, authorization, 'GET', '/apis?size=1')).status).toBe(200)
      const { status } = await revoke()
      expect(status).toBeLessThan(300)
      return Math.max(...(await Promise.all([1, 2].map(at => lastAccepted(at, authorization)))))
    }
    const accessToken = async (authorization: string) => {
      const made = await call(1, authorization, 'POST', '/accessTokens', { name: 't', scopes: ['API_READ'] })
      expect(made.status).toBe(201)
      return { id: made.body.id as string, authorization: `Bearer ${made.body.token}` }
    }

    test('refuse a deleted token and a locked, logged-out or removed user within a second', async () => {
      const admin = (await logIn(1)).authorization
      const token = await accessToken(admin)
      const deleted = () => call(1, admin, 'DELETE', `/accessTokens/${token.id}`)
      expect(await measure(deleted, token.authorization)).toBeLessThan(REVOKED_WITHIN_MS)
      for (const end of ['lock', 'remove', 'log out'] as const) {
        const { id, who, record } = await newUser(admin)
        const { authorization } = await logIn(2, who)
        const revoke = {
          lock: () => call(1, admin, 'PUT', `/users/${id}`, { ...record, status: 'INACTIVE' }),
          remove: () => call(1, admin, 'DELETE', `/users/${id}`),
          'log out': () => call(1, authorization, 'POST', '/logout'),
        }[end]
        expect([end, await measure(revoke, authorization)]).toEqual([end, expect.toSatisfy(isAtOnce)])
      }
    })

    /** The statuses of logins from one address, all within a minute, in which the gateways count them. */
    const logInsOfOneMinute = async (gateways: readonly number[]) => {
      const minute = () => Math.floor(Date.now() / 60_000)
      for (;;) {
        const [before, address, statuses] = [minute(), elsewhere(), [] as number[]]
        for (const at of gateways)
          statuses.push((await logIn(at, { username: '', password: '' }, address)).status)
        if (minute() === before) return statuses
      }
    }

    test('share the login limit of an address', async () => {
      const most = Array.from({ length: LOGINS }, () => 1)
      const statuses = await logInsOfOneMinute([...most, ...Array.from({ length: LOGINS / 2 }, () => 2)])
      expect(statuses.slice(0, LOGINS)).not.toContain(429)
      expect(statuses.slice(LOGINS)).toContain(429)
    })

    test('accept tokens after a key rotation, and refuse tokens of a compromised key within a second', async () => {
      const { authorization } = await logIn(1)
      const rotate = async (...args: string[]) => {
        const child = endsWithParent(
          spawn(process.execPath, [join(ROOT, 'services/operations/src/main.ts'), 'rotate-keys', ...args], {
            env: {
              ...process.env,
              MESSAGING_URL: messaging,
              ENCRYPTION_KEY: encryptionKey,
              IDENTITY_URL: urlsOf('identity').join(','),
              NOTIFIER_URL: urlsOf('notifier').join(','),
            },
          }),
        )
        let output = ''
        for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
        await once(child, 'close')
        return output
      }
      expect(await rotate()).toContain('no login ends because of it')
      for (const at of [1, 2]) expect((await call(at, authorization, 'GET', '/apis?size=1')).status).toBe(200)
      expect(await rotate('--compromised')).toContain('has ended')
      const times = await Promise.all([1, 2].map(at => lastAccepted(at, authorization)))
      for (const ms of times) expect(ms).toBeLessThan(REVOKED_WITHIN_MS)
    })
  })

  test('no log contains a NATS password or a token', async () => {
    const logs = join(folder, 'data', 'logs')
    const files = (await readdir(logs)).filter(name => name.endsWith('.log'))
    expect(files).toHaveLength(7)
    for (const file of files) {
      const text = await readFile(join(logs, file), 'utf8')
      expect(text).toContain('"ready"')
      expect(text).not.toMatch(/keeps-this-to-itself|pat_|Bearer e|correct horse|a password for this/)
    }
  })
})
