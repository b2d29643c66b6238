import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requests } from '@gantry/contracts'
import { readSettings } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { UserKeysUnavailable } from '@gantry/stores'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { identitySettings } from '../settings.ts'
import { hostIdentity, type IdentityHost, MINUTE, PASSWORD } from '../testing/identity-host.ts'

let identity: IdentityHost
beforeEach(async () => {
  identity = await hostIdentity()
})
afterEach(() => identity.close())

const ada = { username: 'ada-lovelace', displayName: 'Ada Byron', email: 'ada@analytical.example' }
const NAMES = [ada.username, ada.displayName, ada.email]
const admin = () => identity.as(administrator)
const create = async (fields: object = {}): Promise<string> => {
  const { status, body } = await admin().post('/users', { body: { ...ada, password: PASSWORD, ...fields } })
  expect(status).toBe(201)
  return body.id
}
const erase = (id: string) => admin().post(`/users/${id}/erase`)
const stream = (id: string) => identity.host.dependencies.eventStore.readStream(`user-${id}`)
/** The files of the stores that contain one of the texts. */
const filesWith = (...texts: string[]) =>
  readdirSync(identity.host.folder).filter(name => {
    const content = readFileSync(join(identity.host.folder, name))
    return texts.some(text => content.includes(text))
  })

test('an erased user leaves an id, and no name in any file', async () => {
  const [first] = (await admin().get('/users?username=admin')).body.content
  expect((await erase(first.id)).body.code).toBe('last-administrator')
  const id = await create()
  await admin().put(`/users/${id}`, { body: { ...ada, displayName: 'Ada King' } })
  const token = await identity.loginToken(ada.username)
  const { body: made } = await identity
    .as(token)
    .post('/accessTokens', { body: { name: 'engine', scopes: ['API_READ'] } })
  await identity.logIn(ada.username, 'a wrong password')
  const stored = JSON.stringify(await stream(id))
  for (const name of [...NAMES, 'Ada King']) expect(stored).not.toContain(name)

  expect(filesWith(...NAMES)).not.toEqual([])

  const { status, body } = await erase(id)
  expect(status).toBe(200)
  expect(body).toEqual({
    id,
    erasedAt: '2026-11-21T10:00:00.000Z',
    backupsErasedAt: '2026-12-21T10:00:00.000Z',
  })
  await expect(identity.host.service.authenticate(token)).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(identity.host.service.authenticate(made.token)).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  expect((await identity.logIn(ada.username)).status).toBe(401)
  expect(filesWith(...NAMES, 'Ada King')).toEqual([])
  expect((await admin().get(`/users/${id}`)).status).toBe(404)
  const named = await identity.host.dependencies.process.peers.ask(requests.userNames, { users: [id] })
  expect(named).toEqual({})

  const { body: audited } = await admin().get(`/auditLog?size=100&resource=${id}`)
  const actions = audited.content.map(({ action }: { action: string }) => action)
  expect(actions.slice(0, 2)).toEqual(['USER_ERASED', 'USER_DELETED'])
  expect(actions).toContain('USER_LOGIN_FAILED')
  expect(JSON.stringify(audited)).not.toMatch(/lovelace|byron|king|analytical/i)

  identity.pass(MINUTE)
  expect((await erase(id)).body).toEqual(body)
  expect((await admin().delete(`/users/${id}`)).status).toBe(404)
  await identity.restart()
  expect((await admin().get(`/users/${id}`)).status).toBe(404)
  expect(filesWith(...NAMES, 'Ada King')).toEqual([])
  // The name is free.
  await create()
})

test('a key that is still there after a crash or a restore is deleted at the start', async () => {
  const id = await create()
  const { userKeys } = identity.host.dependencies
  const erasing = vi.spyOn(userKeys, 'erase').mockRejectedValue(new UserKeysUnavailable('the process dies'))
  expect((await erase(id)).status).toBe(503)
  expect((await userKeys.get(id))?.key).not.toBeNull()
  erasing.mockRestore()
  await identity.restart()
  await vi.waitFor(async () =>
    expect((await identity.host.dependencies.userKeys.get(id))?.erasedAt).toBe('2026-11-21T10:00:00.000Z'),
  )
})

test('an erasure that a restored log lacks is appended again at the start', async () => {
  const [id, deleted] = [await create(), await create({ username: 'grace' })]
  await admin().delete(`/users/${deleted}`)
  // As after a restore of the log from a backup that is older than the erasures.
  for (const user of [id, deleted])
    await identity.host.dependencies.userKeys.erase(user, '2026-11-20T10:00:00.000Z')
  await identity.restart()
  const types = ['UserCreated', 'UserDeleted', 'UserErased']
  for (const user of [id, deleted])
    await vi.waitFor(async () => expect((await stream(user)).map(({ type }) => type)).toEqual(types))
  await vi.waitFor(async () => expect((await admin().get(`/users/${id}`)).status).toBe(404))
  expect((await erase(id)).body.erasedAt).toBe('2026-11-20T10:00:00.000Z')
})

test('without its key a user is unavailable, and not erased', async () => {
  const id = await create()
  await identity.restart()
  const down = vi.spyOn(identity.host.dependencies.userKeys, 'get')
  down.mockRejectedValue(new UserKeysUnavailable('it is down'))
  expect((await identity.logIn(ada.username)).body.code).toBe('unavailable')
  down.mockResolvedValue(undefined)
  expect((await identity.logIn(ada.username)).body.code).toBe('stream-quarantined')
  const { body } = await admin().get('/auditLog/export')
  expect(body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('no key of user') })
  expect((await admin().get('/auditLog')).status).toBe(200)
  down.mockRestore()
  expect((await identity.logIn(ada.username)).status).toBe(200)
  expect((await admin().get(`/users/${id}`)).status).toBe(200)
})

test('backups of the keys of users are kept for a time that ends at a date', () => {
  const read = (USER_KEY_BACKUP_RETENTION: string) =>
    readSettings(identitySettings, { USER_KEY_BACKUP_RETENTION })
  expect(read('36500d')).toMatchObject({ USER_KEY_BACKUP_RETENTION: 36_500 * 86_400_000 })
  expect(() => read('999999999d')).toThrow(/USER_KEY_BACKUP_RETENTION: must be at most 36500d/)
})
