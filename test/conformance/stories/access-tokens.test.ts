import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { admin, cleanUp, eventually, unique, withinASecond } from '../src/gantry.ts'
import type { AccessToken, Page } from '../src/records.ts'
import { createToken, createUser, loggedIn, userWithRole, withToken } from '../src/users.ts'

/** Table of scopes from the "Authentication" section of the specification. */
const SCOPES =
  'API_READ API_WRITE ENVIRONMENT_READ ENVIRONMENT_WRITE USER_READ USER_WRITE ACCESS_TOKEN_MANAGE APPLICATION_READ APPLICATION_WRITE PLAN_READ PLAN_WRITE SUBSCRIPTIONS_READ SUBSCRIPTIONS_WRITE CONFIGURATION_READ CONFIGURATION_WRITE METRICS_READ ORGANIZATION_READ ORGANIZATION_WRITE GIT_CREDENTIALS_READ GIT_CREDENTIALS_WRITE DISCOVERY USER_INVITATION APPROVAL_REQUEST_READ APPROVAL_REQUEST_WRITE AUDIT_LOG_READ RULE_SETS_READ RULE_SETS_WRITE DEV_PORTAL_READ DEV_PORTAL_WRITE WEBHOOKS_READ WEBHOOKS_WRITE TERMS_OF_USE_READ TERMS_OF_USE_WRITE API_GATEWAY_READ API_GATEWAY_WRITE JOBS_READ PLAN_ASSIGN_APIS READ_GOVERNANCE_DATA ACCESS_TENANT_DATA SELF_SERVICE CROSS_ORGANIZATION_ACCESS SAML_LOGIN'.split(
    ' ',
  )
const DAY = 24 * 60 * 60 * 1000

/** A user with tokens of this file only. */
let client: Client
beforeAll(async () => {
  client = await loggedIn(await createUser({ role: 'ADMIN' }))
})
const idsOf = async (of = client) =>
  (await of.get('/accessTokens', { size: 100 })).as<Page<AccessToken>>(200).content.map(({ id }) => id)

describe('creating an access token', () => {
  test('returns the record and, in this response only, the secret', async () => {
    const name = unique('token')
    const answer = await client.post('/accessTokens', {
      name,
      validityDays: 30,
      scopes: ['API_READ', 'WEBHOOKS_READ'],
    })
    const { token, ...record } = answer.as<AccessToken>(201)
    expect(record).toMatchObject({ name, scopes: ['API_READ', 'WEBHOOKS_READ'], lastUsedAt: null })
    expect(Date.parse(record.validUntil) - Date.parse(record.createdAt)).toBe(30 * DAY)
    expect(token).toMatch(/^pat_[A-Za-z0-9_-]{43,}$/)

    const read = await client.get(`/accessTokens/${record.id}`)
    expect(read.as<AccessToken>(200)).toEqual(record)
    const list = await client.get('/accessTokens', { size: 100 })
    expect(list.as<Page<AccessToken>>(200).content).toContainEqual(record)
    for (const later of [read, list]) expect(later.text).not.toContain('pat_')
  })

  test.for([
    [undefined, 90],
    [1, 1],
    [365, 365],
  ])('with a validity of %s days makes it valid for %i days', async ([validityDays, days]) => {
    const { validUntil, createdAt } = await createToken(client, ['API_READ'], { validityDays })
    expect(Date.parse(validUntil) - Date.parse(createdAt)).toBe((days ?? 0) * DAY)
  })

  test('accepts every scope of the specification from a caller that has all of them', async () => {
    const { id, scopes } = await createToken(admin, SCOPES)
    cleanUp(`/accessTokens/${id}`)
    expect(scopes.toSorted()).toEqual(SCOPES.toSorted())
  })

  test.for<[string, string, object]>([
    ['without a name', 'name', { name: undefined }],
    ['with an empty name', 'name', { name: '  ' }],
    ['with a name of 256 characters', 'name', { name: 'n'.repeat(256) }],
    ['without scopes', 'scopes', { scopes: undefined }],
    ['with an empty list of scopes', 'scopes', { scopes: [] }],
    ['with an unknown scope', 'scopes', { scopes: ['API_READ', 'EVERYTHING'] }],
    ['with scopes that are not an array', 'scopes', { scopes: 'API_READ' }],
    ['of 0 days', 'validityDays', { validityDays: 0 }],
    ['of -1 days', 'validityDays', { validityDays: -1 }],
    ['of 366 days', 'validityDays', { validityDays: 366 }],
    ['of 0.5 days', 'validityDays', { validityDays: 0.5 }],
    ['of days as text', 'validityDays', { validityDays: '30' }],
  ])('refuses one %s, naming the field', async ([, field, changes]) => {
    const body = { name: unique('token'), validityDays: 1, scopes: ['API_READ'], ...changes }
    const problem = (await admin.post('/accessTokens', body)).refused(400)
    expect(problem.errors?.map(error => error.field).join()).toContain(field)
  })
})

