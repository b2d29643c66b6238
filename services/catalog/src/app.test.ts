import { randomUUID } from 'node:crypto'
import { type Job, type PublicEvent, subjects } from '@gantry/contracts'
import { reservations } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import type { Message } from '@gantry/messaging'
import type { Dependencies } from '@gantry/service-kit'
import { administrator, type Host, hostService } from '@gantry/service-kit/testing'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

const settings = catalogSettings.parse({})
/** Milliseconds by which the clock of the service is ahead of the real time. */
let aheadMs: number
let logged: { level: number; msg: string }[]
let host: Host<ReturnType<typeof catalogService>>
beforeEach(async () => {
  aheadMs = 0
  logged = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const make = (dependencies: Dependencies) =>
    catalogService({ ...dependencies, process: { ...dependencies.process, log } }, settings)
  host = await hostService(make, { now: () => new Date(Date.now() + aheadMs) })
})
afterEach(async () => {
  await host.close()
})

const payments = { name: 'payments', displayName: 'Payments', status: 'ACTIVE', tags: ['finance'] }
const call = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
) => {
  const answer = await host.app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, headers: answer.headers, body: answer.body ? answer.json() : undefined }
}
const create = async (input: object = payments) => (await call('POST', '/apis', input)).body.id as string
const fact = (type: string, subject: string, revision: number, data: object = {}): Message => {
  const event: PublicEvent = {
    id: '33333333-3333-4333-8333-333333333333',
    type,
    source: 'test',
    subject,
    revision,
    time: '2026-11-21T10:00:00.000Z',
    data: data as Record<string, unknown>,
    actor: { id: null, name: 'test' },
    requestId: 'test',
  }
  return { id: event.id, subject: `events.test.${type}`, data: event as never }
}
const tell = (message: Message) =>
  host.dependencies.bus.request(subjects.react('catalog'), message as never, { timeoutMs: 1000 })

describe('a write', () => {
  test('is visible to the next read, in lists and counts', async () => {
    const id = await create()
    expect((await call('GET', `/apis/${id}`)).body).toMatchObject({
      ...payments,
      id,
      deploymentStatus: 'CREATED',
      hasImage: false,
    })
    expect((await call('GET', '/apis')).body).toMatchObject({
      totalElements: 1,
      content: [{ id }],
      last: true,
    })
    await call('DELETE', `/apis/${id}`)
    expect((await call('GET', '/apis')).body).toMatchObject({
      totalElements: 0,
      content: [],
      totalPages: 0,
      last: true,
    })
  })

  test('survives a restart', async () => {
    const id = await create()
    await host.restart()
    expect((await call('GET', `/apis/${id}`)).status).toBe(200)
  })

  test('records the actor, the request id and the trace context with its event', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { body } = await call('POST', '/apis', payments, { 'x-request-id': 'r-1', traceparent })
    const [event] = await host.dependencies.eventStore.readStream(`api-${body.id}`)
    expect(event?.metadata).toMatchObject({
      actor: { name: administrator.userId },
      requestId: 'r-1',
      traceparent,
    })
  })
})

