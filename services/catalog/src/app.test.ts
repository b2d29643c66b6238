import { randomUUID } from 'node:crypto'
import { type Job, PUBLIC_EVENTS, requests, subjects } from '@gantry/contracts'
import { type EventStore, EventStoreUnavailable, LOG_POSITION } from '@gantry/event-sourcing'
import type { Dependencies } from '@gantry/service-runtime'
import { hostService } from '@gantry/service-runtime/testing'
import { pino } from 'pino'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

const payments = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: ['finance'] }
/** Milliseconds by which the clock of the service is ahead of the real time. */
let aheadMs: number
let logged: { level: number; msg: string }[]
beforeEach(() => {
  aheadMs = 0
  logged = []
})

interface Options {
  settings?: Record<string, string>
  /** Wraps the dependencies of the service. */
  around?(dependencies: Dependencies): Dependencies
  start?: boolean
}

/** Runs the catalog until the end of the test. */
async function open({ settings = {}, around = it => it, start = true }: Options = {}) {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const make = (dependencies: Dependencies) => {
    const given = { ...dependencies, process: { ...dependencies.process, log } }
    return catalogService(around(given), catalogSettings.parse(settings))
  }
  const host = await hostService(make, { now: () => new Date(Date.now() + aheadMs), start })
  onTestFinished(() => host.close())
  const call = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) => {
    const answer = await host.app.inject({ method, url, headers, ...(payload && { payload }) })
    const body = answer.body ? answer.json() : undefined
    return { status: answer.statusCode, headers: answer.headers, body }
  }
  const create = async (input: object = payments) => (await call('POST', '/apis', input)).body.id as string
  return { host, call, create }
}

test('a new display name of the owner changes the ETag, and If-Match accepts the new ETag', async () => {
  const { host, call, create } = await open()
  const url = `/apis/${await create()}`
  const first = await call('GET', url)
  const { owner } = first.body
  expect(first.body.ownerDisplayName).toBeNull()
  const { bus, process } = host.dependencies
  const name = { username: 'grace', displayName: 'Grace Hopper', deleted: false }
  onTestFinished(process.peers.answer(requests.userNames, async () => ({ [owner]: name })))
  await bus.broadcast(subjects.principalChanged, { userId: owner })
  const second = await call('GET', url, undefined, { 'if-none-match': String(first.headers.etag) })
  expect(second).toMatchObject({ status: 200, body: { ownerDisplayName: 'Grace Hopper' } })
  const etag = { 'if-match': String(second.headers.etag) }
  expect((await call('PUT', url, { ...payments, displayName: 'B' }, etag)).status).toBe(200)
})

test('APIs with documents below a score are listed with it, the worst first', async () => {
  const { host, call, create } = await open()
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) ids.push(await create({ ...payments, name, tags: [name, 'all'] }))
  const [a = '', b = '', c = ''] = ids
  const scores: [string, number][] = [
    [c, 0],
    [randomUUID(), 10],
    [a, 40],
    [b, 60],
  ]
  const below = async ({ score }: { score: number }) => ({ scores: scores.filter(([, of]) => of < score) })
  host.dependencies.process.peers.answer(requests.scoresBelow, below)
  const listed = async (query: string) => {
    const { body } = await call('GET', `/apis?scoreBelow=${query}`)
    return [
      body.totalElements,
      ...body.content.map(({ name, score }: Record<string, unknown>) => [name, score]),
    ]
  }
  expect(await listed('60')).toEqual([2, ['c', 0], ['a', 40]])
  expect(await listed('61&size=1&page=3')).toEqual([3, ['b', 60]])
  expect(await listed('100&tags=all&status=ACTIVE')).toEqual([3, ['c', 0], ['a', 40], ['b', 60]])
  expect(await listed('100&tags=a')).toEqual([1, ['a', 40]])
  for (const query of ['0', '101', '1&q=a', '1&sort=name,asc', `1&at=2026-01-01T00:00:00Z`])
    expect((await call('GET', `/apis?scoreBelow=${query}`)).status).toBe(400)
})

test('an event of the platform with other data than its type has is refused as invalid', async () => {
  const { peers } = (await open()).host.dependencies.process
  const type = 'PRODUCT_API_ADDED'
  const [id, time] = [randomUUID(), '2026-01-01T00:00:00.000Z']
  const event = { id, type, source: 'platform', subject: id, revision: 0, time, requestId: 'a' }
  const told = (data: object) => {
    const sent = { ...event, actor: { id: null, name: 'a' }, data: { ...data } }
    return peers.ask(requests.react('catalog'), {
      id,
      subject: subjects.events('platform', type),
      data: sent,
    })
  }
  const { example } = PUBLIC_EVENTS[type]
  await expect(told({ ...example, api: 7 })).rejects.toMatchObject({ code: 'invalid-request' })
  expect(await told(example)).toBeNull()
})