describe('an access token', () => {
  test('cannot have scopes that the role of its user does not grant', async () => {
    const body = { name: unique('token'), scopes: ['USER_WRITE'] }
    ;(await userWithRole('USER').client.post('/accessTokens', body)).refused(403)
  })

  test('shows when it was last used', async () => {
    const { id, token, createdAt } = await createToken(client, ['API_READ'])
    ;(await withToken(token).get('/apis', { size: 1 })).is(200)
    await eventually(async () => {
      const { lastUsedAt } = (await client.get(`/accessTokens/${id}`)).as<AccessToken>(200)
      expect(Date.parse(lastUsedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(createdAt))
    })
  })
})

describe('deleting an access token', () => {
  test('revokes the token within a second and removes its record', async () => {
    const { id, token } = await createToken(client, ['API_READ'])
    ;(await withToken(token).get('/apis', { size: 1 })).is(200)
    expect((await client.delete(`/accessTokens/${id}`)).is(204).bytes).toHaveLength(0)
    await withinASecond(async () => (await withToken(token).get('/apis', { size: 1 })).refused(401))
    ;(await client.get(`/accessTokens/${id}`)).refused(404)
    ;(await client.delete(`/accessTokens/${id}`)).refused(404)
    expect(await idsOf()).not.toContain(id)
  })
})

test('an administrator lists and revokes the tokens of a user, and those of no higher role', async () => {
  const user = await createUser({ role: 'USER' })
  const { id, token } = await createToken(await loggedIn(user), ['API_READ'])
  const path = `/users/${user.id}/accessTokens`
  const { client: administrator } = userWithRole('ADMIN')
  const { content } = (await administrator.get(path)).as<Page<AccessToken>>(200)
  expect(content.map(each => each.id)).toEqual([id])
  expect((await administrator.get(`${path}/${id}`)).as<AccessToken>(200)).not.toHaveProperty('token')
  ;(await administrator.delete(`${path}/${id}`)).is(204)
  await withinASecond(async () => (await withToken(token).get('/apis', { size: 1 })).refused(401))
  ;(await administrator.delete(path)).is(204)
  const above = `/users/${userWithRole('GLOBAL_ADMIN').user.id}/accessTokens`
  ;(await administrator.get(above)).refused(403, 'role-missing')
  ;(await administrator.delete(above)).refused(403, 'role-missing')
})

test('tokens of other users answer 404, also to an administrator', async () => {
  const { id, token } = await createToken(client, ['API_READ'])
  for (const stranger of [userWithRole('ADMIN').client, admin]) {
    ;(await stranger.get(`/accessTokens/${id}`)).refused(404)
    ;(await stranger.delete(`/accessTokens/${id}`)).refused(404)
    expect(await idsOf(stranger)).not.toContain(id)
  }
  ;(await withToken(token).get('/apis', { size: 1 })).is(200)
})

test('tokens are listed in pages', async () => {
  const owner = await loggedIn(await createUser())
  for (const _ of [1, 2, 3]) await createToken(owner, ['API_READ'])
  const pages = await Promise.all(
    [1, 2, 3].map(async page =>
      (await owner.get('/accessTokens', { page, size: 2 })).as<Page<AccessToken>>(200),
    ),
  )
  expect(pages.map(page => page.content.length)).toEqual([2, 1, 0])
  expect(pages[1]).toMatchObject({ size: 2, number: 2, totalPages: 2, totalElements: 3, last: true })
})
