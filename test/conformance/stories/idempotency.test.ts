import { beforeAll, describe, expect, test } from 'vitest'
import { apiFields, createApi, listApis } from '../src/apis.ts'
import type { Client } from '../src/client.ts'
import { admin, cleanUp, unique, uuid } from '../src/gantry.ts'
import type { AccessToken, Api, Version, Webhook } from '../src/records.ts'
import { createToken, loggedIn, PASSWORD, userWithRole, withToken } from '../src/users.ts'

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

const tokenBody = () => ({ name: unique('token'), validityDays: 1, scopes: ['API_READ'] })
const hookBody = () => ({
  displayName: unique('hook'),
  url: 'http://127.0.0.1:9/',
  active: false,
  eventTypes: ['API_CREATED'],
})

interface Creation {
  path: string
  body: object
  another: object
}
/** Each function returns a POST that creates a resource, and another body for the same key. */
const creations: [string, () => Promise<Creation> | Creation][] = [
  ['an API', () => ({ path: '/apis', body: apiFields(), another: apiFields() })],
  [
    'a version',
    async () => ({
      path: `/apis/${(await createApi()).id}/versions`,
      body: { name: '1.0' },
      another: { name: '2.0' },
    }),
  ],
  [
    'an access token',
    () => {
      const body = tokenBody()
      return { path: '/accessTokens', body, another: { ...body, scopes: ['API_WRITE'] } }
    },
  ],
  [
    'a webhook',
    () => {
      const body = hookBody()
      return { path: '/webhooks', body, another: { ...body, active: true } }
    },
  ],
  [
    'a user',
    () => {
      const username = unique('user')
      const body = {
        username,
        displayName: 'A User',
        email: 'user@example.com',
        role: 'USER',
        password: PASSWORD,
      }
      return { path: '/users', body, another: { ...body, displayName: 'Another' } }
    },
  ],
]

describe.for(creations)('creating %s with an Idempotency-Key', ([, make]) => {
  test('returns the first response again and marks it as repeated, and refuses another body', async () => {
    const { path, body, another } = await make()
    const key = uuid()
    const first = await admin.post(path, body, keyed(key))
    cleanUp(`${path}/${first.as<{ id: string }>(201).id}`)
    const again = (await admin.post(path, body, keyed(key))).is(201)

    expect(again.json).toEqual(first.json)
    for (const header of ['location', 'etag', 'content-type']) {
      expect(again.headers.get(header)).toBe(first.headers.get(header))
    }
    const marks = [...again.headers.keys()].filter(name => name.includes('idempot'))
    expect(marks.filter(name => first.headers.get(name) !== again.headers.get(name))).not.toEqual([])
    ;(await admin.post(path, another, keyed(key))).refused(422)
  })

  test('creates one resource for concurrent requests', async () => {
    const { path, body } = await make()
    const key = uuid()
    const answers = await Promise.all([1, 2, 3].map(() => admin.post(path, body, keyed(key))))
    const created = answers
      .filter(answer => answer.status === 201)
      .map(answer => answer.as<{ id: string }>(201).id)
    expect(new Set(created).size).toBe(1)
    expect(answers.every(answer => [201, 409].includes(answer.status))).toBe(true)
    cleanUp(`${path}/${created[0]}`)
  })
})

