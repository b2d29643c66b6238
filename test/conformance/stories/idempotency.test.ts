import { describe, expect, test } from 'vitest'
import {
  admin,
  apiFields,
  cleanUp,
  createApi,
  createUser,
  listApis,
  loggedIn,
  PASSWORD,
  unique,
  uuid,
} from '../src/gantry.ts'
import type { AccessToken, Api, Page } from '../src/records.ts'

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

interface Creation {
  path: string
  body: object
  another: object
}
/** Each gives a POST that creates, and another body for the same key. */
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
  test('answers the first response again and marks it', async () => {
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

  test('creates once when two ask at the same time', async () => {
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

test('one API is made, however often it was asked for', async () => {
  const body = apiFields()
  const key = uuid()
  const { id } = (await admin.post('/apis', body, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  await admin.post('/apis', body, keyed(key))
  expect((await listApis({ name: body.name })).totalElements).toBe(1)
})

test('without a key, or with another, the same body is asked for again', async () => {
  const body = apiFields()
  const { id } = (await admin.post('/apis', body, keyed(uuid()))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  ;(await admin.post('/apis', body)).refused(409, 'api-name-taken')
  ;(await admin.post('/apis', body, keyed(uuid()))).refused(409, 'api-name-taken')
})

test('the order of the fields makes no other body', async () => {
  const body = apiFields()
  const key = uuid()
  const { id } = (await admin.post('/apis', body, keyed(key))).as<Api>(201)
  cleanUp(`/apis/${id}`)
  const turned = Object.fromEntries(Object.entries(body).toReversed())
  // Whether bytes or values are compared is open; that nothing is made twice is not.
  const again = (await admin.post('/apis', turned, keyed(key))).is(201, 422)
  if (again.status === 201) expect(again.as<Api>(201).id).toBe(id)
})

test('the key of one caller says nothing to another', async () => {
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

test('a body that was refused may be mended under the same key or is told apart, but makes nothing twice', async () => {
  const key = uuid()
  ;(await admin.post('/apis', { ...apiFields(), status: 'SLEEPING' }, keyed(key))).refused(400)
  const mended = (await admin.post('/apis', apiFields(), keyed(key))).is(201, 422)
  if (mended.status === 201) cleanUp(`/apis/${mended.as<Api>(201).id}`)
})
