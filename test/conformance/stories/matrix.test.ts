import { OPERATIONS, type Operation, ROLE_SCOPES, ROLES, type Role, SCOPES } from '@gantry/contracts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Client, clientOf } from '../src/client.ts'
import { retrying } from '../src/deliveries.ts'
import {
  admin,
  anonymous,
  createApi,
  createToken,
  createUser,
  createVersion,
  logIn,
  service,
  unique,
  uuid,
  withToken,
} from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { type Jwks, makeJwt, readJwt, signedByAnother, signedByPublicKey, tamper } from '../src/jwt.ts'
import type { AuditRecord, Page, User } from '../src/records.ts'

/**
 * Tests every operation with every kind of caller. The expected result follows from the scope of the operation and the
 * scopes of the caller alone, so that a new operation is tested without a change here.
 */

const platform = inject('platformJwt')
const run = unique('matrix')
let requests = 0

/** Ids for forbidden requests. The resources exist, so that a request would change them if it were permitted. */
const victims: Record<string, string> = {}
let users: Record<Role, User>
let owner: Client

const authorizationOf = async ({ username }: User) =>
  (await logIn(username)).is(200).headers.get('authorization') ?? ''
const loginToken = async (user: User) => (await authorizationOf(user)).replace(/^Bearer /, '')

