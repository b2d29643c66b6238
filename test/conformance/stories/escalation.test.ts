import { ROLE_SCOPES, SCOPES } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { cleanUp, unique } from '../src/gantry.ts'
import type { User } from '../src/records.ts'
import { createToken, logIn, PASSWORD, scopedTo, userWithRole, withToken } from '../src/users.ts'

const ADMINISTRATORS = ['ADMIN', 'GLOBAL_ADMIN'] as const
const fields = (changes: object = {}) => ({
  username: unique('user'),
  displayName: 'Somebody',
  role: 'USER',
  status: 'ACTIVE',
  password: PASSWORD,
  ...changes,
})

describe.concurrent('an access token with the scopes to write users, and no others', () => {
  test.for(ADMINISTRATORS)(
    'cannot create an %s, set their password, delete them, or grant the role',
    async role => {
      const client = await scopedTo('USER_READ', 'USER_WRITE')
      const sent = fields({ role })
      ;(await client.post('/users', sent)).refused(403, 'scope-missing')
      ;(await logIn(sent.username)).refused(401)
      const { user, password } = userWithRole(role)
      const set = { ...user, password: 'chosen by the token' }
      ;(await client.put(`/users/${user.id}`, set)).refused(403, 'scope-missing')
      ;(await client.delete(`/users/${user.id}`)).refused(403, 'scope-missing')
      ;(await logIn(user.username, set.password)).refused(401)
      ;(await logIn(user.username, password)).is(200)
      const { user: other } = userWithRole('USER')
      ;(await client.put(`/users/${other.id}`, { ...other, role })).refused(403, 'scope-missing')
      expect((await client.get(`/users/${other.id}`)).as<User>(200)).toEqual(other)
    },
  )

  test('can still manage other users', async () => {
    const client = await scopedTo('USER_READ', 'USER_WRITE')
    const user = (await client.post('/users', fields())).as<User>(201)
    cleanUp(`/users/${user.id}`)
    ;(await client.put(`/users/${user.id}`, { ...user, displayName: 'Renamed' })).is(200)
    ;(await client.delete(`/users/${user.id}`)).is(204)
  })
})

test('an access token with every scope of a role can create users of that role', async () => {
  const client = await scopedTo(...ROLE_SCOPES.ADMIN)
  const made = (await client.post('/users', fields({ role: 'ADMIN' }))).as<User>(201)
  cleanUp(`/users/${made.id}`)
  ;(await client.post('/users', fields({ role: 'GLOBAL_ADMIN' }))).refused(403)
})

describe.concurrent('an access token', () => {
  test('cannot create a token with any scope that it lacks', async () => {
    const own = ['ACCESS_TOKEN_MANAGE', 'API_READ']
    const client = await scopedTo(...own)
    for (const scope of SCOPES.filter(each => !own.includes(each)))
      (await client.post('/accessTokens', { name: 'wider', scopes: ['API_READ', scope] })).refused(
        403,
        'scopes-exceeded',
      )
    expect((await createToken(client, own)).scopes.toSorted()).toEqual(own)
  })

  test('does not get the response to another credential of its user under the same Idempotency-Key', async () => {
    const { client } = userWithRole('ADMIN')
    const { token } = await createToken(client, ['ACCESS_TOKEN_MANAGE'])
    const body = { name: 'wide', scopes: ['ACCESS_TOKEN_MANAGE', 'API_WRITE'] }
    const keyed = { headers: { 'idempotency-key': unique('easily-guessed') } }
    ;(await client.post('/accessTokens', body, keyed)).is(201)
    ;(await withToken(token).post('/accessTokens', body, keyed)).refused(403, 'scopes-exceeded')
  })
})
