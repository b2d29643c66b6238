import { describe, expect, test } from 'vitest'
import {
  admin,
  apiFields,
  cleanUp,
  createApi,
  createToken,
  createUser,
  listApis,
  loggedIn,
  PASSWORD,
  unique,
  uuid,
  withToken,
} from '../src/gantry.ts'
import type { AccessToken, Api, Page, Version, Webhook } from '../src/records.ts'

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

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
      const body = { name: unique('token'), validityDays: 1, scopes: ['API_READ'] }
      return { path: '/accessTokens', body, another: { ...body, scopes: ['API_WRITE'] } }
    },
  ],
  [
    'a webhook',
    () => {
      const body = {
        displayName: unique('hook'),
        url: 'http://127.0.0.1:9/',
        active: false,
        eventTypes: ['API_CREATED'],
      }
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
  test('returns the first response again and marks it as repeated', async () => {
    const { path, body } = await make()
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
  })

  test('refuses another body with the same key', async () => {
    const { path, body, another } = await make()
    const key = uuid()
    cleanUp(`${path}/${(await admin.post(path, body, keyed(key))).as<{ id: string }>(201).id}`)
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

test('repeated requests with the same key create one API', async () => {
  const body = apiFields()
  const key = uuid()
  const { id } = (await admin.post('/apis', body, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  await admin.post('/apis', body, keyed(key))
  expect((await listApis({ name: body.name })).totalElements).toBe(1)
})

test('without a key, or with another key, the request is executed again', async () => {
  const body = apiFields()
  const { id } = (await admin.post('/apis', body, keyed(uuid()))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  ;(await admin.post('/apis', body)).refused(409, 'api-name-taken')
  ;(await admin.post('/apis', body, keyed(uuid()))).refused(409, 'api-name-taken')
})

test('the same body with another order of fields creates nothing twice', async () => {
  const body = apiFields()
  const key = uuid()
  const { id } = (await admin.post('/apis', body, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  const turned = Object.fromEntries(Object.entries(body).toReversed())
  // The specification leaves open whether bytes or values are compared. Either way nothing is created twice.
  const again = (await admin.post('/apis', turned, keyed(key))).is(201, 422)
  if (again.status === 201) expect(again.as<Api>(201).id).toBe(id)
})

test('the keys of different callers are independent', async () => {
  const [one, two] = await Promise.all([loggedIn(await createUser()), loggedIn(await createUser())])
  const key = uuid()
  const body = { name: unique('token'), validityDays: 1, scopes: ['API_READ'] }
  const first = (await one.post('/accessTokens', body, keyed(key))).as<AccessToken>(201)
  const second = (await two.post('/accessTokens', body, keyed(key))).as<AccessToken>(201)
  expect(second.id).not.toBe(first.id)
  expect(second.token).not.toBe(first.token)
  const { content } = (await two.get('/accessTokens')).as<Page<AccessToken>>(200)
  expect(content.map(token => token.id)).toEqual([second.id])
})

test('after a 400 the key may be used with a corrected body or is refused, but nothing is created twice', async () => {
  const key = uuid()
  ;(await admin.post('/apis', { ...apiFields(), status: 'SLEEPING' }, keyed(key))).refused(400)
  const mended = (await admin.post('/apis', apiFields(), keyed(key))).is(201, 422)
  if (mended.status === 201) cleanUp(`/apis/${mended.as<Api>(201).id}`)
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

test('a key is refused with another If-Match, as with another body', async () => {
  const [key, body] = [uuid(), apiFields()]
  const headers = { 'idempotency-key': key }
  cleanUp(`/apis/${(await admin.post('/apis', body, { headers })).as<Api>(201).id}`)
  const other = { headers: { ...headers, 'if-match': '"0"' } }
  ;(await admin.post('/apis', body, other)).refused(422, 'idempotency-key-reused')
  ;(await admin.post('/apis', body, { headers })).is(201)
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
const tokenBody = () => ({ name: unique('token'), validityDays: 1, scopes: ['API_READ'] })
const hookBody = () => ({
  displayName: unique('hook'),
  url: 'http://127.0.0.1:9/',
  active: false,
  eventTypes: ['API_CREATED'],
})
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

describe.for(secrets)('the secret of %s', ([, make]) => {
  test('is repeated to the credential that received it, and withheld from another credential of the user', async () => {
    const user = await createUser({ role: 'ADMIN' })
    const [login, otherLogin] = [await loggedIn(user), await loggedIn(user)]
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
    const client = await loggedIn(await createUser({ role: 'ADMIN' }))
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
