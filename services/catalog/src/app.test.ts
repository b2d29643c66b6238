import { type PublicEvent, subjects } from '@gantry/contracts'
import type { Message } from '@gantry/messaging'
import { type Host, hostService } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { catalogService } from './app.ts'

let host: Host<ReturnType<typeof catalogService>>
beforeEach(async () => {
  host = await hostService(catalogService)
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
  test('is seen by the next read, in lists and counts', async () => {
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

  test('carries the actor, the request and the trace into the log', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { body } = await call('POST', '/apis', payments, { 'x-request-id': 'r-1', traceparent })
    const [event] = await host.dependencies.eventStore.readStream(`api-${body.id}`)
    expect(event?.metadata).toMatchObject({ actor: { name: 'grace' }, requestId: 'r-1', traceparent })
  })
})

describe('a name', () => {
  test('goes to one of two that ask at once', async () => {
    const answers = await Promise.all([call('POST', '/apis', payments), call('POST', '/apis', payments)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
    expect((await call('GET', '/apis')).body.totalElements).toBe(1)
  })
  test('is free after deletion and after renaming', async () => {
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

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'k-1' }
  test('makes one API of two requests, also over a restart', async () => {
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
  test('is refused for another body', async () => {
    await call('POST', '/apis', payments, key)
    expect((await call('POST', '/apis', { ...payments, name: 'b' }, key)).status).toBe(422)
  })
  test('is tried again after a refusal', async () => {
    const holder = await create()
    expect((await call('POST', '/apis', payments, key)).status).toBe(409)
    await call('DELETE', `/apis/${holder}`)
    expect((await call('POST', '/apis', payments, key)).status).toBe(201)
  })
  test('makes one API even when the first process died before it could note the answer', async () => {
    const first = await call('POST', '/apis', payments, key)
    const kept = host.dependencies.readModels
    await kept.drop({ name: 'catalog.idempotency', version: 1 })
    const second = await call('POST', '/apis', payments, key)
    expect(second).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect((await call('GET', '/apis')).body.totalElements).toBe(1)
  })
})

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
  test('If-None-Match saves the body while nothing changed', async () => {
    const id = await create()
    const first = await call('GET', `/apis/${id}`)
    const etag = { 'if-none-match': String(first.headers.etag) }
    expect((await call('GET', `/apis/${id}`, undefined, etag)).status).toBe(304)
    await tell(fact('API_IMAGE_UPDATED', id, 0))
    expect((await call('GET', `/apis/${id}`, undefined, etag)).body.hasImage).toBe(true)
  })
  test('the tag changes with the name of the owner, which another service knows', async () => {
    const id = await create()
    const first = await call('GET', `/apis/${id}`)
    await tell(fact('USER_UPDATED', first.body.owner, 3, { displayName: 'Grace Hopper' }))
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
  test('combine with AND and count what they keep', async () => {
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
  test('is carried out by an agent that hears of the job on the bus and reports there', async () => {
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
  test('fails with the reason of the agent', async () => {
    const id = await create()
    const { body: job } = await call('PUT', `/environments/${environment}/apis/${id}`)
    await report(job, 'FAILED', 'no room')
    await vi.waitFor(async () =>
      expect((await call('GET', `/apis/${id}`)).body.deploymentStatus).toBe('DEPLOYMENT_FAILED'),
    )
  })
  test('a report that is no report is passed over', async () => {
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
  test('is found by id and by name, and goes with its API', async () => {
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
})
