import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditLog, verifyExport } from '@gantry/audit'
import { sqliteReadModels } from '@gantry/embedded'
import { aggregate, type Worker } from '@gantry/event-sourcing'
import {
  inMemoryLog,
  storyMetadata as metadata,
  story,
  testFrozenStreams,
} from '@gantry/event-sourcing/testing'
import { ownMetadata } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { Registry } from 'prom-client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { hostIdentity, PASSWORD } from '../../testing/identity-host.ts'
import { auditSource } from '../export/source.ts'
import {
  type AuditPushCommand,
  type AuditPushEvent,
  auditPushDecider,
  type PushedRange,
} from './auditpush.ts'
import { type Destination, destinationOf, type PushedObject } from './destination.ts'
import { pushMetrics } from './metrics.ts'
import { startAuditPush } from './push.ts'
import { pushSource } from './source.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../../frozen'),
  category: 'auditpush',
  decider: auditPushDecider,
})

const record = (number: number) => ({ number, position: `p${number}` })
const range = (first: number, last: number): PushedRange => ({ first: record(first), last: record(last) })

describe('the pushes of a destination', () => {
  const { given } = story(auditPushDecider)
  const begun = (first: number, last: number): AuditPushEvent => ({
    type: 'AuditPushBegun',
    data: { ...range(first, last), begunAt: metadata.now },
  })
  const ended = (number: number): AuditPushEvent => ({ type: 'AuditPushEnded', data: { number } })
  const begin = (first: number, last: number): AuditPushCommand => ({
    type: 'BeginAuditPush',
    metadata,
    range: range(first, last),
  })
  const end = (number: number): AuditPushCommand => ({ type: 'EndAuditPush', metadata, number })

  test('continue one another, one at a time', () => {
    given().when(begin(1, 5)).then(begun(1, 5))
    given().when(begin(2, 5)).then()
    given(begun(1, 5)).when(begin(1, 6)).then()
    given(begun(1, 5)).when(end(5)).then(ended(5))
    given(begun(1, 5), ended(5)).when(begin(6, 9)).then(begun(6, 9))
    given(begun(1, 5), ended(5)).when(begin(1, 9)).then()
    given(begun(1, 5), ended(5)).when(end(5)).then()
  })
})

test('a part ends before a record that the store does not have yet', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-push-'))
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  onTestFinished(async () => {
    await readModels.close()
    rmSync(folder, { recursive: true })
  })
  const records = readModels.collection(auditLog)
  for (const number of [1, 2, 4]) {
    const id = `e${number}`
    const hashes = { chainHash: `c${number}`, recordHash: `r${number}`, record: '{}', sealed: null }
    const fields = {
      who: 'identity',
      action: 'A',
      resourceType: 'API',
      resourceId: 'a',
      what: ['a'],
      named: '',
    }
    await records.put({ id, number, ...hashes, when: `t/p${number}`, ...fields }, 0)
  }
  const unused = async () => Promise.reject(new Error('not called'))
  const log = auditSource({
    readModels,
    namesOf: async () => new Map(),
    personalOf: async () => undefined,
    conditions: unused,
    keys: unused,
    signer: unused,
    check: { problem: unused },
  })
  const { next } = pushSource({ source: log, upToDate: unused, pseudonyms: unused })
  expect(await next(0)).toEqual(range(1, 2))
  expect(await next(2)).toBeUndefined()
})

/** An audit log of numbered records, of which at most three fit into an object. */
function pushes(destination: Destination) {
  const log = inMemoryLog()
  const folder = mkdtempSync(join(tmpdir(), 'gantry-push-'))
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  onTestFinished(async () => {
    await readModels.close()
    rmSync(folder, { recursive: true })
  })
  const { leases } = readModels
  let records = 0
  let isBehind = false
  const source = {
    async upToDate() {
      if (isBehind) throw new Error('behind')
    },
    async next(after: number) {
      return after < records ? range(after + 1, Math.min(records, after + 3)) : undefined
    },
    async export({ first, last }: PushedRange, at: Date) {
      return Buffer.from(`${first.number}..${last.number} ${at.toISOString()}`)
    },
  }
  const lines: object[] = []
  const note = (details: object) => void lines.push(details)
  const metrics = new Registry()
  const now = () => new Date()
  let replicas = 0
  return {
    lines,
    metrics,
    add: (count: number) => (records += count),
    setBehind(behind: boolean) {
      isBehind = behind
    },
    /** Starts a replica. */
    start(everyMs: number) {
      const worker = startAuditPush({
        id: 'destination',
        everyMs,
        pushes: aggregate({ eventStore: log.connect(), category: 'auditpush', decider: auditPushDecider }),
        source,
        destination,
        metrics: pushMetrics(metrics, everyMs),
        process: {
          leases,
          holder: `replica ${++replicas}`,
          log: { info: note, warn: note, error: note },
          now,
          metadata: actor => ownMetadata({ now, newId: () => crypto.randomUUID() }, actor),
        },
      })
      onTestFinished(() => worker.stop())
      return worker
    },
  }
}

