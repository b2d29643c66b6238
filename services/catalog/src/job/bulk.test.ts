import { type ApiRecord, type JobRecord, type JobResult, Refusal, requests } from '@gantry/contracts'
import type { NewEvent } from '@gantry/event-sourcing'
import type { Dependencies } from '@gantry/service-runtime'
import { administrator, hostService } from '@gantry/service-runtime/testing'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from '../app.ts'
import { catalogSettings } from '../settings.ts'
import { apiInput } from '../testing/api-input.ts'
import { jobResults } from './job.projection.ts'

/** Called before each append, with the stream and the types of the events. */
let before: (stream: string, types: string[]) => unknown
/** The answer of identity to `scopesNow`. */
let scopesNow: () => Promise<{ scopes: ('API_WRITE' | 'API_READ')[] }>
/** How far the clock of the service is ahead, in milliseconds. */
let ahead: number
beforeEach(() => {
  ahead = 0
  before = () => {}
  scopesNow = async () => ({ scopes: ['API_WRITE'] })
})

async function open() {
  const make = (dependencies: Dependencies) => {
    const { eventStore, process } = dependencies
    process.peers.answer(requests.scopesNow, () => scopesNow())
    const append = async (stream: string, events: NewEvent[], expected: number) => {
      await before(
        stream,
        events.map(({ type }) => type),
      )
      return eventStore.append(stream, events, expected)
    }
    return catalogService(
      { ...dependencies, eventStore: { ...eventStore, append } },
      catalogSettings.parse({}),
    )
  }
  const host = await hostService(given =>
    make({ ...given, now: () => new Date(given.now().getTime() + ahead) }),
  )
  onTestFinished(() => host.close())
  const call = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const answer = await host.app.inject({ method, url, ...(payload && { payload }) })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }
  const create = async (name: string, tags: string[] = []) =>
    (await call('POST', '/apis', { ...apiInput, name, tags })).body as ApiRecord
  const get = async (id: string) => (await call('GET', `/apis/${id}`)).body as ApiRecord
  const start = async (input: object) => (await call('POST', '/apis/bulk', input)).body as JobRecord
  const ended = ({ id }: JobRecord) =>
    vi.waitFor(async () => {
      const job = (await call('GET', `/jobs/${id}`)).body as JobRecord
      expect(job.finishedAt).not.toBeNull()
      return job
    })
  const results = async ({ id }: JobRecord, query = 'size=100') =>
    (await call('GET', `/jobs/${id}/results?${query}`)).body.content as JobResult[]
  const typesOf = async (stream: string) =>
    (await host.dependencies.eventStore.readStream(stream)).map(({ type }) => type)
  return { host, call, create, get, start, ended, results, typesOf }
}

const DAY_MS = 86_400_000
const MISSING = '11111111-1111-4111-8111-111111111111'

