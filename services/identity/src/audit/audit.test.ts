import { projectorKey } from '@gantry/event-sourcing'
import { administrator, hostService } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cheapIdentity, hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'
import { AUDIT_COLLECTIONS } from './auditor.ts'
import { auditLog } from './log/log.projection.ts'

let identity: IdentityHost
beforeEach(async () => {
  identity = await hostIdentity()
})
afterEach(() => identity.close())

const admin = () => identity.as(administrator)
const list = async (query = '') => (await admin().get(`/auditLog?${query}`)).body
const actions = async (query = '') =>
  (await list(query)).content.map(({ action }: { action: string }) => action) as string[]
const create = async (username: string) =>
  (
    await admin().post('/users', {
      body: { username, password: PASSWORD },
      headers: { 'x-request-id': `make-${username}` },
    })
  ).body.id as string

describe('the audit log', () => {
  test('can be filtered by user, action, resource, text and time', async () => {
    const ada = await create('ada')
    identity.pass(MINUTE)
    const joan = await create('joan')
    identity.pass(MINUTE)
    await identity.logIn('joan')
    expect(await actions(`user=${administrator.userId}`)).toEqual(['USER_CREATED', 'USER_CREATED'])
    expect(await actions('action=USER_LOGGED_IN')).toEqual(['USER_LOGGED_IN'])
    expect(await actions(`resource=${ada}`)).toEqual(['USER_CREATED'])
    expect(await actions('resource=SIGNING_KEY')).toEqual(['SIGNING_KEY_CREATED'])
    expect(await actions(`text=${joan.slice(0, 20)}%20logged`)).toEqual(['USER_LOGGED_IN'])
    expect(await actions('user=joan')).toEqual(['USER_LOGGED_IN'])
    expect((await list('user=joan')).content[0].user).toEqual({ id: joan, username: 'joan' })
    expect(await actions(`from=2026-11-21T10:01:00Z&user=${administrator.userId}`)).toEqual(['USER_CREATED'])
    expect(await actions('from=2026-11-21T12:02:00%2B02:00')).toEqual(['USER_LOGGED_IN'])
    expect(await actions(`to=2026-11-21T10:01:00Z&user=${administrator.userId}`)).toEqual(['USER_CREATED'])
    expect(await actions('from=9999-12-31T23:59:59-01:00')).toEqual([])
    expect((await list('from=yesterday')).code).toBe('invalid-request')
  })

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
    await readModels.checkpoints.clear(
      projectorKey({ name: 'identity.audit', collections: AUDIT_COLLECTIONS }),
    )
    await vi.waitFor(async () => expect(await list('size=100')).toEqual(before))
  })
})

test('the audit log answers 503 with Retry-After while entries are missing, and the service stays ready', async () => {
  const host = await hostService(dependencies => cheapIdentity(dependencies), { start: false })
  const { leases } = host.dependencies.readModels
  const key = projectorKey({ name: 'identity.audit', collections: AUDIT_COLLECTIONS })
  const lease = await leases.acquire(key, 'a replica that hangs', MINUTE)
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

test('the audit log declares that it grows without bound, so that its index is not kept in memory', () => {
  expect(auditLog.listedBy).toBe('when')
  expect(Object.keys(auditLog.fields)).toContain(auditLog.listedBy)
})
