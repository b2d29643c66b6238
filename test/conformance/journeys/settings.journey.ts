import { expect, inject, test } from 'vitest'
import { type Client, clientOf } from '../src/client.ts'
import { contractOf } from '../src/contract.ts'
import { form, png } from '../src/images.ts'
import { ADMIN, dataFolder, start } from '../src/own-service.ts'
import type { AccessToken, Api, Page, User, Webhook } from '../src/records.ts'

const apiFields = (name: string) => ({ name, displayName: name, status: 'ACTIVE', tags: ['a'] })

test('a restart loses no data: records, images, tokens, keys and repeated answers', async () => {
  const folder = await dataFolder()
  const before = await start(folder)
  const admin = await before.logIn()
  const keyed = { headers: { 'idempotency-key': 'the-same-before-and-after' } }
  const created = await admin.post('/apis', apiFields('kept'), keyed)
  const { id } = created.as<Api>(201)
  ;(await admin.put(`/apis/${id}/image`, undefined, { body: form(png(2, 2)) })).is(200)
  ;(await admin.post(`/apis/${id}/versions`, { name: '1.0' })).is(201)
  ;(await admin.put(`/environments/9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21/apis/${id}`)).is(202)
  const { token = '' } = (
    await admin.post('/accessTokens', { name: 'kept', scopes: ['API_READ'] })
  ).as<AccessToken>(201)
  const hook = { displayName: 'kept', url: 'https://example.com/', active: false, eventTypes: ['TEST'] }
  const webhook = (await admin.post('/webhooks', hook)).as<Webhook>(201)
  await before.stop()

  const { service, logIn } = await start(folder)
  const again = clientOf(service, `Bearer ${token}`)
  const record = (await again.get(`/apis/${id}`)).as<Api>(200)
  expect(record).toMatchObject({ name: 'kept', tags: ['a'], hasImage: true })
  expect((await again.get(`/apis/${id}/image`)).is(200).bytes.equals(png(2, 2))).toBe(true)
  expect((await again.get('/apis')).as<Page<Api>>(200).totalElements).toBe(1)
  ;(await again.get(`/apis/${id}/versions/1.0`)).is(200)
  const adminAgain = await logIn()
  expect((await adminAgain.post('/apis', apiFields('kept'), keyed)).is(201).json).toEqual(created.json)
  ;(await adminAgain.post('/apis', apiFields('kept'))).refused(409, 'api-name-taken')
  ;(await adminAgain.get(`/webhooks/${webhook.id}`)).is(200)
})

test('under another base path every operation is there, and nothing is outside', async () => {
  const { service, logIn } = await start(await dataFolder(), { BASE_PATH: '/management' })
  expect(service.baseUrl).toMatch(/\/management$/)
  const admin = await logIn()
  const based = await admin.post('/apis', apiFields('based'))
  expect(based.headers.get('location')).toMatch(new RegExp(`/management/apis/${based.as<Api>(201).id}$`))
  for (const path of ['/health/live', '/openapi.json', '/.well-known/jwks.json'])
    (await admin.get(path, {}, { undocumented: true })).is(200)
  const contract = contractOf({ ...inject('document'), paths: {} })
  const outside = clientOf({ ...service, contract, baseUrl: service.baseUrl.replace(/\/management$/, '') })
  ;(await outside.get('/apis', {}, { undocumented: true })).refused(404)
})

test('limits are shown in headers and refuse excess requests, per caller and stricter for login', async () => {
  const limits = { RATE_LIMIT_PER_MINUTE: '10', LOGIN_LIMIT_PER_MINUTE: '4' }
  const { anonymous, logIn } = await start(await dataFolder(), limits)
  const admin = await logIn()
  const grace = { username: 'grace', password: 'a password of her own' }
  ;(await admin.post('/users', { ...grace, displayName: 'Grace', role: 'ADMIN' })).is(201)
  const other = await logIn(grace)

  const wrong = () => anonymous.post('/login', { ...ADMIN, password: 'the wrong password' })
  const logins = [await wrong(), await wrong(), await wrong(), await wrong()]
  expect(logins.map(answer => answer.status)).toEqual([401, 401, 429, 429])

  const answers = []
  for (let n = 0; n < 12; n += 1) answers.push(await admin.get('/apis'))
  expect([...(answers[0]?.headers.keys() ?? [])].join()).toMatch(/ratelimit/)
  expect(answers.filter(answer => answer.status === 200).length).toBeGreaterThan(5)
  expect(answers.at(-1)?.status).toBe(429)
  ;(await other.get('/apis')).is(200)

  for (const refusal of [logins.at(-1), answers.at(-1)]) {
    const seconds = Number(refusal?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
  }
})

test('of two global administrators that remove each other concurrently, one remains', async () => {
  const { logIn } = await start(await dataFolder())
  const find = async (client: Client, username: string) => {
    const [user] = (await client.get('/users', { username })).as<Page<User>>(200).content
    if (!user) throw new Error(`There is no user ${username}`)
    return { client, user }
  }
  const removals: Record<string, (by: Client, user: User) => ReturnType<Client['put']>> = {
    demoted: (by, user) => by.put(`/users/${user.id}`, { ...user, role: 'ADMIN' }),
    deactivated: (by, user) => by.put(`/users/${user.id}`, { ...user, status: 'INACTIVE' }),
    deleted: (by, user) => by.delete(`/users/${user.id}`),
  }
  let staying = await find(await logIn(), ADMIN.username)
  for (const [name, remove] of Object.entries(removals)) {
    const credentials = { username: `rival-${name}`, password: ADMIN.password }
    const fields = { ...credentials, displayName: name, role: 'GLOBAL_ADMIN', status: 'ACTIVE' }
    ;(await staying.client.post('/users', fields)).is(201)
    const rival = await find(await logIn(credentials), credentials.username)

    const answers = await Promise.all([
      remove(staying.client, rival.user),
      remove(rival.client, staying.user),
    ])
    const done = answers.map(answer => answer.status < 300)
    expect(done.filter(Boolean), answers.map(answer => answer.text).join()).toHaveLength(1)
    const loser = answers[done.indexOf(false)]
    expect([401, 403, 409], loser?.text).toContain(loser?.status)

    staying = done[0] ? staying : rival
    ;(await remove(staying.client, staying.user)).refused(409, 'last-administrator')
    ;(await staying.client.get('/users')).is(200)
  }
})
