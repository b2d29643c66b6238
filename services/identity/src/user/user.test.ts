import { randomUUID } from 'node:crypto'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { answerProblem } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import Fastify, { type FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cheapIdentity, hostIdentity, type IdentityHost, PASSWORD, START } from '../testing/identity-host.ts'

let identity: IdentityHost
beforeEach(async () => {
  identity = await hostIdentity()
})
afterEach(() => identity.close())

const ada = { username: 'ada', displayName: 'Ada Lovelace', email: 'ada@example.com', password: PASSWORD }
const admin = () => identity.as(administrator)
const create = async (fields: object = {}): Promise<string> => {
  const { status, body } = await admin().post('/users', { body: { ...ada, ...fields } })
  expect(status).toBe(201)
  return body.id
}
const globalAdministrators = async () =>
  (await admin().get('/users?role=GLOBAL_ADMIN&status=ACTIVE')).body.totalElements as number
const firstAdministrator = async () =>
  (await admin().get('/users?username=admin')).body.content[0].id as string

describe('a user changed by a newer release', () => {
  /** Appends an update of a schema version that this release does not know. */
  const updatedByNewerRelease = async (id: string, data: object) => {
    const { eventStore } = identity.host.dependencies
    const metadata = { ...storyMetadata, at: storyMetadata.now, schemaVersion: 2 }
    const revision = (await eventStore.readStream(`user-${id}`)).length - 1
    const updated = { id: randomUUID(), type: 'UserUpdated', data: { ...data }, metadata }
    await eventStore.append(`user-${id}`, [updated], revision)
  }

  test('does not count as a remaining administrator, but may not be removed as the last one either', async () => {
    const first = await firstAdministrator()
    const second = await create({ role: 'GLOBAL_ADMIN' })
    await updatedByNewerRelease(second, { username: 'ada', role: 'USER' })
    expect((await admin().delete(`/users/${first}`)).body.code).toBe('last-administrator')

    const promoted = await create({ username: 'grace' })
    await updatedByNewerRelease(promoted, { username: 'grace', role: 'GLOBAL_ADMIN' })
    await updatedByNewerRelease(first, { username: 'admin', role: 'USER' })
    expect((await admin().delete(`/users/${promoted}`)).body.code).toBe('last-administrator')
  })
})

test('a user is found by text, username, role and status, and sorted', async () => {
  await create({ username: 'b', displayName: 'Bea', email: null, role: 'ADMIN' })
  await create({ username: 'c', displayName: 'Cleo', email: 'x@example.com', status: 'INACTIVE' })
  const names = async (query: string) =>
    (await admin().get(`/users?${query}`)).body.content.map(({ username }: { username: string }) => username)
  expect(await names('')).toEqual(['admin', 'b', 'c'])
  expect(await names('sort=username,desc&size=2')).toEqual(['c', 'b'])
  expect(await names('text=EXAMPLE%20cle')).toEqual(['c'])
  expect(await names('username=b')).toEqual(['b'])
  expect(await names('role=ADMIN')).toEqual(['b'])
  expect(await names('status=INACTIVE')).toEqual(['c'])
})

test('a refused creation reserves no name, and a user can take a name that was given up', async () => {
  const below = identity.as({ ...administrator, role: 'ADMIN' })
  const refused = await below.post('/users', { body: { ...ada, role: 'GLOBAL_ADMIN' } })
  expect(refused.body).toMatchObject({ status: 403, code: 'role-missing' })
  const id = await create()
  await admin().put(`/users/${id}`, { body: { ...ada, username: 'countess' } })
  const second = await create()
  expect((await admin().put(`/users/${id}`, { body: ada })).body.code).toBe('username-taken')
  await admin().delete(`/users/${second}`)
  expect((await admin().put(`/users/${id}`, { body: ada })).status).toBe(200)
})

describe('the last global administrator', () => {
  test('cannot be deleted, demoted or deactivated until there is another, but may change username and password', async () => {
    const id = await firstAdministrator()
    await create({ username: 'inactive', role: 'GLOBAL_ADMIN', status: 'INACTIVE' })
    await create({ username: 'lower', role: 'ADMIN' })
    const put = (body: object) => admin().put(`/users/${id}`, { body: { username: 'admin', ...body } })
    const refused = [
      await admin().delete(`/users/${id}`),
      await put({ role: 'ADMIN' }),
      await put({ role: 'GLOBAL_ADMIN', status: 'INACTIVE' }),
    ]
    for (const { body } of refused) expect(body).toMatchObject({ status: 409, code: 'last-administrator' })
    expect(await globalAdministrators()).toBe(1)
    const changed = { username: 'root', role: 'GLOBAL_ADMIN', password: 'another long password' }
    expect((await put(changed)).status).toBe(200)
    expect((await identity.logIn('root', 'another long password')).status).toBe(200)
    await create({ username: 'second', role: 'GLOBAL_ADMIN' })
    expect((await put({ role: 'ADMIN' })).status).toBe(200)
    expect(await globalAdministrators()).toBe(1)
  })

  describe('with two replicas', () => {
    let other: FastifyInstance
    beforeEach(async () => {
      const { dependencies } = identity.host
      const process = { ...dependencies.process, metrics: new Registry(), holder: 'other' }
      const replica = cheapIdentity({ ...dependencies, process })
      other = Fastify()
      other.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, identity.now()))
      await other.register(async scope => replica.routes(scope, async () => administrator))
    })
    afterEach(() => other.close())

    test('remains when the last two are removed concurrently on different replicas', async () => {
      let first = await firstAdministrator()
      for (let round = 0; round < 3; round++) {
        const second = await create({ username: `second-${round}`, role: 'GLOBAL_ADMIN' })
        const answers = await Promise.all([
          admin().delete(`/users/${first}`),
          other.inject({ method: 'DELETE', url: `/users/${second}` }).then(({ statusCode, body }) => ({
            status: statusCode,
            body: body ? JSON.parse(body) : undefined,
          })),
        ])
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409])
        expect(answers.find(({ status }) => status === 409)?.body.code).toBe('last-administrator')
        expect(await globalAdministrators()).toBe(1)
        if (answers[0].status === 204) first = second
      }
    })

    test('can be removed two seconds after the removal of another was announced and then abandoned in a crash', async () => {
      const { eventStore, newId } = identity.host.dependencies
      const first = await firstAdministrator()
      const second = await create({ username: 'second', role: 'GLOBAL_ADMIN' })
      const [made] = await eventStore.readStream(`user-${second}`)
      if (!made) throw new Error('the second administrator has no event')
      await eventStore.append(
        'administrators-all',
        [
          {
            id: newId(),
            type: 'RemovalAnnounced',
            data: { userId: second, userRevision: made.revision, announcedAt: START },
            metadata: { actor: made.metadata.actor, requestId: 'r1', at: START },
          },
        ],
        -1,
      )
      expect((await admin().delete(`/users/${first}`)).body.code).toBe('last-administrator')
      identity.pass(2_000)
      expect((await admin().delete(`/users/${first}`)).status).toBe(204)
      expect(await globalAdministrators()).toBe(1)
      // If that writer was only slow, its append fails, because the announced revision is taken.
      const late = eventStore.append(
        `user-${second}`,
        [{ ...made, id: newId(), type: 'UserDeleted' }],
        made.revision,
      )
      await expect(late).rejects.toMatchObject({ name: 'WrongExpectedRevision' })
    })
  })
})