test('a repeated request creates one API, also with another order of fields; without the key it is executed', async () => {
  const body = apiFields()
  const key = uuid()
  const { id } = (await admin.post('/apis', body, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  await admin.post('/apis', body, keyed(key))
  const turned = Object.fromEntries(Object.entries(body).toReversed())
  // The specification leaves open whether bytes or values are compared. Either way nothing is created twice.
  const again = (await admin.post('/apis', turned, keyed(key))).is(201, 422)
  if (again.status === 201) expect(again.as<Api>(201).id).toBe(id)
  expect((await listApis({ name: body.name })).totalElements).toBe(1)
  ;(await admin.post('/apis', body)).refused(409, 'api-name-taken')
  ;(await admin.post('/apis', body, keyed(uuid()))).refused(409, 'api-name-taken')
  const other = { headers: { ...keyed(key).headers, 'if-match': '"0"' } }
  ;(await admin.post('/apis', body, other)).refused(422, 'idempotency-key-reused')
})

test('the keys of different callers are independent', async () => {
  const [one, two] = [userWithRole('ADMIN').client, userWithRole('USER').client]
  const key = uuid()
  const body = tokenBody()
  const first = (await one.post('/accessTokens', body, keyed(key))).as<AccessToken>(201)
  const second = (await two.post('/accessTokens', body, keyed(key))).as<AccessToken>(201)
  expect(second.id).not.toBe(first.id)
  expect(second.token).not.toBe(first.token)
  ;(await two.get(`/accessTokens/${second.id}`)).is(200)
  ;(await two.get(`/accessTokens/${first.id}`)).refused(404)
})

test('after a 409 the same key may be used with a corrected body', async () => {
  const { name } = await createApi()
  const key = uuid()
  ;(await admin.post('/apis', apiFields({ name }), keyed(key))).refused(409, 'api-name-taken')
  const mended = apiFields()
  const { id } = (await admin.post('/apis', mended, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  expect((await admin.post('/apis', mended, keyed(key))).as<Api>(201).id).toBe(id)
  ;(await admin.post('/apis', apiFields({ name }), keyed(key))).refused(422, 'idempotency-key-reused')
})

test('a key belongs to an operation and a resource, however the path is spelled', async () => {
  const api = await createApi()
  const spellings = [
    `/apis/${api.id}/versions`,
    `/apis/${api.id}/versions/`,
    `/apis/${api.id}/%76ersions`,
    `/apis/${api.id.toUpperCase()}/versions`,
    `/%61pis/${api.id.replaceAll('-', '%2D')}/versions`,
  ]
  const options = { ...keyed(uuid()), undocumented: true }
  const ids: string[] = []
  for (const path of spellings)
    ids.push((await admin.post(path, { name: '1.0' }, options)).as<Version>(201).id)
  expect(ids).toEqual(spellings.map(() => ids[0]))

  const other = await createApi()
  const elsewhere = (await admin.post(`/apis/${other.id}/versions`, { name: '1.0' }, options)).as<Version>(
    201,
  )
  expect(elsewhere.api).toBe(other.id)
})

interface Secret {
  field: 'token' | 'secret'
  path: string
  body?: object
  spelled?: string
}
/** Each function returns a POST whose response contains a secret. */
const secrets: [string, () => Promise<Secret> | Secret][] = [
  [
    'an access token',
    () => ({ field: 'token', path: '/accessTokens', spelled: '/access%54okens/', body: tokenBody() }),
  ],
  ['a webhook', () => ({ field: 'secret', path: '/webhooks', spelled: '/%77ebhooks/', body: hookBody() })],
  [
    'a rotated webhook',
    async () => {
      const { id } = (await admin.post('/webhooks', hookBody())).as<Webhook>(201)
      cleanUp(`/webhooks/${id}`)
      return { field: 'secret', path: `/webhooks/${id}/rotateSecret` }
    },
  ],
]

let otherLogin: Client
beforeAll(async () => {
  const { user, password } = userWithRole('ADMIN')
  otherLogin = await loggedIn(user, password)
})

describe.for(secrets)('the secret of %s', ([, make]) => {
  test('is repeated to the credential that received it, and withheld from another credential of the user', async () => {
    const { client: login } = userWithRole('ADMIN')
    const { field, path, spelled = path, body } = await make()
    const options = { ...keyed(uuid()), undocumented: spelled !== path }
    const first = (await login.post(path, body, options)).is(200, 201)
    const record = first.json as Record<string, unknown>
    if (body) cleanUp(`${path}/${record.id}`)
    expect(record[field]).toMatch(/^(pat|whsec)_/)
    expect(record).not.toHaveProperty('secretWithheld')

    for (const url of [path, spelled]) {
      const withheld = (await otherLogin.post(url, body, options)).is(first.status)
      expect(withheld.json).toEqual({ ...record, [field]: null, secretWithheld: true })
      expect(withheld.text).not.toContain(record[field])
      expect(withheld.headers.get('idempotency-replayed')).toBe('true')
      expect((await login.post(url, body, options)).is(first.status).json).toEqual(record)
    }
  })

  test('is repeated to the access token that received it; another token has its own keys', async () => {
    const { client } = userWithRole('ADMIN')
    const scopes = ['ACCESS_TOKEN_MANAGE', 'WEBHOOKS_WRITE', 'API_READ']
    const [one, other] = [await createToken(client, scopes), await createToken(client, scopes)]
    const { field, path, body } = await make()
    const options = keyed(uuid())
    const ask = async ({ token }: { token: string }) =>
      (await withToken(token).post(path, body, options)).is(200, 201).json as Record<string, unknown>
    const first = await ask(one)
    expect(first[field]).toMatch(/^(pat|whsec)_/)
    expect(await ask(one)).toEqual(first)
    const another = await ask(other)
    expect(another[field]).toMatch(/^(pat|whsec)_/)
    expect(another[field]).not.toBe(first[field])
    if (body) for (const { id } of [first, another]) cleanUp(`${path}/${id}`)
  })
})