describe('a name', () => {
  test('goes to one of two concurrent requests; the other gets 409', async () => {
    const answers = await Promise.all([call('POST', '/apis', payments), call('POST', '/apis', payments)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
    expect((await call('GET', '/apis')).body.totalElements).toBe(1)
  })
  test('can be used again after its API is deleted or renamed', async () => {
    const id = await create()
    await call('PUT', `/apis/${id}`, { ...payments, name: 'pay' })
    const second = await create()
    await call('DELETE', `/apis/${second}`)
    expect((await call('POST', '/apis', payments)).status).toBe(201)
    expect((await call('POST', '/apis', { ...payments, name: 'pay' })).body).toMatchObject({
      code: 'api-name-taken',
      status: 409,
    })
  })
})

describe('a name that a newer release has given to an API', () => {
  /** Renames as a newer release does: a reservation, and an event of a schema version that this release does not know. */
  const renamedByNewerRelease = async (id: string, name: string) => {
    const { eventStore } = host.dependencies
    const metadata = { ...storyMetadata, at: storyMetadata.now, schemaVersion: 2 }
    const free = async () => ({ name: undefined, revision: Number.MAX_SAFE_INTEGER })
    await reservations({
      eventStore,
      scope: 'api',
      holderCategory: 'api',
      takenCode: 'api-name-taken',
      holding: free,
      now: () => new Date(),
    }).reserve(name, id, 0, metadata)
    const updated = { id: randomUUID(), type: 'ApiUpdated', data: { ...payments, name }, metadata }
    await eventStore.append(`api-${id}`, [updated], 0)
  }

  test('is refused to another API', async () => {
    await renamedByNewerRelease(await create(), 'invoices')
    const { status, body } = await call('POST', '/apis', { ...payments, name: 'invoices' })
    expect([status, body.code]).toEqual([409, 'api-name-taken'])
  })

  test('is refused to the API that had it before', async () => {
    const before = await create()
    const after = await create({ ...payments, name: 'orders' })
    await renamedByNewerRelease(before, 'invoices')
    await renamedByNewerRelease(after, payments.name)
    const { status, body } = await call('PUT', `/apis/${before}`, { ...payments, displayName: 'Mine again' })
    expect([status, body.code]).toEqual([409, 'api-name-taken'])
  })
})

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'k-1' }
  test('makes two requests create one API, also across a restart', async () => {
    const first = await call('POST', '/apis', payments, key)
    await host.restart()
    const second = await call('POST', '/apis', payments, key)
    expect(second.body).toEqual(first.body)
    expect(second.headers).toMatchObject({
      'idempotency-replayed': 'true',
      etag: first.headers.etag,
      location: first.headers.location,
    })
  })
  test('is refused with another body', async () => {
    await call('POST', '/apis', payments, key)
    expect((await call('POST', '/apis', { ...payments, name: 'b' }, key)).status).toBe(422)
  })
  test('can be used again after a refusal', async () => {
    const holder = await create()
    expect((await call('POST', '/apis', payments, key)).status).toBe(409)
    await call('DELETE', `/apis/${holder}`)
    expect((await call('POST', '/apis', payments, key)).status).toBe(201)
  })
  test('creates one API even if the first process died before it stored the response', async () => {
    const first = await call('POST', '/apis', payments, key)
    const kept = host.dependencies.readModels
    await kept.drop({ name: 'catalog.idempotency', version: 1 })
    const second = await call('POST', '/apis', payments, key)
    expect(second).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect((await call('GET', '/apis')).body.totalElements).toBe(1)
  })
})

test('a request with a new Idempotency-Key reads no events of a cached API with thousands of versions', async () => {
  let eventsRead = 0
  const counted = (dependencies: Dependencies) => {
    const { eventStore } = dependencies
    const readStream: typeof eventStore.readStream = async (...read) => {
      const events = await eventStore.readStream(...read)
      eventsRead += events.length
      return events
    }
    return catalogService({ ...dependencies, eventStore: { ...eventStore, readStream } }, settings)
  }
  const counting = await hostService(counted, { start: false })
  onTestFinished(() => counting.close())
  const post = (url: string, payload: object, headers = {}) =>
    counting.app.inject({ method: 'POST', url, payload, headers })
  const api = (await post('/apis', payments)).json().id
  const url = `/apis/${api}/versions`
  for (const page of [0, 1, 2]) {
    const versions = Array.from({ length: 1_000 }, (_, n) => {
      const [id, name] = [randomUUID(), `v${page * 1_000 + n}`]
      const record = { id, api, name, displayName: name, description: null, status: 'ACTIVE' as const }
      const at = '2026-11-21T10:00:00.000Z'
      return {
        id: randomUUID(),
        type: 'VersionCreated',
        data: { ...record, createdAt: at, updatedAt: at },
        metadata: { actor: { id: null, name: 'test' }, requestId: 'test', at },
      }
    })
    await counting.dependencies.eventStore.append(`api-${api}`, versions, page * 1_000)
  }
  // Fills the cache: the process folds the stream for the first request for the API.
  expect((await post(url, { name: 'first' })).statusCode).toBe(201)
  expect(eventsRead).toBeGreaterThanOrEqual(3_000)
  eventsRead = 0
  const key = { 'idempotency-key': 'k-1' }
  const created = await post(url, { name: 'second' }, key)
  expect(created.statusCode).toBe(201)
  expect((await post(url, { name: 'second' }, key)).json()).toEqual(created.json())
  expect(eventsRead).toBe(0)
}, 30_000)

