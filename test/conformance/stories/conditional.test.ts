import { describe, expect, test } from 'vitest'
import { apiFields, createApi, createVersion } from '../src/apis.ts'
import { admin, cleanUp, unique } from '../src/gantry.ts'
import type { Webhook } from '../src/records.ts'

const webhookFields = () => ({
  displayName: unique('hook'),
  url: 'http://127.0.0.1:9/',
  active: false,
  eventTypes: ['API_DEPLOYED'],
})

/** Each function creates a resource and returns its path with a body that can replace it. */
const resources: [string, () => Promise<{ path: string; body: object }>][] = [
  [
    'an API',
    async () => {
      const { id, name } = await createApi()
      return { path: `/apis/${id}`, body: apiFields({ name, displayName: 'Changed' }) }
    },
  ],
  [
    'a version',
    async () => {
      const version = await createVersion(await createApi())
      return {
        path: `/apis/${version.api}/versions/${version.id}`,
        body: { name: '2.0', displayName: 'Changed' },
      }
    },
  ],
  [
    'a webhook',
    async () => {
      const { id } = (await admin.post('/webhooks', webhookFields())).as<Webhook>(201)
      cleanUp(`/webhooks/${id}`)
      const { displayName, url } = webhookFields()
      return { path: `/webhooks/${id}`, body: { name: 'changed', displayName, url, events: ['API_CREATED'] } }
    },
  ],
]

describe.for(resources)('the ETag of %s', ([, make]) => {
  test('is strong, changes with the resource, and makes a conditional GET answer 304 without a body', async () => {
    const { path, body } = await make()
    const { etag } = (await admin.get(path)).is(200)
    expect(etag).toMatch(/^"[^"]+"$/)
    const having = (tag: string) => admin.get(path, {}, { headers: { 'if-none-match': tag } })
    for (const tag of [etag, `"another", ${etag}`, `W/${etag}`, '*']) {
      const unchanged = (await having(tag)).is(304)
      expect(unchanged.bytes).toHaveLength(0)
      expect(unchanged.etag).toBe(etag)
    }
    ;(await having('"another"')).is(200)

    const changed = (await admin.put(path, body)).is(200).etag
    expect(changed).toMatch(/^"[^"]+"$/)
    expect(changed).not.toBe(etag)
    expect((await having(etag)).is(200).etag).toBe(changed)
  })

  test('makes a change with a stale ETag fail without effect', async () => {
    const { path, body } = await make()
    const { etag: stale } = await admin.get(path)
    const changed = (await admin.put(path, body, { headers: { 'if-match': stale } })).is(200)
    ;(await admin.put(path, body, { headers: { 'if-match': stale } })).refused(412)
    ;(await admin.delete(path, { headers: { 'if-match': stale } })).refused(412)
    const kept = (await admin.get(path)).is(200)
    expect(kept.json).toEqual(changed.json)
    expect(kept.etag).toBe(changed.etag)

    ;(await admin.put(path, body, { headers: { 'if-match': `"another", ${changed.etag}` } })).is(200)
    ;(await admin.put(path, body, { headers: { 'if-match': '*' } })).is(200)
    ;(await admin.put(path, body, { headers: { 'if-match': 'unquoted' } })).refused(400, 'invalid-request')
    const { etag } = await admin.get(path)
    ;(await admin.delete(path, { headers: { 'if-match': etag } })).is(204)
    ;(await admin.get(path)).refused(404)
  })

  test('lets only one of two concurrent changes with the same ETag succeed', async () => {
    const { path, body } = await make()
    const { etag } = await admin.get(path)
    const change = () => admin.put(path, body, { headers: { 'if-match': etag } })
    const answers = await Promise.all([change(), change()])
    expect(answers.map(answer => answer.status).toSorted()).toEqual([200, 412])
  })
})

test('creating returns the ETag that the next GET returns', async () => {
  const api = await admin.post('/apis', apiFields())
  const { id } = api.as<{ id: string }>(201)
  cleanUp(`/apis/${id}`)
  const version = (await admin.post(`/apis/${id}/versions`, { name: '1.0' })).is(201)
  const webhook = await admin.post('/webhooks', webhookFields())
  const { id: hook } = webhook.as<Webhook>(201)
  cleanUp(`/webhooks/${hook}`)

  expect((await admin.get(`/webhooks/${hook}`)).etag).toBe(webhook.etag)
  expect((await admin.get(`/apis/${id}/versions/1.0`)).etag).toBe(version.etag)
  expect(api.etag).toMatch(/^"[^"]+"$/)
})
