import { type Principal, ROLE_SCOPES } from '@gantry/contracts'
import { administrator } from '@gantry/service-runtime/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hostIdentity, type IdentityHost, PASSWORD } from '../testing/identity-host.ts'

let identity: IdentityHost
let ada: { id: string; token: string }
beforeEach(async () => {
  identity = await hostIdentity()
  const body = { username: 'ada', displayName: 'Ada Lovelace', role: 'ADMIN', password: PASSWORD }
  const { id } = (await identity.as(administrator).post('/users', { body })).body
  ada = { id, token: await identity.loginToken('ada') }
})
afterEach(() => identity.close())

const session = (caller: string | Principal) => identity.as(caller).get('/session')
const change = async (fields: object) => {
  const body = { username: 'ada', displayName: 'Ada Lovelace', role: 'ADMIN', ...fields }
  expect((await identity.as(administrator).put(`/users/${ada.id}`, { body })).status).toBe(200)
}
const accessToken = async () => {
  const body = { name: 'pipeline', validityDays: 1, scopes: ['USER_READ', 'API_WRITE', 'API_READ'] }
  return (await identity.as(ada.token).post('/accessTokens', { body })).body as { id: string; token: string }
}
/** The principal as a gateway still passes it while it has not heard of a change. */
const principalOf = (token: string) => identity.host.service.authenticate(token)
describe('the session', () => {
  test('has the present role and its scopes although the principal is older than the change', async () => {
    const { token } = await accessToken()
    const [login, narrow] = [await principalOf(ada.token), await principalOf(token)]
    await change({ role: 'BILLING_CONTACT' })
    expect(await session(login)).toMatchObject({
      headers: { 'cache-control': 'no-store' },
      body: { user: { role: 'BILLING_CONTACT' }, scopes: ROLE_SCOPES.BILLING_CONTACT },
    })
    expect((await session(narrow)).body).toMatchObject({ scopes: ['API_READ'] })
    await change({ role: 'GLOBAL_ADMIN' })
    expect((await session(login)).body).toMatchObject({ scopes: ROLE_SCOPES.GLOBAL_ADMIN })
  })
})
