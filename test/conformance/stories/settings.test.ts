import { describe, expect, inject, test } from 'vitest'
import { clientOf } from '../src/client.ts'
import { contractOf } from '../src/contract.ts'
import { form, png } from '../src/images.ts'
import { ADMIN, dataFolder, start } from '../src/own-service.ts'
import type { AccessToken, Api, Page, Webhook } from '../src/records.ts'

const apiFields = (name: string) => ({ name, displayName: name, status: 'ACTIVE', tags: ['a'] })

// The tests start their own services, so they say nothing about a service that was given.
describe.skipIf(!inject('ownService'))(
  'a restart',
  { meta: { skipped: 'needs a service that the suite starts' } },
  () => {
    test('loses no data: records, images, tokens, keys and responses stored under an Idempotency-Key', async () => {
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

      const after = await start(folder)
      const again = clientOf(after.service, `Bearer ${token}`)
      const record = (await again.get(`/apis/${id}`)).as<Api>(200)
      expect(record).toMatchObject({ name: 'kept', tags: ['a'], hasImage: true })
      expect((await again.get(`/apis/${id}/image`)).is(200).bytes.equals(png(2, 2))).toBe(true)
      expect((await again.get('/apis')).as<Page<Api>>(200).totalElements).toBe(1)
      ;(await again.get(`/apis/${id}/versions/1.0`)).is(200)

      const adminAgain = await after.logIn()
      const replayed = (await adminAgain.post('/apis', apiFields('kept'), keyed)).is(201)
      expect(replayed.json).toEqual(created.json)
      ;(await adminAgain.post('/apis', apiFields('kept'))).refused(409, 'api-name-taken')
      ;(await adminAgain.get(`/webhooks/${webhook.id}`)).is(200)
    })
  },
)

describe.skipIf(!inject('ownService'))(
  'limits',
  { meta: { skipped: 'needs a service that the suite starts' } },
  () => {
    test('are shown in headers and refuse excess requests, per caller and stricter for login', async () => {
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
  },
)

describe.skipIf(!inject('ownService'))(
  'a base path',
  { meta: { skipped: 'needs a service that the suite starts' } },
  () => {
    test('is a prefix of every path', async () => {
      const { service, logIn } = await start(await dataFolder(), { BASE_PATH: '/management' })
      expect(service.baseUrl).toMatch(/\/management$/)
      const admin = await logIn()
      const created = await admin.post('/apis', apiFields('based'))
      const { id } = created.as<Api>(201)
      expect(created.headers.get('location')).toMatch(new RegExp(`/management/apis/${id}$`))
      ;(await admin.get(`/apis/${id}`)).is(200)
      for (const path of ['/health/live', '/openapi.json', '/.well-known/jwks.json']) {
        ;(await admin.get(path, {}, { undocumented: true })).is(200)
      }
      const contract = contractOf({ ...inject('document'), paths: {} })
      const outside = clientOf({
        ...service,
        contract,
        baseUrl: service.baseUrl.replace(/\/management$/, ''),
      })
      ;(await outside.get('/apis', {}, { undocumented: true })).refused(404)
    })
  },
)
