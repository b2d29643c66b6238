import { type PublicEvent, requests, subjects } from '@gantry/contracts'
import { projectorId } from '@gantry/event-sourcing'
import { administrator } from '@gantry/service-runtime/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'
import { tokens } from '../token/token.projection.ts'
import { erasedUsers, locks, users } from '../user/user.projection.ts'

let identity: IdentityHost
beforeAll(async () => {
  identity = await hostIdentity()
})
afterAll(() => identity.close())

const admin = () => identity.as(administrator)
const createUser = async (username: string, fields: object = {}): Promise<string> => {
  const body = { username, displayName: 'Ada Lovelace', role: 'USER', password: PASSWORD, ...fields }
  const { status, body: created } = await admin().post('/users', { body })
  expect(status).toBe(201)
  return created.id
}
const authenticate = (token: string) => identity.host.service.authenticate(token)
const wrongly = async (username: string, times: number) => {
  for (let time = 0; time < times; time++) await identity.logIn(username, `wrong password ${time}`)
}
const logged = (stream: string) => identity.host.dependencies.eventStore.readStream(stream)

test('a login answers with a token in a header that is not cached, and is recorded with its actor', async () => {
  const id = await createUser('ada')
  await identity.logIn('ada', 'wrong')
  const { headers } = await identity.logIn('ada')
  expect(headers['cache-control']).toBe('no-store')
  expect(await authenticate(String(headers.authorization).replace('Bearer ', ''))).toMatchObject({
    userId: id,
    username: 'ada',
    role: 'USER',
    kind: 'login',
    tokenId: null,
    credentialId: expect.any(String),
    expiresAt: identity.now().getTime() + 60 * MINUTE,
  })
  expect(await logged(`logins-${id}`)).toMatchObject([
    { type: 'LoginFailed', metadata: { actor: { id: null } } },
    { type: 'UserLoggedIn', metadata: { actor: { id, name: id } } },
  ])
})

test('a lock shows in the record and the list until it is lifted, also after a rebuild of the read models', async () => {
  const id = await createUser('locked')
  await wrongly('locked', 5)
  const shown = async () => {
    const { body: one } = await admin().get(`/users/${id}`)
    const { body: page } = await admin().get('/users?username=locked')
    return [one.lockedUntil, page.content[0]?.lockedUntil]
  }
  const until = () => new Date(identity.now().getTime() + 15 * MINUTE).toISOString()
  expect(await shown()).toEqual([until(), until()])
  const { readModels } = identity.host.dependencies
  await readModels.drop(users)
  await readModels.drop(locks)
  await readModels.checkpoints.clear(
    projectorId({ name: 'identity.projector', collections: [users, tokens, locks, erasedUsers] }),
  )
  await vi.waitFor(async () => expect(await shown()).toEqual([until(), until()]))
  const { body, headers } = await admin().post(`/users/${id}/unlock`)
  expect([body.lockedUntil, headers.etag]).toEqual([null, expect.any(String)])
  expect(await shown()).toEqual([null, null])
  await wrongly('locked', 5)
  expect(await shown()).toEqual([until(), until()])
  identity.pass(15 * MINUTE)
  expect(await shown()).toEqual([null, null])
  expect((await identity.logIn('locked')).status).toBe(200)
})

test('a login token is revoked by a logout with an access token, which appends nothing when there is none to revoke', async () => {
  const id = await createUser('leaving')
  const token = await identity.loginToken('leaving')
  const body = { name: 'one', scopes: ['API_READ'] }
  const { token: secret } = (await identity.as(token).post('/accessTokens', { body })).body
  for (let time = 0; time < 3; time++) expect((await identity.as(secret).post('/logout')).status).toBe(204)
  await expect(authenticate(token)).rejects.toMatchObject({
    code: 'unauthenticated',
    details: { detail: 'the login token is revoked' },
  })
  expect((await logged(`user-${id}`)).map(({ type }) => type)).toEqual(['UserCreated', 'UserLoggedOut'])
})

test('a change of a user is broadcast to the processes that may have cached the principal', async () => {
  const told: unknown[] = []
  const end = identity.host.dependencies.bus.listen(subjects.principalChanged, change => told.push(change))
  const id = await createUser('changing')
  await identity.logIn('changing')
  expect(told).toEqual([])
  await admin().put(`/users/${id}`, { body: { username: 'changing', role: 'ADMIN' } })
  await identity.as(await identity.loginToken('changing')).post('/logout')
  await admin().delete(`/users/${id}`)
  end()
  expect(told).toEqual([{ userId: id }, { userId: id }, { userId: id }])
})

test('another service gets the principal of a credential, or with the reason of the refusal', async () => {
  const { peers } = identity.host.dependencies.process
  const ask = (credential: string) => peers.ask(requests.authenticate, { credential, address: '192.0.2.1' })
  const credential = await identity.loginToken('admin')
  const sealed = { address: expect.any(String) }
  expect(await ask(credential)).toEqual({ ...(await authenticate(credential)), ...sealed })
  await expect(ask('pat_nonsense')).rejects.toMatchObject({
    code: 'unauthenticated',
    details: { detail: 'the access token is malformed' },
  })
})

test('names are answered for live and deleted users, and public events name users by id', async () => {
  const { bus } = identity.host.dependencies
  const id = await createUser('joan')
  const unknown = '00000000-0000-4000-8000-000000000000'
  const { peers } = identity.host.dependencies.process
  const names = () => peers.ask(requests.userNames, { users: [id, unknown] })
  await admin().put(`/users/${id}`, { body: { username: 'joan', displayName: 'Joan' } })
  expect(await names()).toEqual({ [id]: { username: 'joan', displayName: 'Joan', deleted: false } })
  await identity.logIn('joan')
  await admin().delete(`/users/${id}`)
  expect(await names()).toEqual({ [id]: { username: 'joan', displayName: 'Joan', deleted: true } })
  const relayed: string[] = []
  const signal = AbortSignal.timeout(60_000)
  for await (const { data } of bus.read({ subjects: ['events.identity.*'], after: 0, live: true, signal })) {
    const event = data as unknown as PublicEvent
    if (event.subject !== id) continue
    relayed.push(event.type)
    expect(event).toMatchObject({ data: { id, role: 'USER' }, actor: { name: administrator.userId } })
    expect(JSON.stringify(event)).not.toMatch(/\bjoan\b|lovelace/i)
    if (event.type === 'USER_DELETED') break
  }
  expect(relayed).toEqual(['USER_CREATED', 'USER_UPDATED', 'USER_DELETED'])
})