describe('a deployment', () => {
  test('starts no job unless its environment is registered, which a deployment of an unknown API does not do', async () => {
    let isFull = true
    const { call, create } = await open({
      around: dependencies => {
        const eventStore: EventStore = {
          ...dependencies.eventStore,
          async append(stream, events, expected) {
            if (isFull && stream.startsWith('environment-')) throw new EventStoreUnavailable('full')
            return dependencies.eventStore.append(stream, events, expected)
          },
        }
        return { ...dependencies, eventStore }
      },
    })
    const environment = `/environments/${randomUUID()}`
    const deploy = async (id: string) => (await call('PUT', `${environment}/apis/${id}`)).status
    const id = await create()
    expect(await deploy(id)).toBe(503)
    isFull = false
    expect(await deploy(randomUUID())).toBe(404)
    expect((await call('GET', environment)).status).toBe(404)
    expect(await deploy(id)).toBe(202)
    expect((await call('GET', environment)).status).toBe(200)
  })

  const environment = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
  const opened = async () => {
    const catalog = await open()
    const { call, host } = catalog
    const start = async (api: string, on = environment) =>
      (await call('PUT', `/environments/${on}/apis/${api}`)).body as Job
    const publish = (id: string, data: object) =>
      host.dependencies.bus.publish([{ id, subject: subjects.deploymentReported, data: { ...data } }])
    const succeeded = ({ id, api }: Job) => publish(id, { job: id, api, environment, outcome: 'SUCCEEDED' })
    return { ...catalog, start, publish, succeeded }
  }

  test('fails when no report comes within its own timeout, also across a restart', async () => {
    const { host, call, create, start } = await opened()
    const { DEPLOYMENT_TIMEOUT: timeoutMs } = catalogSettings.parse({})
    const id = await create()
    const other = '1d2e3f40-0000-4000-8000-000000000001'
    await start(id)
    aheadMs = timeoutMs / 2
    const later = await start(id, other)
    await host.restart()
    aheadMs = timeoutMs + 60_000
    await vi.waitFor(async () => {
      const { runningJobs } = (await call('GET', `/apis/${id}?includeRunningJobs=true`)).body
      expect(runningJobs).toMatchObject([{ id: later.id, environment: other }])
    })
    const last = await host.dependencies.eventStore.readLast(`api-${id}`)
    expect(last).toMatchObject({
      type: 'DeploymentFailed',
      data: { message: 'no report within 1h' },
      metadata: { actor: { name: 'deployment timeout' }, change: { action: 'API_DEPLOYMENT_FAILED' } },
    })
    expect(await start(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('is not changed by the report for a cancelled job, which is logged, nor by an invalid one; the next is handled', async () => {
    const { call, create, start, publish, succeeded } = await opened()
    const id = await create()
    const job = await start(id)
    await call('POST', `/environments/${environment}/apis/${id}/cancel`)
    await publish('bad', { job: 7 })
    await succeeded(job)
    await vi.waitFor(() =>
      expect(logged).toContainEqual(
        expect.objectContaining({
          level: pino.levels.values.warn,
          msg: 'a deployment report changes nothing: its job is not running',
          api: id,
          job: job.id,
          environment,
          outcome: 'SUCCEEDED',
        }),
      ),
    )
    const statusOf = async () => (await call('GET', `/apis/${id}`)).body.deploymentStatus
    expect(await statusOf()).toBe('DEPLOYMENT_FAILED')
    await succeeded(await start(id))
    await vi.waitFor(async () => expect(await statusOf()).toBe('DEPLOYED'))
  })
})

test('MAX_VERSIONS_PER_API refuses a version until another one of the API is deleted', async () => {
  const { call, create } = await open({ settings: { MAX_VERSIONS_PER_API: '2' } })
  const api = await create()
  const post = (name: string, id = api) => call('POST', `/apis/${id}/versions`, { name })
  for (const name of ['1.0', '2.0']) expect((await post(name)).status).toBe(201)
  expect((await post('3.0')).body).toMatchObject({
    code: 'too-many-versions',
    status: 409,
    limit: 2,
    detail: 'an API may have 2 versions (MAX_VERSIONS_PER_API)',
  })
  expect((await call('PUT', `/apis/${api}/versions/2.0`, { name: '2.1' })).status).toBe(200)
  expect((await post('1.0', await create({ ...payments, name: 'other' }))).status).toBe(201)
  await call('DELETE', `/apis/${api}/versions/1.0`)
  expect((await post('3.0')).status).toBe(201)
})

test('a state that a rule of today forbids is not restored; the refusal names the field', async () => {
  const { host, call, create } = await open()
  const id = await create()
  const { eventStore, newId } = host.dependencies
  const [created] = await eventStore.readStream(`api-${id}`)
  if (!created) throw new Error('no event')
  const { createdAt, ...fields } = created.data as Record<string, string>
  const later = (ms: number) => new Date(Date.parse(createdAt ?? '') + ms).toISOString()
  const named = (name: string, at: string) => ({
    id: newId(),
    type: 'ApiUpdated',
    data: { ...fields, name, updatedAt: at },
    metadata: { ...created.metadata, at },
  })
  await eventStore.append(`api-${id}`, [named('tab\there', later(1)), named('fine', later(2))], 0)
  expect(await call('POST', `/apis/${id}/restore`, { at: later(1) })).toMatchObject({
    status: 409,
    body: {
      code: 'not-restorable',
      errors: [{ field: 'name', message: 'must have no control characters' }],
    },
  })
})

test('a service is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})))
  onTestFinished(() => host.close())
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
  // As after a restore of the log from a backup: the message is about an event after the end of the log.
  const headers = { [LOG_POSITION]: '~' }
  await host.dependencies.bus.publish([
    { id: randomUUID(), subject: subjects.events('catalog', 'ANYTHING'), data: null, headers },
  ])
  await host.restart()
  const reason = /^an operator: the log ends before message .* .events\.catalog\./
  await vi.waitFor(() => expect(host.service.waitingFor()).toMatch(reason))
  const { statusCode, body } = await host.app.inject('/health/ready')
  expect(statusCode).toBe(503)
  expect(body).toContain('Restoring the log')
})