describe('preconditions', () => {
  test('a stale If-Match is refused and changes nothing', async () => {
    const created = await call('POST', '/apis', payments)
    const etag = String(created.headers.etag)
    const url = `/apis/${created.body.id}`
    expect((await call('PUT', url, { ...payments, displayName: 'A' }, { 'if-match': etag })).status).toBe(200)
    expect((await call('PUT', url, { ...payments, displayName: 'B' }, { 'if-match': etag })).status).toBe(412)
    expect((await call('DELETE', url, undefined, { 'if-match': 'W/"0"' })).status).toBe(412)
    expect((await call('GET', url)).body.displayName).toBe('A')
  })
  test('If-None-Match is answered with 304 while nothing has changed', async () => {
    const id = await create()
    const first = await call('GET', `/apis/${id}`)
    const etag = { 'if-none-match': String(first.headers.etag) }
    expect((await call('GET', `/apis/${id}`, undefined, etag)).status).toBe(304)
    await tell(fact('API_IMAGE_UPDATED', id, 0))
    expect((await call('GET', `/apis/${id}`, undefined, etag)).body.hasImage).toBe(true)
  })
  test('a new display name of the owner changes the ETag, and If-Match accepts the new ETag', async () => {
    const id = await create()
    const first = await call('GET', `/apis/${id}`)
    const { owner } = first.body
    expect(first.body.ownerDisplayName).toBeNull()
    const { bus } = host.dependencies
    const name = { username: 'grace', displayName: 'Grace Hopper', deleted: false }
    onTestFinished(bus.respond(subjects.userNames, async () => ({ [owner]: name })))
    await bus.broadcast(subjects.principalChanged, { userId: owner })
    const second = await call('GET', `/apis/${id}`, undefined, {
      'if-none-match': String(first.headers.etag),
    })
    expect(second).toMatchObject({ status: 200, body: { ownerDisplayName: 'Grace Hopper' } })
    expect(
      (
        await call(
          'PUT',
          `/apis/${id}`,
          { ...payments, displayName: 'B' },
          { 'if-match': String(second.headers.etag) },
        )
      ).status,
    ).toBe(200)
  })
})

describe('filters', () => {
  test('are combined with AND, and the total counts the matches', async () => {
    await create({ ...payments, name: 'a', tags: ['x', 'y'], description: 'Card payments' })
    await create({ ...payments, name: 'b', tags: ['x'], status: 'INACTIVE' })
    await create({ ...payments, name: 'c', tags: ['y'], platformType: 'ENVOY' })
    const names = async (query: string) => {
      const { body } = await call('GET', `/apis?${query}`)
      expect(body.totalElements).toBe(body.content.length)
      return body.content.map(({ name }: { name: string }) => name)
    }
    expect(await names('tags=x')).toEqual(['a', 'b'])
    expect(await names('tags=x,y')).toEqual(['a'])
    expect(await names('tags=x&tags=y')).toEqual(['a'])
    expect(await names('tags=x&status=INACTIVE')).toEqual(['b'])
    expect(await names('platformType=ENVOY')).toEqual(['c'])
    expect(await names('text=CARD%20pay')).toEqual(['a'])
    expect(await names('text=card&status=INACTIVE')).toEqual([])
    expect(await names('deployed=true')).toEqual([])
    expect(await names('deployed=false&sort=name,desc')).toEqual(['c', 'b', 'a'])
  })
  test.each([
    'page=0',
    'size=101',
    'page=a',
    'page=1&page=2',
    'sort=tags',
    'owner=x',
    'status=X',
    'deployed=yes',
  ])('refuse %s', async query => {
    expect((await call('GET', `/apis?${query}`)).body).toMatchObject({
      status: 400,
      code: 'invalid-request',
      errors: [{}],
    })
  })
})