beforeAll(async () => {
  const made = ROLES.map(async role => [role, await createUser({ role })] as const)
  users = Object.fromEntries(await Promise.all(made)) as Record<Role, User>
  const loggedIn = clientOf(service, await authorizationOf(users.GLOBAL_ADMIN))
  // The login tests log the user out, which revokes login tokens but not access tokens.
  owner = withToken((await createToken(loggedIn, [...SCOPES])).token)
  const api = await createApi()
  const { webhook, id } = await retrying('APPROVAL_REQUEST_CREATED')
  Object.assign(victims, {
    api_id: api.id,
    version_id: (await createVersion(api)).id,
    environment_id: uuid(),
    webhook_id: webhook.id,
    request_id: id,
    user_id: (await createUser({ role: 'NO_ACCESS' })).id,
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

/** Tests every operation with a valid credential. */
const allowed = async (authorization: string, scopes: readonly string[]) => {
  const client = clientOf(service, authorization)
  for (const operation of inOrder) {
    const { id, scope } = operation
    if (scope === 'public' || scope === 'authenticated' || scopes.includes(scope)) {
      await letThrough(client, operation)
      continue
    }
    const problem = (await attempt(client, operation)).refused(403, 'scope-missing')
    expect(`${id}: ${problem.detail}`).toContain(scope)
  }
}

/** Tests every operation with an invalid credential, or with none. */
const refused = async (authorization: string | undefined) => {
  const client = clientOf(service, authorization)
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
const platformJwt = (username: string, changes: object = {}, key = platform?.privateKey) =>
  makeJwt(
    {
      iss: platform?.issuer,
      aud: platform?.audience,
      iat: seconds(),
      exp: seconds() + 300,
      [platform?.userClaim ?? '']: username,
      ...changes,
    },
    key,
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
    const made: Record<string, () => Promise<string | undefined>> = {
      'no credential': async () => undefined,
      'a revoked login token': async () => {
        const authorization = await authorizationOf(await createUser())
        ;(await clientOf(service, authorization).post('/logout')).is(204)
        return authorization
      },
      'a revoked access token': async () => {
        const { id, token } = await createToken(owner, [...SCOPES])
        ;(await owner.delete(`/accessTokens/${id}`)).is(204)
        return `Bearer ${token}`
      },
      'an access token that was never created': async () => `Bearer pat_${'0'.repeat(43)}3gmdcX`,
      'a login token of a user who was deleted': async () => {
        const user = await createUser({ role: 'GLOBAL_ADMIN' })
        const authorization = await authorizationOf(user)
        ;(await admin.delete(`/users/${user.id}`)).is(204)
        return authorization
      },
      'an access token of a user who became inactive': async () => {
        const user = await createUser({ role: 'GLOBAL_ADMIN' })
        const { token } = await createToken(clientOf(service, await authorizationOf(user)), [...SCOPES])
        ;(await admin.put(`/users/${user.id}`, { ...user, status: 'INACTIVE' })).is(200)
        return `Bearer ${token}`
      },
      'a login token signed with another key': async () =>
        `Bearer ${signedByAnother(await loginToken(users.GLOBAL_ADMIN))}`,
      'a login token with changed claims': async () =>
        `Bearer ${tamper(await loginToken(users.NO_ACCESS), { sub: users.GLOBAL_ADMIN.id })}`,
      'a login token for another audience': async () =>
        `Bearer ${tamper(await loginToken(users.GLOBAL_ADMIN), { aud: 'another' })}`,
      'a login token with alg: none': async () =>
        `Bearer ${makeJwt(readJwt(await loginToken(users.GLOBAL_ADMIN)).claims)}`,
      'a login token signed with the public key': async () =>
        `Bearer ${signedByPublicKey(await loginToken(users.GLOBAL_ADMIN), await jwks())}`,
    }
    test.for(Object.entries(made))('%s', async ([, make]) => refused(await make()))
  })

  // These need the private key of the platform that the service trusts.
  describe.skipIf(!platform)(
    'a caller with an invalid platform JWT is refused everything that is not public',
    { concurrent: true, meta: { skipped: 'needs a service that takes the JWTs of a platform' } },
    () => {
      const made: Record<string, (username: string) => string> = {
        'that has expired': username => platformJwt(username, { iat: seconds() - 200, exp: seconds() - 10 }),
        'issued more than five minutes ago': username =>
          platformJwt(username, { iat: seconds() - 310, exp: seconds() + 300 }),
        'for another audience': username => platformJwt(username, { aud: 'another' }),
        'of another issuer': username => platformJwt(username, { iss: 'https://another.example' }),
        'with changed claims': username =>
          tamper(platformJwt(users.NO_ACCESS.username), { [platform?.userClaim ?? '']: username }),
        'signed with another key': username => signedByAnother(platformJwt(username)),
        'with alg: none': username => makeJwt(readJwt(platformJwt(username)).claims),
      }
      test.for(Object.entries(made))('%s', async ([, make]) =>
        refused(`Bearer ${make(users.GLOBAL_ADMIN.username)}`),
      )
    },
  )

  describe.concurrent('a logged-in user has the scopes of their role', () => {
    test.for(ROLES)('%s', async role =>
      allowed(await authorizationOf(await createUser({ role })), ROLE_SCOPES[role]),
    )
  })

  describe.skipIf(!platform)(
    'a caller with a platform JWT has the scopes of the role, whatever else the JWT claims',
    { concurrent: true, meta: { skipped: 'needs a service that takes the JWTs of a platform' } },
    () => {
      test.for(ROLES)('%s', async role =>
        allowed(
          `Bearer ${platformJwt(users[role].username, { role: 'GLOBAL_ADMIN', scopes: SCOPES, scope: SCOPES.join(' ') })}`,
          ROLE_SCOPES[role],
        ),
      )
    },
  )

  describe.concurrent('an access token has its scopes', () => {
    test.for(SCOPES)('%s', async scope => {
      const { token } = await createToken(owner, [scope])
      await allowed(`Bearer ${token}`, [scope])
    })
  })

  test('an access token has no scope that its user has lost', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const { token } = await createToken(clientOf(service, await authorizationOf(user)), [
      'API_READ',
      'API_WRITE',
      'USER_READ',
    ])
    ;(await admin.put(`/users/${user.id}`, { ...user, role: 'BILLING_CONTACT' })).is(200)
    await allowed(`Bearer ${token}`, ['API_READ'])
  })

  test('refused requests have changed nothing', async () => {
    expect(requests).toBeGreaterThan(OPERATIONS.length)
    expect(await state()).toEqual(before)
    for (let page = 1; ; page += 1) {
      const { content, last } = (
        await admin.get('/auditLog', { from: startedAt, page, size: 100, sort: 'timestamp,asc' })
      ).as<Page<AuditRecord>>(200)
      expect(content.filter(({ requestId }) => requestId.startsWith(run))).toEqual([])
      if (last) break
    }
  })
})
