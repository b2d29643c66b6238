import { expect, inject, test } from 'vitest'
import { clientOf } from '../src/client.ts'
import { contractOf } from '../src/contract.ts'
import { form, png } from '../src/images.ts'
import { dataFolder, start } from '../src/own-service.ts'
import type { AccessToken, Api, Page, Webhook } from '../src/records.ts'

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
