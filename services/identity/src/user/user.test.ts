import { randomUUID } from 'node:crypto'
import type { Principal } from '@gantry/contracts'
import { reservations } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { answerProblem } from '@gantry/service-kit'
import { administrator } from '@gantry/service-kit/testing'
import Fastify, { type FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { identityService } from '../app.ts'
import { hostIdentity, type IdentityHost, PASSWORD, SETTINGS, START } from '../testing/identity-host.ts'

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

describe('a user whose name an earlier release stored without normalization', () => {
  const NAME = 'größe'
  const createdByEarlierRelease = async () => {
    const { eventStore } = identity.host.dependencies
    const id = await create({ username: 'other' })
    const [created] = await eventStore.readStream(`user-${id}`)
    if (!created) throw new Error('the user has no event')
    const metadata = { ...storyMetadata, at: storyMetadata.now }
    const { personal, ...fields } = created.data
    const data = { ...fields, ...ada, username: NAME.normalize('NFD') }
    await eventStore.append(`user-${id}`, [{ id: randomUUID(), type: 'UserUpdated', data, metadata }], 0)
    return id
  }

  test('has the name in NFC, can log in with either form of it, and blocks it for other users', async () => {
    const id = await createdByEarlierRelease()
    await expect.poll(async () => (await admin().get(`/users/${id}`)).body.username).toBe(NAME)
    for (const form of ['NFC', 'NFD']) expect((await identity.logIn(NAME.normalize(form))).status).toBe(200)
    const taken = await admin().post('/users', { body: { ...ada, username: NAME } })
    expect(taken.body).toMatchObject({ status: 409, code: 'username-taken' })
    expect((await admin().delete(`/users/${id}`)).status).toBe(204)
    await create({ username: NAME })
  })
})

describe('a user changed by a newer release', () => {
  /** Reserves the name, if one is given, and appends an update of a schema version that this release does not know. */
  const updatedByNewerRelease = async (id: string, fields: object, username?: string) => {
    const { eventStore } = identity.host.dependencies
    const metadata = { ...storyMetadata, at: storyMetadata.now, schemaVersion: 2 }
    const free = async () => ({ name: undefined, revision: Number.MAX_SAFE_INTEGER })
    const revision = (await eventStore.readStream(`user-${id}`)).length - 1
    const usernames = reservations({
      eventStore,
      scope: 'user',
      holderCategory: 'user',
      takenCode: 'username-taken',
      holding: free,
      now: identity.now,
    })
    if (username !== undefined) await usernames.reserve(username, id, revision, metadata)
    const updated = { id: randomUUID(), type: 'UserUpdated', data: fields, metadata }
    await eventStore.append(`user-${id}`, [updated], revision)
  }

  test('keeps the name that the newer release gave it, and cannot take back the name that another user got', async () => {
    const id = await create()
    const other = await create({ username: 'grace' })
    await updatedByNewerRelease(id, { username: 'countess' }, 'countess')
    await updatedByNewerRelease(other, { username: 'ada' }, 'ada')
    const taken = await admin().post('/users', { body: { ...ada, username: 'countess' } })
    expect(taken.body).toMatchObject({ status: 409, code: 'username-taken' })
    const back = await admin().put(`/users/${id}`, { body: { ...ada, displayName: 'Ada' } })
    expect(back.body).toMatchObject({ status: 409, code: 'username-taken' })
  })

  test('can log in, and the login reserves no name', async () => {
    const { eventStore } = identity.host.dependencies
    await updatedByNewerRelease(await create(), { username: 'ada' })
    const reservationEvents = async () => {
      let count = 0
      for await (const _ of eventStore.readAll({ after: '', streamPrefixes: ['username-'] })) count++
      return count
    }
    const before = await reservationEvents()
    expect((await identity.logIn('ada')).status).toBe(200)
    expect(await reservationEvents()).toBe(before)
  })

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

describe('a user', () => {
  test('is created, read, replaced and deleted', async () => {
    const created = await admin().post('/users', { body: ada })
    expect(created).toMatchObject({
      status: 201,
      headers: { location: `/users/${created.body.id}` },
      body: {
        username: 'ada',
        displayName: 'Ada Lovelace',
        email: 'ada@example.com',
        role: 'USER',
        status: 'ACTIVE',
        sso: false,
        lockedUntil: null,
        createdAt: START,
        updatedAt: START,
      },
    })
    const url = `/users/${created.body.id}`
    expect((await admin().get(url)).body).toEqual(created.body)
    identity.pass(1_000)
    const replaced = await admin().put(url, { body: { username: 'ada', role: 'ADMIN' } })
    expect(replaced).toMatchObject({
      status: 200,
      body: {
        displayName: 'ada',
        email: null,
        role: 'ADMIN',
        createdAt: START,
        updatedAt: '2026-11-21T10:00:01.000Z',
      },
    })
    expect((await admin().delete(url)).status).toBe(204)
    expect((await admin().delete(url)).body.code).toBe('user-not-found')
    expect((await admin().get(url)).status).toBe(404)
  })

  test('is shown without password and hash, and the log has no password', async () => {
    const id = await create()
    await admin().put(`/users/${id}`, { body: { ...ada, password: 'another long password' } })
    expect((await identity.logIn('ada', 'another long password')).status).toBe(200)
    const shown = JSON.stringify([
      (await admin().get('/users')).body,
      (await admin().get(`/users/${id}`)).body,
    ])
    expect(shown).not.toMatch(/password|argon2/i)
    const events = await identity.host.dependencies.eventStore.readStream(`user-${id}`)
    expect(JSON.stringify(events)).not.toMatch(/correct horse|another long/)
    expect(JSON.stringify(events.map(({ metadata }) => metadata))).not.toContain('argon2')
  })

  test('is found by text, username, role and status, and sorted', async () => {
    await create({ username: 'b', displayName: 'Bea', email: null, role: 'ADMIN' })
    await create({ username: 'c', displayName: 'Cleo', email: 'x@example.com', status: 'INACTIVE' })
    const names = async (query: string) =>
      (await admin().get(`/users?${query}`)).body.content.map(
        ({ username }: { username: string }) => username,
      )
    expect(await names('')).toEqual(['admin', 'b', 'c'])
    expect(await names('sort=username,desc&size=2')).toEqual(['c', 'b'])
    expect(await names('text=EXAMPLE%20cle')).toEqual(['c'])
    expect(await names('username=b')).toEqual(['b'])
    expect(await names('role=ADMIN')).toEqual(['b'])
    expect(await names('status=INACTIVE')).toEqual(['c'])
  })

  test('has an ETag that changes with the record and not with logins', async () => {
    const id = await create()
    const url = `/users/${id}`
    const tag = async () => String((await admin().get(url)).headers.etag)
    const first = await tag()
    await identity.logIn('ada')
    await identity.logIn('ada', 'wrong')
    expect(await tag()).toBe(first)
    const body = { ...ada, displayName: 'A', password: null }
    expect((await admin().put(url, { body, headers: { 'if-match': first } })).status).toBe(200)
    expect(await tag()).not.toBe(first)
    expect((await admin().put(url, { body, headers: { 'if-match': first } })).status).toBe(412)
    expect((await admin().delete(url, { 'if-match': first })).status).toBe(412)
    expect((await admin().get(url, { 'if-none-match': await tag() })).status).toBe(304)
  })

  test('is created once by two requests with one Idempotency-Key', async () => {
    const sent = { body: ada, headers: { 'idempotency-key': 'k-1' } }
    const [first, second] = [await admin().post('/users', sent), await admin().post('/users', sent)]
    expect(second.body).toEqual(first.body)
    expect(second.headers['idempotency-replayed']).toBe('true')
  })
})

describe('a username', () => {
  test('goes to one of two concurrent requests; the other gets 409', async () => {
    const answers = await Promise.all([
      admin().post('/users', { body: ada }),
      admin().post('/users', { body: ada }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('username-taken')
    expect((await admin().get('/users?username=ada')).body.totalElements).toBe(1)
  })
  test('can be used again after its user is deleted or renamed', async () => {
    const id = await create()
    await admin().put(`/users/${id}`, { body: { ...ada, username: 'countess' } })
    const second = await create()
    expect((await admin().put(`/users/${id}`, { body: { ...ada } })).body.code).toBe('username-taken')
    await admin().delete(`/users/${second}`)
    expect((await admin().put(`/users/${id}`, { body: { ...ada } })).status).toBe(200)
    expect((await identity.logIn('countess')).status).toBe(401)
    expect((await identity.logIn('ada')).status).toBe(200)
  })
})

describe('a role', () => {
  const ofAdmin: Principal = { ...administrator, role: 'ADMIN' }

  test('cannot be granted, nor can its users be changed, by a caller with a lower role', async () => {
    const below = identity.as(ofAdmin)
    const id = await create({ username: 'grace', role: 'GLOBAL_ADMIN' })
    const raised = { ...ada, role: 'GLOBAL_ADMIN' }
    const refusals = [
      await below.post('/users', { body: raised }),
      await below.put(`/users/${id}`, { body: { ...ada, username: 'grace' } }),
      await below.delete(`/users/${id}`),
      await below.post(`/users/${id}/unlock`),
    ]
    for (const { body } of refusals) expect(body).toMatchObject({ status: 403, code: 'role-missing' })
    // The refused creation has not reserved the name.
    expect((await below.post('/users', { body: ada })).status).toBe(201)
  })
  test('cannot be raised by its own user', async () => {
    const id = await create({ role: 'ADMIN' })
    const self = identity.as(await identity.loginToken('ada'))
    const { body } = await self.put(`/users/${id}`, { body: { ...ada, role: 'GLOBAL_ADMIN' } })
    expect(body).toMatchObject({ status: 403, code: 'role-missing' })
    expect((await admin().get(`/users/${id}`)).body.role).toBe('ADMIN')
  })
})

describe('the last global administrator', () => {
  test.each([
    ['deleted', (id: string) => admin().delete(`/users/${id}`)],
    ['demoted', (id: string) => admin().put(`/users/${id}`, { body: { username: 'admin', role: 'ADMIN' } })],
    [
      'deactivated',
      (id: string) =>
        admin().put(`/users/${id}`, {
          body: { username: 'admin', role: 'GLOBAL_ADMIN', status: 'INACTIVE' },
        }),
    ],
  ])('cannot be %s until there is another', async (_, remove) => {
    const id = await firstAdministrator()
    await create({ username: 'inactive', role: 'GLOBAL_ADMIN', status: 'INACTIVE' })
    await create({ username: 'lower', role: 'ADMIN' })
    expect((await remove(id)).body).toMatchObject({ status: 409, code: 'last-administrator' })
    expect(await globalAdministrators()).toBe(1)
    await create({ username: 'second', role: 'GLOBAL_ADMIN' })
    expect((await remove(id)).status).toBeLessThan(300)
    expect(await globalAdministrators()).toBe(1)
  })

  test('may change their username and password', async () => {
    const id = await firstAdministrator()
    const { status } = await admin().put(`/users/${id}`, {
      body: { username: 'root', role: 'GLOBAL_ADMIN', password: 'another long password' },
    })
    expect(status).toBe(200)
    expect((await identity.logIn('root', 'another long password')).status).toBe(200)
  })

  describe('with two replicas', () => {
    let other: FastifyInstance
    beforeEach(async () => {
      const { dependencies } = identity.host
      const process = { ...dependencies.process, metrics: new Registry(), holder: 'other' }
      const replica = identityService({ ...dependencies, process }, SETTINGS)
      other = Fastify()
      other.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, identity.now()))
      await other.register(async scope => replica.routes(scope, async () => administrator))
    })
    afterEach(() => other.close())

    test('remains when the last two are removed concurrently on different replicas', async () => {
      let first = await firstAdministrator()
      for (let round = 0; round < 5; round++) {
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
