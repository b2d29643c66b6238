import { describe, expect, test } from 'vitest'
import { admin, cleanUp, findListed, unique } from '../src/gantry.ts'
import type { Page, User } from '../src/records.ts'
import { createUser, loggedIn, logIn, PASSWORD, userWithRole } from '../src/users.ts'

const readUser = async (id: string) => (await admin.get(`/users/${id}`)).as<User>(200)
const fields = (changes: object = {}) => ({
  username: unique('user'),
  displayName: 'Grace Hopper',
  email: 'grace@example.com',
  role: 'USER',
  status: 'ACTIVE',
  sso: false,
  password: PASSWORD,
  ...changes,
})
const listed = (id: string) => findListed<User>('/users', id)

describe.concurrent('creating a user', () => {
  test('returns the record without the password, which may have 12 characters, and the user can log in', async () => {
    const { password, ...sent } = fields({ password: 'p'.repeat(12) })
    const answer = await admin.post('/users', { ...sent, password })
    const user = answer.as<User>(201)
    cleanUp(`/users/${user.id}`)
    expect(user).toMatchObject(sent)
    const read = await admin.get(`/users/${user.id}`)
    expect(read.as<User>(200)).toEqual(user)
    expect(await listed(user.id)).toEqual(user)
    for (const shown of [answer, read]) expect(shown.text).not.toMatch(/"password|argon2/i)
    ;(await logIn(user.username, password)).is(200)
  })

  test.for<[string, string, object]>([
    ['without a username', 'username', { username: undefined }],
    ['with an empty username', 'username', { username: ' ' }],
    ['with an unknown role', 'role', { role: 'KING' }],
    ['with an unknown status', 'status', { status: 'SLEEPING' }],
    ['with an email that is none', 'email', { email: 'grace' }],
    ['with sso as text', 'sso', { sso: 'yes' }],
    ['without a password', 'password', { password: undefined }],
    ['with a password of 11 characters', 'password', { password: 'p'.repeat(11) }],
    ['with a number for a password', 'password', { password: 123456789012 }],
  ])('refuses one %s, naming the field', async ([, field, changes]) => {
    const body = fields(changes)
    const answer = await admin.post('/users', body)
    const problem = answer.refused(400)
    expect(problem.errors?.map(error => error.field).join()).toContain(field)
    if ('password' in changes && typeof changes.password === 'string')
      expect(answer.text).not.toContain(changes.password)
  })
})

describe.concurrent('a username', () => {
  test('is unique, and free again after deletion or renaming', async () => {
    const [user, other] = [await createUser(), await createUser()]
    ;(await admin.post('/users', fields({ username: user.username }))).refused(409)
    ;(await admin.put(`/users/${user.id}`, { ...user, username: other.username })).refused(409)
    const username = unique('renamed')
    ;(await admin.put(`/users/${user.id}`, { ...user, username })).is(200)
    ;(await logIn(username)).is(200)
    ;(await logIn(user.username)).refused(401)
    const next = await createUser({ username: user.username })
    ;(await admin.delete(`/users/${next.id}`)).is(204)
    expect((await createUser({ username: user.username })).id).not.toBe(next.id)
  })

  test('is stored and compared in NFC', async () => {
    const name = unique('größe')
    const user = await createUser({ username: name.normalize('NFD') })
    expect(user.username).toBe(name)
    for (const form of ['NFC', 'NFD']) {
      const username = name.normalize(form)
      ;(await admin.post('/users', fields({ username }))).refused(409)
      ;(await logIn(username)).is(200)
      const { content } = (await admin.get('/users', { username })).as<Page<User>>(200)
      expect(content.map(({ id }) => id)).toEqual([user.id])
    }
  })

  test.for([
    ['a bidirectional override', 'ada\u202enimda'],
    ['a zero width space', 'ada\u200b'],
    ['a Cyrillic letter among Latin ones', '\u0430dmin'],
    ['a fullwidth letter', '\uff41dmin'],
  ] as const)('with %s is refused', async ([, username]) => {
    const { errors } = (await admin.post('/users', fields({ username }))).refused(400, 'invalid-request')
    expect(errors).toMatchObject([{ field: 'username' }])
    const { user } = userWithRole('USER')
    ;(await admin.put(`/users/${user.id}`, { ...user, username })).refused(400, 'invalid-request')
  })
})

describe.concurrent('updating a user', () => {
  test('replaces the record, and changes the password only when one is given', async () => {
    const user = await createUser()
    const changes = { displayName: 'Renamed', email: 'renamed@example.com', role: 'NO_ACCESS', sso: false }
    const body = { username: user.username, status: 'ACTIVE', ...changes }
    const updated = (await admin.put(`/users/${user.id}`, body)).as<User>(200)
    expect(updated).toMatchObject({ id: user.id, ...changes })
    expect(await readUser(user.id)).toEqual(updated)
    ;(await logIn(user.username)).is(200)
    ;(await admin.put(`/users/${user.id}`, { ...body, password: 'quite another password' })).is(200)
    ;(await logIn(user.username)).refused(401)
    ;(await logIn(user.username, 'quite another password')).is(200)
  })

  test('refuses an unknown role or status and a short password, and changes nothing', async () => {
    const user = await createUser()
    for (const invalid of [{ role: 'KING' }, { status: 'GONE' }, { password: 'short' }])
      (await admin.put(`/users/${user.id}`, { ...user, displayName: 'Changed', ...invalid })).refused(400)
    expect(await readUser(user.id)).toEqual(user)
    ;(await logIn(user.username)).is(200)
  })
})

test('deleting a user answers 204 without a body, and the user is gone', async () => {
  const { id, username } = await createUser()
  expect((await admin.delete(`/users/${id}`)).is(204).bytes).toHaveLength(0)
  ;(await admin.get(`/users/${id}`)).refused(404)
  ;(await admin.delete(`/users/${id}`)).refused(404)
  ;(await logIn(username)).refused(401)
  expect(await listed(id)).toBeUndefined()
})

test('a changed display name is shown on the APIs of the user', async () => {
  const user = await createUser({ displayName: 'Before' })
  const client = await loggedIn(user)
  const name = unique('owned')
  const api = (await client.post('/apis', { name, displayName: 'Owned', status: 'ACTIVE', tags: [] })).as<{
    id: string
  }>(201)
  cleanUp(`/apis/${api.id}`)
  ;(await admin.put(`/users/${user.id}`, { ...user, displayName: 'After' })).is(200)
  const page = (await admin.get('/apis', { name })).as<Page<{ ownerDisplayName: string }>>(200)
  expect(page.content[0]?.ownerDisplayName).toBe('After')
})