describe('a bulk change', () => {
  test('changes tags, status and owner of each API, with a result for each in the order of the ids', async () => {
    const { call, create, get, start, ended, results } = await open()
    const a = await create('a', ['draft', 'old'])
    const b = await create('b', ['new'])
    const change = { tags: { add: ['new'], remove: ['draft'] } }
    const job = await start({ ids: [a.id, MISSING, b.id], change })
    expect(job).toMatchObject({ type: 'BULK', status: 'QUEUED', total: 3, createdBy: administrator.userId })
    expect(await ended(job)).toMatchObject({ status: 'COMPLETED', done: 2, failed: 1, problem: null, change })
    expect((await get(a.id)).tags).toEqual(['old', 'new'])
    expect(await results(job)).toEqual([
      { item: a.id, api: a.id, status: 'UPDATED', problem: null },
      expect.objectContaining({ item: MISSING, status: 'FAILED' }),
      { item: b.id, api: b.id, status: 'UNCHANGED', problem: null },
    ])
    expect(await results(job, 'status=FAILED')).toMatchObject([{ problem: { code: 'api-not-found' } }])
    expect(await results(job, 'size=1&page=3')).toMatchObject([{ item: b.id }])
    const other = await start({ ids: [a.id], change: { status: 'INACTIVE', owner: MISSING } })
    await ended(other)
    expect(await get(a.id)).toMatchObject({ status: 'INACTIVE', owner: MISSING, tags: ['old', 'new'] })
    const { content } = (await call('GET', '/jobs')).body
    expect(content.map(({ id }: JobRecord) => id)).toEqual([other.id, job.id])
  })

  test('by filter has the APIs that it selects at the time of the request', async () => {
    const { call, create, start, ended } = await open()
    await create('a', ['x', 'y'])
    await create('b', ['x'])
    const job = await start({ filter: { tags: ['y'] }, change: { delete: {} } })
    expect(await ended(job)).toMatchObject({ total: 1, done: 1 })
    expect((await call('GET', '/apis')).body.content).toMatchObject([{ name: 'b' }])
    await create('zebra')
    expect(await ended(await start({ filter: { q: 'zebra' }, change: { delete: {} } }))).toMatchObject({
      total: 1,
    })
    expect((await call('GET', '/apis')).body.content).toMatchObject([{ name: 'b' }])
    expect(await ended(await start({ filter: { text: 'none' }, change: { delete: {} } }))).toMatchObject({
      status: 'COMPLETED',
      total: 0,
    })
  })

  test.for([
    [{ filter: { tag: ['y'] }, change: { delete: {} } }, 'filter'],
    [{ filter: { q: ' ' }, change: { delete: {} } }, 'filter.q'],
    [{ filter: { q: 'a', text: 'a' }, change: { delete: {} } }, 'q'],
    [{ change: { delete: {} } }, ''],
    [{ ids: [], filter: {}, change: { delete: {} } }, ''],
    [{ ids: [], change: {} }, 'change'],
    [{ ids: [], change: { delete: {}, status: 'ACTIVE' } }, 'change'],
    [{ ids: [MISSING], change: { delete: { unchangedSince: [] } } }, 'change.delete.unchangedSince'],
    [{ filter: {}, change: { delete: { unchangedSince: [] } } }, 'change.delete.unchangedSince'],
  ] as const)('%j is refused', async ([input, field]) => {
    const { call } = await open()
    const { status, body } = await call('POST', '/apis/bulk', input)
    expect({ status, field: body.errors[0].field }).toEqual({ status: 400, field })
  })

  test('does not delete an API that was changed after the request, or after a time', async () => {
    const { create, start, ended, results } = await open()
    const { id, updatedAt } = await create('a')
    const seen = new Date(Date.parse(updatedAt) - 1).toISOString()
    const job = await start({ ids: [id], change: { delete: { unchangedSince: seen } } })
    await ended(job)
    expect(await results(job)).toMatchObject([{ problem: { code: 'precondition-failed' } }])
    const again = await start({ ids: [id, MISSING], change: { delete: { unchangedSince: updatedAt } } })
    await ended(again)
    expect((await results(again)).map(({ status }) => status)).toEqual(['DELETED', 'UNCHANGED'])
  })

  test('does not delete an API that was changed after its own time, if another one was seen later', async () => {
    const { create, start, ended, results } = await open()
    const [a, b] = [await create('a'), await create('b')]
    const seen = new Date(Date.parse(a.updatedAt) - 1).toISOString()
    const unchangedSince = [seen, b.updatedAt]
    const job = await ended(await start({ ids: [a.id, b.id], change: { delete: { unchangedSince } } }))
    expect(job).toMatchObject({ total: 2, done: 1, failed: 1 })
    expect(await results(job)).toMatchObject([
      { item: a.id, status: 'FAILED', problem: { code: 'precondition-failed' } },
      { item: b.id, status: 'DELETED' },
    ])
  })

  test('whose process died before it recorded its results does no item twice', async () => {
    const { host, create, start, ended, results, typesOf } = await open()
    const apis = await Promise.all(Array.from({ length: 20 }, (_, n) => create(`api-${n}`)))
    const died = Promise.withResolvers<void>()
    before = (stream, types) => {
      if (!stream.startsWith('job-') || !types.includes('JobAdvanced')) return
      died.resolve()
      throw new Error('died')
    }
    const job = await start({ ids: apis.map(({ id }) => id), change: { status: 'INACTIVE' } })
    await died.promise
    before = () => {}
    await host.restart()
    expect(await ended(job)).toMatchObject({ status: 'COMPLETED', done: 20 })
    expect((await results(job)).every(({ status }) => status === 'UPDATED')).toBe(true)
    for (const { id } of apis) expect(await typesOf(`api-${id}`)).toEqual(['ApiCreated', 'ApiUpdated'])
  })
})