function recording(put: (object: PushedObject) => void = () => {}) {
  const objects: string[][] = []
  const destination: Destination = {
    shown: 'a destination',
    async put(object) {
      objects.push([object.name, object.body.toString()])
      put(object)
    },
    close() {},
  }
  /** First and last position of each object. */
  const names = () => objects.map(([name]) => name?.replace(/-\d+T\d+Z$/, ''))
  return { destination, objects, names }
}

test('all records are pushed in consecutive objects, then new ones at each interval', async () => {
  const { destination, names } = recording()
  const { add, start, metrics } = pushes(destination)
  add(7)
  start(50)
  await vi.waitFor(() => expect(names()).toEqual(['p1-p3', 'p4-p6', 'p7-p7']))
  add(1)
  await vi.waitFor(() => expect(names().at(-1)).toBe('p8-p8'))
  expect(names()).toHaveLength(4)
  expect(await lastSuccess(metrics)).toBeGreaterThan(Date.now() / 1_000 - 60)
  expect(await metrics.metrics()).toContain('gantry_audit_push_interval_seconds 0.05')
})

test('a push whose answer is lost is repeated with the same name and content, also by another replica', async () => {
  const failures = ['timeout', 'timeout']
  const { destination, objects, names } = recording(() => {
    const failure = failures.pop()
    if (failure) throw new Error(failure)
  })
  const { add, start, lines, metrics } = pushes(destination)
  add(2)
  const first = start(3_600_000)
  await vi.waitFor(() => expect(objects).toHaveLength(1))
  add(2)
  await first.stop()
  metrics.clear()
  start(3_600_000)
  await vi.waitFor(() => expect(objects).toHaveLength(4))
  expect(objects.slice(0, 3)).toEqual([objects[0], objects[0], objects[0]])
  expect(names().slice(2)).toEqual(['p1-p2', 'p3-p4'])
  expect(lines).toContainEqual(expect.objectContaining({ reason: 'timeout', destination: 'a destination' }))
  expect(await metrics.metrics()).toContain('gantry_audit_push_failures_total 1')
})

test('a part of a restored log has another name than one of the former log at the same positions', async () => {
  const { destination, objects, names } = recording()
  for (const length of [1, 2]) {
    const { add, start } = pushes(destination)
    add(1)
    start(3_600_000)
    await vi.waitFor(() => expect(objects).toHaveLength(length))
  }
  expect(names()).toEqual(['p1-p1', 'p1-p1'])
  expect(objects[0]?.[0]).not.toBe(objects[1]?.[0])
})

test('records that are not projected yet are pushed soon after they are, and not at the next interval', async () => {
  const { destination, names } = recording()
  const { add, start, lines, setBehind, metrics } = pushes(destination)
  setBehind(true)
  start(3_600_000)
  await vi.waitFor(() => expect(lines).toContainEqual(expect.objectContaining({ reason: 'behind' })))
  expect(await lastSuccess(metrics)).toBe(0)
  add(1)
  setBehind(false)
  await vi.waitFor(() => expect(names()).toEqual(['p1-p1']))
})

const lastSuccess = async (metrics: Registry) =>
  Number(/^gantry_audit_push_last_success_timestamp_seconds (\S+)$/m.exec(await metrics.metrics())?.[1])

test('a process that has pushed nothing reports the last push that the destination accepted', async () => {
  let accepts = false
  const { destination, names } = recording(() => {
    if (!accepts) throw new Error('refused')
  })
  const { add, start, metrics } = pushes(destination)
  const restart = async (last: Worker) => {
    await last.stop()
    metrics.clear()
    return start(3_600_000)
  }
  add(1)
  const first = start(3_600_000)
  await vi.waitFor(() => expect(names()).toHaveLength(1))
  const second = await restart(first)
  await vi.waitFor(() => expect(names()).toHaveLength(2))
  expect(await lastSuccess(metrics)).toBe(0)
  accepts = true
  const third = await restart(second)
  await vi.waitFor(async () => expect(await lastSuccess(metrics)).toBeGreaterThan(0))
  const succeeded = Date.now() / 1_000
  accepts = false
  add(1)
  await restart(third)
  await vi.waitFor(() => expect(names().at(-1)).toBe('p2-p2'))
  expect(await lastSuccess(metrics)).toBeGreaterThan(succeeded - 60)
  expect(await lastSuccess(metrics)).toBeLessThanOrEqual(succeeded)
})

