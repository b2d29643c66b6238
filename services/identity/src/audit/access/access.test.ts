import { join } from 'node:path'
import { requests } from '@gantry/contracts'
import { EventStoreUnavailable, START } from '@gantry/event-sourcing'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { administrator } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hostIdentity, MINUTE, PASSWORD } from '../../testing/identity-host.ts'
import { type AccessEvent, accessDecider } from './access.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../../frozen'),
  category: 'access',
  decider: accessDecider,
})

const { given } = story(accessDecider)

test('a minute has at most 100 refused logins and 100 refused operations, and every export', () => {
  const exported: AccessEvent = {
    type: 'AuditLogExported',
    data: { format: 'ndjson', filter: {}, after: 0, through: 7 },
  }
  const login: AccessEvent = {
    type: 'LoginRefused',
    data: { user: null, name: 'n', reason: 'wrong-credentials' },
  }
  const operation: AccessEvent = {
    type: 'OperationRefused',
    data: { operation: 'createUser', path: '/users' },
  }
  const times = (event: AccessEvent, count: number) => Array<AccessEvent>(count).fill(event)
  const record = (event: AccessEvent) => ({ type: 'RecordAccess' as const, metadata, event })
  for (const refused of [login, operation]) {
    given(...times(refused, 99))
      .when(record(refused))
      .then(refused)
    given(...times(refused, 100))
      .when(record(refused))
      .then()
  }
  given(...times(exported, 100))
    .when(record(exported))
    .then(exported)
})

const host = async () => {
  const identity = await hostIdentity()
  onTestFinished(() => identity.close())
  const admin = identity.as(administrator)
  const audited = async (query: string) => (await admin.get(`/auditLog?size=100&${query}`)).body.content
  return { identity, admin, audited }
}

const refusedBy = (user: string) => ({
  id: '11111111-1111-4111-8111-111111111111',
  user,
  tokenId: null,
  operation: 'createUser',
  path: '/users',
  requestId: 'r',
  time: '2026-11-21T10:00:00.000Z',
})

test('every refused login is recorded; an unknown name, which may be a password, only as an HMAC', async () => {
  const { identity, admin, audited } = await host()
  const create = async (username: string, fields = {}) =>
    (await admin.post('/users', { body: { username, password: PASSWORD, ...fields } })).body.id
  const locked = await create('locked')
  const inactive = await create('inactive', { status: 'INACTIVE' })
  for (const [username, password] of [
    ['nobody', PASSWORD],
    ['nobody', 'another password'],
    [PASSWORD, 'nobody'],
    ['inactive', PASSWORD],
    ...Array(6).fill(['locked', 'a wrong password']),
  ])
    expect((await identity.logIn(username, password)).status).toBeGreaterThan(400)

  const refusals = (await audited('action=LOGIN_REFUSED')).toReversed()
  const name = expect.stringMatching(/^[\w-]{43}$/)
  const unknown = { user: null, name, reason: 'wrong-credentials' }
  expect(refusals.map(({ details }: { details: { after: object } }) => details.after)).toEqual([
    unknown,
    unknown,
    unknown,
    { user: inactive, name: null, reason: 'user-inactive' },
    { user: locked, name: null, reason: 'wrong-credentials' },
  ])
  const names = refusals.map(({ resourceId }: { resourceId: string }) => resourceId)
  expect(names[0]).toBe(names[1])
  expect(names[0]).not.toBe(names[2])
  expect(JSON.stringify(refusals)).not.toMatch(/nobody|staple/)
  expect(await audited('action=USER_LOGIN_FAILED')).toHaveLength(5)

  await Promise.all(Array.from({ length: 100 }, () => identity.logIn('nobody')))
  expect(await audited('action=LOGIN_REFUSED')).toHaveLength(100)
  // Once the minute is full, a refusal does not depend on the log of accesses.
  const { eventStore } = identity.host.dependencies
  const { readStream } = eventStore
  vi.spyOn(eventStore, 'readStream').mockImplementation(async (stream, from) => {
    if (stream.startsWith('access-')) throw new EventStoreUnavailable('it is down')
    return readStream(stream, from)
  })
  expect((await identity.logIn('nobody')).status).toBe(401)
  const metrics = await identity.host.dependencies.process.metrics.metrics()
  expect(metrics).toContain('gantry_audit_omitted_total{type="LoginRefused"} 6')
})

test('a refused operation is recorded once, with the address of its caller, which is unreadable after an erasure', async () => {
  const { identity, admin, audited } = await host()
  const { eventStore, process } = identity.host.dependencies
  const user = (await admin.post('/users', { body: { username: 'ada', password: PASSWORD } })).body.id
  const credential = await identity.loginToken('ada')
  const ask = process.peers.ask
  const { address = '' } = await ask(requests.authenticate, { credential, address: '192.0.2.7' })
  const told = { ...refusedBy(user), address }
  for (let n = 0; n < 2; n++) {
    await ask(requests.operationRefused, told)
    identity.pass(MINUTE)
  }

  const shown = () => audited('action=OPERATION_REFUSED')
  const record = { user: { id: user }, resourceId: 'createUser', requestId: 'r', address: '192.0.2.7' }
  const after = { operation: 'createUser', path: '/users' }
  expect(await shown()).toMatchObject([{ ...record, details: { before: null, after } }])
  expect(await audited('action=USER_LOGGED_IN')).toMatchObject([{ address: '127.0.0.1' }])
  const log: object[] = []
  for await (const event of eventStore.readAll({ after: START })) log.push(event)
  expect(JSON.stringify(log)).toContain(address)
  expect(JSON.stringify(log)).not.toContain('192.0.2.7')

  await admin.delete(`/users/${user}`)
  await admin.post(`/users/${user}/erase`)
  await vi.waitFor(async () => expect(await shown()).toMatchObject([{ user: { id: user }, address: null }]))
})

test('a refused login does not wait for the record of a refused operation', async () => {
  const { identity } = await host()
  const { eventStore, process } = identity.host.dependencies
  const [appending, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { append } = eventStore
  vi.spyOn(eventStore, 'append').mockImplementation(async (stream, events, expected) => {
    if (events[0]?.type === 'OperationRefused') {
      appending.resolve()
      await released.promise
    }
    return append(stream, events, expected)
  })
  const recorded = process.peers.ask(requests.operationRefused, refusedBy(administrator.userId))
  await appending.promise
  expect((await identity.logIn('nobody')).status).toBe(401)
  released.resolve()
  await recorded
})

test('an export is recorded with its range and its filter without names before it begins', async () => {
  const { identity, audited } = await host()
  const id = administrator.userId
  identity.host.actAs(administrator)
  const get = (method: 'GET' | 'HEAD', query: string) =>
    identity.host.app.inject({ method, url: `/auditLog/export?${query}` })
  const { body } = await get('GET', `after=1&user=admin&resource=${id}&action=USER_CREATED`)
  const { trailer } = JSON.parse(body.trimEnd().split('\n').at(-1) ?? '')
  await get('HEAD', '')
  await get('GET', 'after=999')
  const [record, ...others] = await audited('action=AUDIT_LOG_EXPORTED')
  expect(others).toEqual([])
  expect(record).toMatchObject({
    user: { id: administrator.userId },
    resourceType: 'AUDIT_LOG',
    details: {
      before: null,
      after: {
        format: 'ndjson',
        filter: { action: 'USER_CREATED', resource: id },
        after: 1,
        through: trailer.after.number,
      },
    },
  })
})
