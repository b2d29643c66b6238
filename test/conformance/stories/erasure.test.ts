import { expect, test } from 'vitest'
import { apiFields } from '../src/apis.ts'
import { admin, cleanUp, eventually, unique } from '../src/gantry.ts'
import type { AuditRecord, Page, User } from '../src/records.ts'
import { createToken, createUser, loggedIn, logIn, PASSWORD, scopedTo, withToken } from '../src/users.ts'

interface Erasure {
  id: string
  erasedAt: string
  backupsErasedAt: string
}

test('an erased user is signed out, and only the id is left on what they did', async () => {
  const names = { displayName: unique('Ada'), email: `${unique('ada')}@example.com` }
  const creation = { ...names, username: unique('ada'), role: 'ADMIN', password: PASSWORD }
  const keyed = { headers: { 'idempotency-key': creation.username } }
  const create = () => admin.post('/users', creation, keyed)
  const user = (await create()).as<User>(201)
  expect((await create()).as<User>(201)).toEqual(user)
  const client = await loggedIn(user)
  const token = await createToken(client, ['API_READ'])
  const api = (await client.post('/apis', apiFields())).as<{ id: string; ownerDisplayName: string }>(201)
  cleanUp(`/apis/${api.id}`)
  expect(api.ownerDisplayName).toBe(names.displayName)

  const erased = (await admin.post(`/users/${user.id}/erase`)).as<Erasure>(200)
  expect(Date.parse(erased.backupsErasedAt)).toBeGreaterThan(Date.parse(erased.erasedAt))
  for (const credential of [client, withToken(token.token)])
    (await credential.get('/apis')).refused(401, 'unauthenticated')
  ;(await logIn(user.username)).refused(401, 'wrong-credentials')
  ;(await admin.get(`/users/${user.id}`)).refused(404, 'user-not-found')
  expect((await admin.get('/users', { text: names.displayName })).as<Page<User>>(200).content).toEqual([])
  const kept = (await admin.get(`/apis/${api.id}`)).as<{ owner: string; ownerDisplayName: null }>(200)
  expect(kept).toMatchObject({ owner: user.id, ownerDisplayName: null })

  await eventually(async () => {
    const answer = await admin.get('/auditLog', { resource: user.id, size: 100 })
    const actions = answer.as<Page<AuditRecord>>(200).content.map(({ action }) => action)
    expect(actions).toEqual(['USER_ERASED', 'USER_DELETED', 'USER_LOGGED_IN', 'USER_CREATED'])
    for (const name of [user.username, ...Object.values(names)]) expect(answer.text).not.toContain(name)
  })
  const [own] = (await admin.get('/auditLog', { user: user.id, resource: api.id })).as<Page<AuditRecord>>(
    200,
  ).content
  expect(own?.user).toEqual({ id: user.id, username: null })
  await eventually(async () => (await create()).refused(404, 'user-not-found'))

  expect((await admin.post(`/users/${user.id}/erase`)).as<Erasure>(200)).toEqual(erased)
  expect((await createUser({ username: user.username })).username).toBe(user.username)
})

test('an erasure needs the current record and the rights of a deletion; a deleted user can be erased', async () => {
  const { id } = await createUser({ role: 'ADMIN' })
  const stale = { headers: { 'if-match': '"99"' } }
  ;(await admin.post(`/users/${id}/erase`, undefined, stale)).refused(412, 'precondition-failed')
  const narrow = await scopedTo('USER_WRITE')
  ;(await narrow.post(`/users/${id}/erase`)).refused(403, 'scope-missing')
  ;(await admin.get(`/users/${id}`)).is(200)
  ;(await admin.delete(`/users/${id}`)).is(204)
  ;(await admin.post(`/users/${id}/erase`)).is(200)
})