describe('a job', () => {
  test('ends as soon as its creator may no longer change APIs, and says why', async () => {
    const { host, create, get, start, ended } = await open()
    const { id } = await create('a')
    scopesNow = async () => {
      throw new Refusal('unauthenticated', { detail: 'the user of the credential is inactive' })
    }
    expect(await ended(await start({ ids: [id], change: { status: 'INACTIVE' } }))).toMatchObject({
      status: 'FAILED',
      done: 0,
      problem: { code: 'unauthenticated', detail: 'the user of the credential is inactive' },
    })
    scopesNow = async () => ({ scopes: ['API_READ'] })
    host.actAs({ ...administrator, userId: MISSING })
    expect((await ended(await start({ ids: [id], change: { status: 'INACTIVE' } }))).problem).toMatchObject({
      code: 'scope-missing',
    })
    expect((await get(id)).status).toBe('ACTIVE')
  })

  test('waits while identity does not answer, and can be cancelled meanwhile, once', async () => {
    const { call, create, start } = await open()
    const asked = Promise.withResolvers<void>()
    scopesNow = async () => {
      asked.resolve()
      throw new Refusal('unavailable')
    }
    const job = await start({ ids: [(await create('a')).id], change: { status: 'INACTIVE' } })
    await asked.promise
    const cancelled = await call('POST', `/jobs/${job.id}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'CANCELLED', done: 0 } })
    expect((await call('POST', `/jobs/${job.id}/cancel`)).body.code).toBe('job-not-running')
  })

  test('is seen by its creator and by administrators', async () => {
    const { host, call, start } = await open()
    const own = await start({ ids: [], change: { status: 'ACTIVE' } })
    const user = { ...administrator, userId: MISSING, role: 'USER' as const }
    host.actAs(user)
    expect((await call('GET', '/jobs')).body.totalElements).toBe(0)
    for (const path of ['', '/results'])
      expect((await call('GET', `/jobs/${own.id}${path}`)).status).toBe(404)
    expect((await call('POST', `/jobs/${own.id}/cancel`)).status).toBe(404)
    const theirs = await start({ ids: [], change: { status: 'ACTIVE' } })
    expect((await call('GET', '/jobs')).body.content).toMatchObject([{ id: theirs.id }])
    host.actAs(administrator)
    expect((await call('GET', '/jobs')).body.totalElements).toBe(2)
  })

  test('is removed with its results 30 days after its end, and stays in the log', async () => {
    const { host, call, create, start, ended, results, typesOf } = await open()
    const job = await start({ ids: [(await create('a')).id], change: { status: 'INACTIVE' } })
    await ended(job)
    ahead = 29 * DAY_MS
    await host.restart()
    const sweeping = { timeout: 20_000 }
    await vi.waitFor(
      async () => expect(await typesOf(`job-${job.id}`)).toContain('JobInputRemoved'),
      sweeping,
    )
    expect(await results(job)).toHaveLength(1)
    ahead = 31 * DAY_MS
    await host.restart()
    const removed = async () => {
      expect((await call('GET', `/jobs/${job.id}`)).status).toBe(404)
      expect((await call('GET', '/jobs')).body.totalElements).toBe(0)
      expect(await host.dependencies.readModels.collection(jobResults).count({})).toBe(0)
    }
    await vi.waitFor(removed, sweeping)
    expect(await typesOf(`job-${job.id}`)).toContain('JobRequested')
  })

  test('of a user with 20 others that have not ended is refused', async () => {
    const { start } = await open()
    scopesNow = async () => {
      throw new Refusal('unavailable')
    }
    const begin = () => start({ ids: [MISSING], change: { status: 'ACTIVE' } })
    for (let n = 0; n < 20; n++) expect(await begin()).toMatchObject({ status: 'QUEUED' })
    expect(await begin()).toMatchObject({ code: 'too-many-jobs', status: 409 })
  })
})