describe('a deployment', () => {
  const environment = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
  const report = async (job: { id: string; api: string }, outcome: string, message?: string) =>
    host.dependencies.bus.publish([
      {
        id: job.id,
        subject: subjects.deploymentReported,
        data: { job: job.id, api: job.api, environment, outcome, ...(message && { message }) },
      },
    ])
  test('is reported by its agent on the bus and then shows as deployed', async () => {
    const id = await create()
    const { status, body: job } = await call('PUT', `/environments/${environment}/apis/${id}`)
    expect({ status, job }).toMatchObject({
      status: 202,
      job: { type: 'DEPLOY', api: id, environment, status: 'RUNNING' },
    })
    expect((await call('GET', `/apis/${id}?includeRunningJobs=true`)).body).toMatchObject({
      deploymentStatus: 'DEPLOYMENT_IN_PROGRESS',
      runningJobs: [{ id: job.id }],
    })
    await report(job, 'SUCCEEDED')
    await vi.waitFor(async () =>
      expect(
        (await call('GET', `/apis?environment=${environment}&deployed=true&includeDeployedOn=true`)).body
          .content,
      ).toMatchObject([{ id, deploymentStatus: 'DEPLOYED', deployedOn: [{ environment }] }]),
    )
  })
  test('fails when the agent reports a failure', async () => {
    const id = await create()
    const { body: job } = await call('PUT', `/environments/${environment}/apis/${id}`)
    await report(job, 'FAILED', 'no room')
    await vi.waitFor(async () =>
      expect((await call('GET', `/apis/${id}`)).body.deploymentStatus).toBe('DEPLOYMENT_FAILED'),
    )
  })
  const jobEvents = async (api: string) =>
    (await host.dependencies.eventStore.readStream(`api-${api}`))
      .slice(1)
      .map(({ type, data, metadata }) => ({
        type,
        message: data.message,
        by: metadata.actor.name,
        action: metadata.change?.action,
      }))
  const start = async (api: string, on = environment) =>
    (await call('PUT', `/environments/${on}/apis/${api}`)).body as Job
  const cancel = (api: string, on = environment) => call('POST', `/environments/${on}/apis/${api}/cancel`)
  const statusOf = async (api: string) => (await call('GET', `/apis/${api}`)).body.deploymentStatus
  const within10s = (check: () => Promise<void> | void) =>
    vi.waitFor(check, { timeout: 10_000, interval: 20 })

  test('fails when no report comes within the timeout, also across a restart', async () => {
    const id = await create()
    await start(id)
    await host.restart()
    aheadMs = settings.DEPLOYMENT_TIMEOUT + 60_000
    await within10s(async () => expect(await statusOf(id)).toBe('DEPLOYMENT_FAILED'))
    expect((await jobEvents(id)).at(-1)).toEqual({
      type: 'DeploymentFailed',
      message: 'no report within 1h',
      by: 'deployment timeout',
      action: 'API_DEPLOYMENT_FAILED',
    })
    expect(await start(id)).toMatchObject({ status: 'RUNNING' })
  })
  test('continues until its own timeout when another job of the API times out', async () => {
    const id = await create()
    const other = '1d2e3f40-0000-4000-8000-000000000001'
    await start(id)
    aheadMs = settings.DEPLOYMENT_TIMEOUT / 2
    const { id: job } = await start(id, other)
    aheadMs = settings.DEPLOYMENT_TIMEOUT + 60_000
    const runningJobs = async () =>
      (await call('GET', `/apis/${id}?includeRunningJobs=true`)).body.runningJobs
    await within10s(async () => expect(await runningJobs()).toMatchObject([{ id: job, environment: other }]))
  })
  test('can be cancelled, and then another can start in the environment', async () => {
    const id = await create()
    const job = await start(id)
    expect(await cancel(id)).toMatchObject({ status: 200, body: { ...job, status: 'FAILED' } })
    expect(await statusOf(id)).toBe('DEPLOYMENT_FAILED')
    expect((await jobEvents(id)).at(-1)).toEqual({
      type: 'DeploymentFailed',
      message: 'cancelled',
      by: administrator.userId,
      action: 'API_DEPLOYMENT_FAILED',
    })
    expect((await start(id)).id).not.toBe(job.id)
  })
  test('cannot be cancelled in an environment where no job runs', async () => {
    const id = await create()
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'deployment-not-running' } })
    await start(id, '1d2e3f40-0000-4000-8000-000000000001')
    expect((await cancel(id)).body.code).toBe('deployment-not-running')
    expect((await cancel('1d2e3f40-0000-4000-8000-000000000002')).body.code).toBe('api-not-found')
    await call('DELETE', `/apis/${id}`)
    expect(await cancel(id)).toMatchObject({ status: 404, body: { code: 'api-not-found' } })
  })
  test('a report for a cancelled job changes nothing and is logged', async () => {
    const id = await create()
    const job = await start(id)
    await cancel(id)
    const before = await call('GET', `/apis/${id}?includeDeployedOn=true`)
    await report(job, 'SUCCEEDED')
    await within10s(() =>
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
    expect((await call('GET', `/apis/${id}?includeDeployedOn=true`)).body).toEqual(before.body)
  })
  test('an invalid report is skipped, and the next report is handled', async () => {
    await host.dependencies.bus.publish([
      { id: 'bad', subject: subjects.deploymentReported, data: { job: 7 } },
    ])
    const id = await create()
    const { body: job } = await call('PUT', `/environments/${environment}/apis/${id}`)
    await report(job, 'SUCCEEDED')
    await vi.waitFor(async () =>
      expect((await call('GET', `/apis/${id}`)).body.deploymentStatus).toBe('DEPLOYED'),
    )
  })
})

