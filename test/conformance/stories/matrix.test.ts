import { OPERATIONS, type Operation, ROLE_SCOPES, ROLES, SCOPES } from '@gantry/contracts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createApi, createVersion } from '../src/apis.ts'
import type { Client } from '../src/client.ts'
import { retrying } from '../src/deliveries.ts'
import { admin, anonymous, unique, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { type Jwks, makeJwt, readJwt, signedByAnother, signedByPublicKey, tamper } from '../src/jwt.ts'
import type { AuditRecord, Page } from '../src/records.ts'
import { createToken, createUser, loggedIn, userWithRole, withToken } from '../src/users.ts'

/**
 * Tests every operation with every kind of caller. The expected result follows from the scope of the operation and the
 * scopes of the caller alone, so that a new operation is tested without a change here.
 */

const platform = inject('platformJwt')
const skipped = 'needs a service that takes the JWTs of a platform'
const run = unique('matrix')
let requests = 0

/** Ids for forbidden requests. The resources exist, so that a request would change them if it were permitted. */
const victims: Record<string, string> = {}
const { user: administrator, client: login } = userWithRole('GLOBAL_ADMIN')
const tokenOf = ({ authorization = '' }: Client) => authorization.replace(/^Bearer /, '')
let owner: Client

beforeAll(async () => {
  owner = withToken((await createToken(login, [...SCOPES])).token)
  const api = await createApi()
  const { webhook, id } = await retrying('APPROVAL_REQUEST_CREATED')
  Object.assign(victims, {
    api_id: api.id,
    version_id: (await createVersion(api)).id,
    environment_id: uuid(),
    webhook_id: webhook.id,
    request_id: id,
    user_id: userWithRole('USER').user.id,
    id: (await createToken(owner, ['API_READ'])).id,
  })
  ;(await admin.put(`/apis/${api.id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
})

const filled = ({ path }: Operation, values: Record<string, string>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? uuid())
/** The event stream ends when it has no more events. */
const query = { follow: false, after: 999_999_999 }

/** Sends a request with everything that it needs to succeed. */
const attempt = (client: Client, operation: Operation) => {
  requests += 1
  const headers = { 'x-request-id': `${run}.${requests}` }
  const body = operation.bodyMediaType === 'multipart/form-data' ? { body: form(png(2, 2)) } : {}
  return client.request(operation.method, filled(operation, victims), operation.bodyExample, {
    query,
    headers,
    ...body,
  })
}
/** Sends a request for resources that do not exist, so that it is permitted and has no effect. */
const touch = (client: Client, operation: Operation) =>
  client.request(operation.method, filled(operation, {}), undefined, { query })

const letThrough = async (client: Client, operation: Operation) => {
  const { status, text } = await touch(client, operation)
  expect([401, 403], `${operation.id} answered ${text}`).not.toContain(status)
  expect(status, text).toBeLessThan(500)
}
/** POST /logout comes last, since it revokes the login token. */
const inOrder = OPERATIONS.toSorted((a, b) => Number(a.id === 'logout') - Number(b.id === 'logout'))

const forbidden = async (client: Client, operation: Operation) => {
  const problem = (await attempt(client, operation)).refused(403, 'scope-missing')
  expect(`${operation.id}: ${problem.detail}`).toContain(operation.scope)
}

/** Tests every operation with a valid credential. */
const allowed = async (client: Client, scopes: readonly string[]) => {
  for (const operation of inOrder) {
    const { scope } = operation
    const isAllowed = scope === 'public' || scope === 'authenticated' || scopes.includes(scope)
    await (isAllowed ? letThrough : forbidden)(client, operation)
  }
}

/** Tests every operation with an invalid credential, or with none. */
const refused = async (client: Client) => {
  for (const operation of OPERATIONS) {
    if (operation.scope === 'public') {
      await letThrough(client, operation)
      continue
    }
    const answer = await attempt(client, operation)
    answer.refused(401, 'unauthenticated')
    expect(answer.headers.get('www-authenticate'), operation.id).toMatch(/^Bearer realm="gantry"/)
  }
}

const seconds = () => Math.floor(Date.now() / 1000)
const platformJwt = (username: string, changes: object = {}) =>
  makeJwt(
    {
      iss: platform?.issuer,
      aud: platform?.audience,
      iat: seconds(),
      exp: seconds() + 300,
      [platform?.userClaim ?? '']: username,
      ...changes,
    },
    platform?.privateKey,
  )
const jwks = async () =>
  (await anonymous.get('/.well-known/jwks.json', {}, { undocumented: true })).as<Jwks>(200)

/** The observable state of the victims and of their lists. */
const state = async () => {
  const { api_id, webhook_id, request_id, user_id, id } = victims
  const seen = await Promise.all([
    admin.get(`/apis/${api_id}`, { includeDeployedOn: true, includeRunningJobs: true }),
    admin.get(`/apis/${api_id}/versions`),
    admin.head(`/apis/${api_id}/image`),
    admin.get(`/webhooks/${webhook_id}`),
    admin.get(`/webhooks/${webhook_id}/requests/${request_id}`),
    admin.get(`/webhooks/${webhook_id}/requests`),
    admin.get(`/users/${user_id}`),
    owner.get(`/accessTokens/${id}`),
  ])
  return seen.map(answer => ({ tag: answer.etag, body: answer.is(200).text }))
}

describe('the matrix', () => {
  let before: Awaited<ReturnType<typeof state>>
  let startedAt: string
  beforeAll(async () => {
    startedAt = new Date(Date.now() - 60_000).toISOString()
    before = await state()
  })

  describe.concurrent('a caller without a valid credential is refused everything that is not public', () => {
    const made: Record<string, () => Client | Promise<Client>> = {
      'no credential': () => anonymous,
      'a revoked login token': async () => {
        const client = await loggedIn(await createUser())
        ;(await client.post('/logout')).is(204)
        return client
      },
      'a revoked access token': async () => {
        const { id, token } = await createToken(owner, [...SCOPES])
        ;(await owner.delete(`/accessTokens/${id}`)).is(204)
        return withToken(token)
      },
      'an access token that was never created': () => withToken(`pat_${'0'.repeat(43)}3gmdcX`),
      'a login token of a user who was deleted': async () => {
        const user = await createUser({ role: 'GLOBAL_ADMIN' })
        const client = await loggedIn(user)
        ;(await admin.delete(`/users/${user.id}`)).is(204)
        return client
      },
      'a login token signed with another key': () => withToken(signedByAnother(tokenOf(login))),
      'a login token with changed claims': () =>
        withToken(tamper(tokenOf(userWithRole('USER').client), { sub: administrator.id })),
      'a login token for another audience': () => withToken(tamper(tokenOf(login), { aud: 'another' })),
      'a login token with alg: none': () => withToken(makeJwt(readJwt(tokenOf(login)).claims)),
      'a login token signed with the public key': async () =>
        withToken(signedByPublicKey(tokenOf(login), await jwks())),
    }
    test.for(Object.entries(made))('%s', async ([, make]) => refused(await make()))

    const invalid: Record<string, () => string> = {
      'that has expired': () =>
        platformJwt(administrator.username, { iat: seconds() - 200, exp: seconds() - 10 }),
      'issued more than five minutes ago': () =>
        platformJwt(administrator.username, { iat: seconds() - 310, exp: seconds() + 300 }),
      'for another audience': () => platformJwt(administrator.username, { aud: 'another' }),
      'of another issuer': () => platformJwt(administrator.username, { iss: 'https://another.example' }),
      'with changed claims': () =>
        tamper(platformJwt(userWithRole('USER').user.username), {
          [platform?.userClaim ?? '']: administrator.username,
        }),
      'signed with another key': () => signedByAnother(platformJwt(administrator.username)),
      'with alg: none': () => makeJwt(readJwt(platformJwt(administrator.username)).claims),
    }
    // These need the private key of the platform that the service trusts.
    describe.skipIf(!platform)('a platform JWT', { meta: { skipped } }, () => {
      test.for(Object.entries(invalid))('%s', async ([, make]) => refused(withToken(make())))
    })
  })

  describe.concurrent('a user has the scopes of their role, logged in or with a platform JWT', () => {
    test.for(ROLES)('%s', async role => {
      const user = await createUser({ role })
      await allowed(await loggedIn(user), ROLE_SCOPES[role])
      if (!platform) return
      const claims = { role: 'GLOBAL_ADMIN', scopes: SCOPES, scope: SCOPES.join(' ') }
      await allowed(withToken(platformJwt(user.username, claims)), ROLE_SCOPES[role])
    })
  })

  // A scope never takes a right away, so these two tokens of each scope decide every combination of scopes.
  describe.concurrent('an operation is allowed to an access token with its scope only, and to none without it', () => {
    const required = new Set(OPERATIONS.flatMap(({ scope }) => SCOPES.filter(each => each === scope)))
    test.for([...required])('%s', async scope => {
      const others = SCOPES.filter(each => each !== scope)
      const [having, lacking] = [await createToken(owner, [scope]), await createToken(owner, others)]
      for (const operation of OPERATIONS.filter(operation => operation.scope === scope)) {
        await letThrough(withToken(having.token), operation)
        await forbidden(withToken(lacking.token), operation)
      }
    })
  })

  test('an access token has no scope that its user has lost, and none while its user is inactive', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const { token } = await createToken(await loggedIn(user), ['API_READ', 'API_WRITE', 'USER_READ'])
    ;(await admin.put(`/users/${user.id}`, { ...user, role: 'BILLING_CONTACT' })).is(200)
    await allowed(withToken(token), ['API_READ'])
    ;(await admin.put(`/users/${user.id}`, { ...user, status: 'INACTIVE' })).is(200)
    await refused(withToken(token))
  })

  test('refused requests have changed nothing, and the audit log has only refusals of them', async () => {
    expect(requests).toBeGreaterThan(OPERATIONS.length)
    expect(await state()).toEqual(before)
    for (let page = 1; ; page += 1) {
      const { content, last } = (
        await admin.get('/auditLog', { from: startedAt, page, size: 100, sort: 'timestamp,asc' })
      ).as<Page<AuditRecord>>(200)
      const caused = content.filter(({ requestId }) => requestId.startsWith(run))
      expect(caused.filter(({ action }) => action !== 'OPERATION_REFUSED')).toEqual([])
      if (last) break
    }
  })
})
