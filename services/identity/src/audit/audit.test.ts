import { join } from 'node:path'
import { NO_STREAM, projectorKey, START } from '@gantry/event-sourcing'
import { appendFrozenStreams } from '@gantry/event-sourcing/testing'
import { administrator, hostService } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { identityService } from '../app.ts'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD, SETTINGS } from '../testing/identity-host.ts'
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
  test('has the latest change of the caller, with user, resource, before and after', async () => {
    const id = await create('ada')
    const [latest] = (await list('size=1')).content
    expect(latest).toMatchObject({
      timestamp: '2026-11-21T10:00:00.000Z',
      user: { id: administrator.userId, username: null },
      action: 'USER_CREATED',
      resourceType: 'USER',
      resourceId: id,
      details: { before: null, after: { username: 'ada', role: 'USER' } },
      requestId: 'make-ada',
    })
    const [event] = await identity.host.dependencies.eventStore.readStream(`user-${id}`)
    expect(latest.id).toBe(event?.id)
  })

  test('has logins, locks, tokens and signing keys without their secrets', async () => {
    const id = await create('ada')
    for (let time = 0; time < 5; time++) await identity.logIn('ada', 'wrong')
    await admin().post(`/users/${id}/unlock`)
    const ada = identity.as(await identity.loginToken('ada'))
    const { body } = await ada.post('/accessTokens', { body: { name: 't', scopes: ['API_READ'] } })
    await ada.delete(`/accessTokens/${body.id}`)
    await ada.post('/logout')
    await identity.host.service.rotateSigningKey()
    const all = await list('size=100&sort=timestamp,asc')
    const actions: string[] = all.content.map(({ action }: { action: string }) => action)
    expect(actions).toContain('AUDIT_KEY_CREATED')
    expect(actions.filter(action => action !== 'AUDIT_KEY_CREATED')).toEqual([
      'SIGNING_KEY_CREATED',
      'USER_CREATED',
      'USER_CREATED',
      ...Array.from({ length: 5 }, () => 'USER_LOGIN_FAILED'),
      'USER_LOCKED',
      'USER_UNLOCKED',
      'USER_LOGGED_IN',
      'ACCESS_TOKEN_CREATED',
      'ACCESS_TOKEN_REVOKED',
      'USER_LOGGED_OUT',
      'SIGNING_KEY_CREATED',
      'SIGNING_KEY_RETIRED',
    ])
    const said = JSON.stringify(all)
    expect(said).not.toMatch(/argon2|sealed|hash/i)
    expect(said).not.toContain(body.token)
  })

  test('has the changes of every service', async () => {
    const { eventStore, newId } = identity.host.dependencies
    const change = {
      action: 'API_CREATED',
      resourceType: 'API',
      resourceId: 'a1',
      before: null,
      after: { 'a.b': { $key: 1 } },
    }
    const metadata = { actor: { id: 'u1', name: 'joan' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' }
    for (const category of ['api', 'image', 'webhook', 'recovery', 'platformevent', 'delivery']) {
      const event = { id: newId(), type: 'Happened', data: {}, metadata: { ...metadata, change } }
      const unchanged = { id: newId(), type: 'Unseen', data: {}, metadata }
      await eventStore.append(`${category}-1`, [event, unchanged], -1)
    }
    const { content, totalElements } = await list('user=u1')
    expect(totalElements).toBe(6)
    expect(content[0].details.after).toEqual({ 'a.b': { $key: 1 } })
  })

  test('omits a value that is too deep from a record that was written before the depth limit', async () => {
    const { eventStore, newId } = identity.host.dependencies
    const levels = 4_300
    const after = JSON.parse(`${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`)
    const change = {
      action: 'CONFIGURATION_CHANGED',
      resourceType: 'PLATFORM_EVENT',
      resourceId: 'c1',
      before: null,
      after,
    } as const
    const actor = { id: 'u1', name: 'joan' }
    const metadata = { actor, requestId: 'r1', at: '2026-11-21T10:00:00.000Z', change }
    await eventStore.append(
      'platformevent-1',
      [{ id: newId(), type: 'Happened', data: {}, metadata }],
      NO_STREAM,
    )
    expect((await list('user=u1')).content).toMatchObject([
      {
        action: 'CONFIGURATION_CHANGED',
        details: { before: null, after: { omitted: 'more than 1000 levels deep' } },
      },
    ])
  })

  test('can be filtered by user, action, resource, text and time', async () => {
    const ada = await create('ada')
    identity.pass(MINUTE)
    const joan = await create('joan')
    identity.pass(MINUTE)
    await identity.logIn('joan')
    expect(await actions(`user=${administrator.userId}`)).toEqual(['USER_CREATED', 'USER_CREATED'])
    expect(await actions(`user=${administrator.userId}`)).toHaveLength(2)
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

  test('is listed in the order of the log, latest first, also within a millisecond', async () => {
    const made: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) made.push(await create(name))
    const ids = async (query: string) =>
      (await list(`user=${administrator.userId}&${query}`)).content.map(
        ({ resourceId }: { resourceId: string }) => resourceId,
      )
    expect([...(await ids('size=3')), ...(await ids('size=3&page=2'))]).toEqual(made.toReversed())
    expect(await ids('sort=timestamp,asc')).toEqual(made)
  })

  test('has the same content after a rebuild', async () => {
    await create('ada')
    const before = await list('size=100')
    const { readModels } = identity.host.dependencies
    await readModels.drop(auditLog)
    await readModels.checkpoints.clear(
      projectorKey({ name: 'identity.audit', collections: AUDIT_COLLECTIONS }),
    )
    await vi.waitFor(async () => expect(await list('size=100')).toEqual(before), { timeout: 10_000 })
  })
})

test('the audit log has logins of earlier releases and of this one, also after a rebuild', async () => {
  const host = await hostService(dependencies => identityService(dependencies, SETTINGS), {
    now: () => new Date('2026-11-23T00:00:00.000Z'),
    start: false,
  })
  onTestFinished(() => host.close())
  const { eventStore, readModels } = host.dependencies
  const frozen = join(import.meta.dirname, '../frozen')
  await appendFrozenStreams(eventStore, frozen, 'efcfd61', ['user', 'username', 'signingkey'])
  await host.service.start()
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 10_000 })
  const logIn = async (password: string, status: number) => {
    const payload = { username: 'ada.l', password }
    expect((await host.app.inject({ method: 'POST', url: '/login', payload })).statusCode).toBe(status)
  }
  await logIn('a wrong password', 401)
  await logIn('another long one', 200)
  for (let time = 0; time < 5; time++) await logIn('a wrong password', 401)

  const records = async () => {
    const answer = await host.app.inject({ method: 'GET', url: '/auditLog?size=100&sort=timestamp,asc' })
    expect(answer.statusCode).toBe(200)
    return answer.json().content as { id: string; action: string; timestamp: string }[]
  }
  await vi.waitFor(async () => expect((await records()).at(-1)?.action).toBe('USER_LOCKED'), {
    timeout: 10_000,
  })
  const before = await records()
  const earlier: string[] = []
  for await (const event of eventStore.readAll({ after: START, streamPrefixes: ['user-', 'signingkey-'] }))
    if (event.metadata.change) earlier.push(event.id)
  expect(before.map(({ id }) => id).filter(id => earlier.includes(id))).toHaveLength(earlier.length)
  const isOfToday = ({ timestamp, action }: { timestamp: string; action: string }) =>
    timestamp >= '2026-11-23' && action !== 'AUDIT_KEY_CREATED'
  expect(before.filter(isOfToday).map(({ action }) => action)).toEqual([
    'USER_LOGIN_FAILED',
    'USER_LOGGED_IN',
    ...Array.from({ length: 5 }, () => 'USER_LOGIN_FAILED'),
    'USER_LOCKED',
  ])

  await readModels.drop(auditLog)
  await readModels.checkpoints.clear(projectorKey({ name: 'identity.audit', collections: AUDIT_COLLECTIONS }))
  await vi.waitFor(async () => expect(await records()).toEqual(before), { timeout: 10_000 })
})

test('the audit log answers 503 with Retry-After while entries are missing, and the service stays ready', async () => {
  const host = await hostService(dependencies => identityService(dependencies, SETTINGS), { start: false })
  const { leases } = host.dependencies.readModels
  const key = projectorKey({ name: 'identity.audit', collections: AUDIT_COLLECTIONS })
  const lease = await leases.acquire(key, 'a replica that hangs', MINUTE)
  if (!lease) throw new Error('the lease is held already')
  const get = () => host.app.inject({ method: 'GET', url: '/auditLog' })
  try {
    expect((await get()).statusCode, 'before the start').toBe(503)
    await host.service.start()
    await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 10_000 })
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
    await vi.waitFor(async () => expect((await get()).statusCode).toBe(200), { timeout: 20_000 })
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