describe('a version', () => {
  test('is found by id and by name until its API is deleted', async () => {
    const api = await create()
    const { status, headers, body } = await call('POST', `/apis/${api}/versions`, { name: '1.2.0' })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { name: '1.2.0', displayName: '1.2.0', status: 'ACTIVE', api },
    })
    expect(headers.location).toBe(`/apis/${api}/versions/${body.id}`)
    expect((await call('GET', `/apis/${api}/versions/1.2.0`)).body).toEqual(body)
    expect((await call('POST', `/apis/${api}/versions`, { name: '1.2.0' })).body.code).toBe(
      'version-name-taken',
    )
    await call('DELETE', `/apis/${api}`)
    expect((await call('GET', `/apis/${api}/versions/1.2.0`)).body.code).toBe('api-not-found')
    expect((await call('GET', `/apis/${api}/versions`)).status).toBe(404)
  })
  describe('with MAX_VERSIONS_PER_API of 2', () => {
    beforeEach(async () => {
      await host.close()
      const limited = catalogSettings.parse({ MAX_VERSIONS_PER_API: '2' })
      host = await hostService(dependencies => catalogService(dependencies, limited))
    })

    test('is refused as the third of its API until another version of that API is deleted', async () => {
      const api = await create()
      const post = (name: string, id = api) => call('POST', `/apis/${id}/versions`, { name })
      expect((await post('1.0')).status).toBe(201)
      expect((await post('2.0')).status).toBe(201)
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
  })
})

describe('restoring an API', () => {
  const restore = (id: string, at: string) => call('POST', `/apis/${id}/restore`, { at })

  test('reads the state of the time from the log, also one of an earlier release', async () => {
    const id = await create()
    const { updatedAt: first } = (await call('GET', `/apis/${id}`)).body
    aheadMs = 60_000
    await call('PUT', `/apis/${id}`, { ...payments, name: 'renamed', description: 'Later' })
    aheadMs = 120_000
    await call('POST', `/apis/${id}/versions`, { name: '1.0' })
    const restored = await restore(id, first)
    expect(restored).toMatchObject({ status: 200, body: { name: 'payments', description: null } })
    expect(restored.body.updatedAt > first).toBe(true)
    expect(restored.headers.etag).toBe((await call('GET', `/apis/${id}`)).headers.etag)

    const stream = `api-${id}`
    const { eventStore } = host.dependencies
    const last = (await eventStore.readStream(stream)).at(-1)
    expect(last).toMatchObject({ type: 'ApiUpdated', metadata: { change: { restoredTo: first } } })
    expect(await restore(id, first)).toMatchObject({ status: 200, headers: { etag: restored.headers.etag } })
    expect(await eventStore.readLast(stream)).toEqual(last)
  })

  test('refuses a state that a rule of today forbids, and names the field', async () => {
    const id = await create()
    const { eventStore, newId } = host.dependencies
    const [created] = await eventStore.readStream(`api-${id}`)
    if (!created) throw new Error('no event')
    const { createdAt, ...fields } = created.data as Record<string, string>
    const at = new Date(Date.parse(createdAt ?? '') + 1).toISOString()
    const named = (name: string, at: string) => ({
      id: newId(),
      type: 'ApiUpdated',
      data: { ...fields, name, updatedAt: at },
      metadata: { ...created.metadata, at },
    })
    await eventStore.append(
      `api-${id}`,
      [named('tab\there', at), named('fine', new Date(Date.parse(at) + 1).toISOString())],
      0,
    )
    expect(await restore(id, at)).toMatchObject({
      status: 409,
      body: {
        code: 'not-restorable',
        errors: [{ field: 'name', message: 'must have no control characters' }],
      },
    })
  })
})
