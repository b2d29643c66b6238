import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { auditCollections, auditLog, DAY_ROOTS, type DayRootDocument, dayRootIn } from '@gantry/audit'
import { listAuditProofs } from '@gantry/contracts'
import {
  type EventMetadata,
  type HeldStream,
  heldStreams,
  listHeld,
  NO_STREAM,
  projectorId,
} from '@gantry/event-sourcing'
import { frozenStreams } from '@gantry/event-sourcing/testing'
import { administrator, hostService } from '@gantry/service-runtime/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cheapIdentity, hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'

let identity: IdentityHost
beforeEach(async () => {
  identity = await hostIdentity()
})
afterEach(() => identity.close())

const admin = () => identity.as(administrator)
const list = async (query = '') => (await admin().get(`/auditLog?${query}`)).body
const create = async (username: string) =>
  (
    await admin().post('/users', {
      body: { username, password: PASSWORD },
      headers: { 'x-request-id': `make-${username}` },
    })
  ).body.id as string

describe('the audit log', () => {
  test('is listed in the order of the log, latest first, also within a millisecond and after a rebuild', async () => {
    const made: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) made.push(await create(name))
    const ids = async (query: string) =>
      (await list(`user=${administrator.userId}&${query}`)).content.map(
        ({ resourceId }: { resourceId: string }) => resourceId,
      )
    expect([...(await ids('size=3')), ...(await ids('size=3&page=2'))]).toEqual(made.toReversed())
    expect(await ids('sort=timestamp,asc')).toEqual(made)

    const before = await list('size=100')
    const { readModels } = identity.host.dependencies
    await readModels.drop(auditLog)
    await readModels.checkpoints.clear(projectorId({ name: 'identity.audit', collections: auditCollections }))
    await vi.waitFor(async () => expect(await list('size=100')).toEqual(before))
  })
})

test('the audit log goes on past events of other applications and malformed ones; it counts the former and holds the streams of the latter', async () => {
  const { dependencies } = identity.host
  const { eventStore, readModels, process } = dependencies
  const append = (stream: string, type: string) =>
    eventStore.append(
      stream,
      [{ id: randomUUID(), type, data: {}, metadata: {} as EventMetadata }],
      NO_STREAM,
    )
  await append('invoice-1', 'InvoicePaid')
  for (const stream of ['api-1', 'user-1', 'auditroot-days']) await append(stream, 'InvoicePaid')
  const ada = await create('ada')
  expect((await list(`resource=${ada}`)).totalElements).toBe(1)
  const held: HeldStream[] = []
  for await (const stream of listHeld(heldStreams('identity.audit'), readModels)) held.push(stream)
  expect(held.map(({ id }) => id).toSorted()).toEqual(['api-1', 'auditroot-days', 'user-1'])
  expect(held[0]).toMatchObject({
    reason: 'its metadata name no actor',
    position: expect.stringMatching(/./),
  })
  expect(await process.metrics.getSingleMetricAsString('gantry_foreign_events_total')).toMatch(/ 1$/m)
})

test('the audit log answers 503 with Retry-After while entries are missing, and the service stays ready', async () => {
  const host = await hostService(dependencies => cheapIdentity(dependencies), { start: false })
  const { leases } = host.dependencies.readModels
  const id = projectorId({ name: 'identity.audit', collections: auditCollections })
  const lease = await leases.acquire(id, 'a replica that hangs', MINUTE)
  if (!lease) throw new Error('the lease is held already')
  const get = () => host.app.inject({ method: 'GET', url: '/auditLog' })
  try {
    expect((await get()).statusCode, 'before the start').toBe(503)
    await host.service.start()
    await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
    const created = await host.app.inject({
      method: 'POST',
      url: '/users',
      payload: { username: 'ada', password: PASSWORD },
    })
    expect(created.statusCode).toBe(201)
    const behind = await get()
    expect(behind.statusCode).toBe(503)
    expect(behind.headers['retry-after']).toBe('2')
    expect(behind.json()).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('audit log') })

    await leases.release(lease)
    await vi.waitFor(async () => expect((await get()).statusCode).toBe(200))
    const { content } = (await get()).json()
    expect(content[0]).toMatchObject({ action: 'USER_CREATED', resourceId: created.json().id })
  } finally {
    await host.close()
  }
})

const folder = join(import.meta.dirname, '../frozen')

test('the day roots of the frozen stream have the documents of today', () => {
  const documents = frozenStreams(folder, DAY_ROOTS)
    .streams.flat()
    .map(event => dayRootIn(event)?.doc)
  expect(documents).toEqual([
    {
      id: '2026-11-20',
      day: '2026-11-20',
      through: 3,
      root: expect.objectContaining({
        count: 3,
        last: { number: 3, position: '0000000000000004' },
        log: expect.objectContaining({ events: 4 }),
      }),
      signature: expect.stringMatching(/^[\w-]{86}$/),
    },
  ])
  const { content } = listAuditProofs.responses[200].schema.shape
  for (const { root, signature } of documents as DayRootDocument[])
    expect(() => content.parse([{ ...root, signature, valid: true }])).not.toThrow()
})
