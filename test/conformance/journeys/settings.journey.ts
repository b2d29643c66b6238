import type { Linkset } from '@gantry/contracts'
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

test('with PUBLIC_CATALOG a crawler finds and reads the documents of active APIs, and nothing else', async () => {
  const { service, logIn } = await start(await dataFolder(), { PUBLIC_CATALOG: 'true' })
  const [admin, crawler] = [await logIn(), clientOf(service)]
  const documented = async (name: string, status: string) => {
    const { id } = (await admin.post('/apis', { ...apiFields(name), status })).as<Api>(201)
    const version = (await admin.post(`/apis/${id}/versions`, { name: '1.0' })).as<{ id: string }>(201)
    const path = `/apis/${id}/versions/${version.id}/documents/read.md`
    const headers = { 'content-type': 'text/markdown' }
    ;(await admin.put(path, undefined, { body: `# ${name}`, headers })).is(201)
    return { id, path }
  }
  const active = await documented('open', 'ACTIVE')
  const inactive = await documented('closed', 'INACTIVE')

  const catalog = await crawler.get('/.well-known/api-catalog')
  const root = service.baseUrl.replace('127.0.0.1', 'localhost')
  expect(catalog.as(200)).toEqual({
    linkset: [
      {
        anchor: `${root}/apis/${active.id}`,
        'service-doc': [{ href: `${root}${active.path}`, title: 'read.md' }],
      },
    ],
  })
  expect((await admin.get('/.well-known/api-catalog')).as<Linkset>(200).linkset).toHaveLength(2)
  expect((await crawler.get(active.path)).is(200).bytes.toString()).toBe('# open')
  ;(await crawler.get(active.path, { at: new Date().toISOString() })).refused(401)
  ;(await crawler.get(inactive.path)).refused(404, 'api-not-found')
  ;(await crawler.get(`/apis/${active.id}`)).refused(401)
  ;(await crawler.delete(active.path)).refused(401)
  ;(await crawler.get('/.well-known/api-catalog', {}, { headers: { authorization: 'Bearer x' } })).refused(
    401,
  )
})