test('an https URL gets the part with its name as Idempotency-Key; no error has the token or the query', async () => {
  const requests: unknown[] = []
  const receiver = createServer(async (request, response) => {
    const { method, url, headers } = request
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push([method, url, headers['idempotency-key'], headers.authorization, body])
    response.writeHead(requests.length === 1 ? 204 : 307, { location: '/elsewhere' }).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const { port } = receiver.address() as { port: number }
  const url = new URL(`http://127.0.0.1:${port}/audit?key=secret`)
  const destination = destinationOf({ url, token: 'a-token', s3: {} })
  const { signal } = new AbortController()
  const object = { name: 'p1-p2', body: Buffer.from('lines') }
  await destination.put(object, signal)
  expect(requests).toEqual([['POST', '/audit?key=secret', 'p1-p2', 'Bearer a-token', 'lines']])
  await expect(destination.put(object, signal)).rejects.toThrow(
    new Error(`http://127.0.0.1:${port}/audit answered 307`),
  )
  receiver.closeAllConnections()
  receiver.close()
  await expect(destination.put(object, signal)).rejects.toThrow(
    /^cannot reach http:\/\/127.0.0.1:\d+\/audit: /,
  )
  expect(requests).toHaveLength(2)
})

test('pushed bytes have no name of a user, and an erasure takes the keys of their pseudonyms', async () => {
  const parts: string[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    parts.push(body)
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const identity = await hostIdentity({
    AUDIT_PUSH_URL: new URL(`http://127.0.0.1:${port}/`),
    AUDIT_PUSH_EVERY: 5,
  })
  onTestFinished(async () => {
    await identity.close()
    receiver.close()
  })
  const pushed = (action: string) => vi.waitFor(() => expect(parts.join('')).toContain(action))
  const admin = identity.as(administrator)
  const ada = { username: 'ada-lovelace', displayName: 'Ada Byron', email: 'ada@analytical.example' }
  const { id } = (await admin.post('/users', { body: { ...ada, password: PASSWORD } })).body
  await pushed('USER_CREATED')
  await admin.put(`/users/${id}`, { body: { ...ada, displayName: 'Ada King' } })
  await identity.as(await identity.loginToken(ada.username)).post('/logout')
  await pushed('USER_LOGGED_OUT')
  expect(parts.join('')).not.toMatch(/ada-lovelace|Ada Byron|Ada King|analytical\.example|"salt"/)

  const linesOf = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  const changes = linesOf(parts.join('')).filter(({ pseudonyms }) => pseudonyms?.after)
  const of = (action: string) =>
    changes.find(({ record }) => record.action === action && record.resourceId === id)
  const [created, updated] = [of('USER_CREATED'), of('USER_UPDATED')]
  expect(updated.pseudonyms.before).toEqual(created.pseudonyms.after)
  expect(updated.pseudonyms.after).toEqual({
    ...created.pseudonyms.after,
    displayName: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(updated.pseudonyms.after.displayName).not.toBe(created.pseudonyms.after.displayName)

  // An export that begins at a part has its records, under the same numbers and hashes, with names.
  const [{ header }] = linesOf(parts.find(part => part.includes('USER_UPDATED')) ?? '')
  identity.host.actAs(administrator)
  const url = `/auditLog/export?after=${header.before.number}`
  const named = linesOf((await identity.host.app.inject({ method: 'GET', url })).body)
  const joined = named.find(({ number }) => number === updated.number)
  expect(joined).toMatchObject({
    chainHash: updated.chainHash,
    personal: { after: { displayName: 'Ada King' } },
  })

  await admin.post(`/users/${id}/erase`)
  await pushed('USER_ERASED')
  const keys = (await identity.host.service.audit.keys.published()).keys
  for (const part of parts) {
    const { broken, warnings } = await verifyExport([Buffer.from(part)], keys)
    expect([broken, warnings]).toEqual([undefined, []])
  }
})
