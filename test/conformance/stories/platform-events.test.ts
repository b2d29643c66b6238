import { describe, expect, test } from 'vitest'
import { createApi, listApis } from '../src/apis.ts'
import { admin, unique, uuid } from '../src/gantry.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import type { Api } from '../src/records.ts'
import { listDeliveries, subscribe } from '../src/webhooks.ts'

const inProduct = async (product: string, { name }: Api) =>
  (await listApis({ product, name })).totalElements === 1

describe('an event of the platform', () => {
  test.for([
    'SUBSCRIPTION_CREATED',
    'SUBSCRIPTION_DELETED',
    'APPROVAL_REQUEST_CREATED',
    'APPROVAL_REQUEST_DECIDED',
    'CONFIGURATION_CHANGED',
  ])('of type %s is accepted with any data', async type => {
    ;(await publish(platformEvent(type, { anything: [1, { deep: null }], text: 'größe' }))).is(202)
    ;(await publish(platformEvent(type, {}))).is(202)
  })

  test('may be sent as plain JSON, with optional attributes, extensions, and a time less than a day ahead', async () => {
    const event = platformEvent('SUBSCRIPTION_CREATED', { plan: 'gold' })
    const more = { subject: 'shop', datacontenttype: 'application/json', tenant: 'acme' }
    ;(await publish({ ...event, ...more, time: '2026-11-21T09:30:00Z' }, 'application/json')).is(202)
    const time = new Date(Date.now() + 23 * 3_600_000).toISOString()
    ;(await publish({ ...platformEvent('SUBSCRIPTION_CREATED', {}), time })).is(202)
  })

  test.for<[string, object]>([
    ['of an unknown type', { type: 'SOMETHING_HAPPENED' }],
    ['of a type that the service itself produces', { type: 'API_CREATED' }],
    ['of another specversion', { specversion: '0.3' }],
    ['without a specversion', { specversion: undefined }],
    ['without an id', { id: undefined }],
    ['with an empty id', { id: '' }],
    ['without a source', { source: undefined }],
    ['without a type', { type: undefined }],
    ['with data that is not an object', { data: 'text' }],
    ['with a malformed time', { time: 'yesterday' }],
    ['with a time before 1970', { time: '1969-12-31T23:59:59Z' }],
    ['with a time more than a day ahead', { time: new Date(Date.now() + 25 * 3_600_000).toISOString() }],
  ])('%s is refused', async ([, fields]) => {
    ;(await publish({ ...platformEvent('SUBSCRIPTION_CREATED', {}), ...fields })).refused(400)
  })

  test('is delivered once, however often it is sent', async () => {
    const marker = unique('twice')
    const { webhook, inbox } = await subscribe(['SUBSCRIPTION_CREATED'], { about: marker })
    const event = platformEvent('SUBSCRIPTION_CREATED', { marker })
    for (const _ of [1, 2, 3]) (await publish(event)).is(202)
    await Promise.all([1, 2, 3].map(async () => (await publish(event)).is(202)))
    ;(await publish({ ...event, data: { marker, another: 'body' } })).is(202)
    // This event takes the same path, so that any delivery of a repetition would exist before its own.
    ;(await publish({ ...event, id: uuid(), data: { marker, last: true } })).is(202)

    await inbox.arrival(2)
    const { content } = await listDeliveries(webhook)
    const sent = content.map(({ payload }) => payload?.data ?? {}).filter(data => data.marker === marker)
    expect(sent.toSorted((a, b) => Object.keys(a).length - Object.keys(b).length)).toEqual([
      { marker },
      { marker, last: true },
    ])
  })

  test('of another source is a different event, even with the same id', async () => {
    const marker = unique('sources')
    const { inbox } = await subscribe(['SUBSCRIPTION_DELETED'], { about: marker })
    const event = platformEvent('SUBSCRIPTION_DELETED', { marker })
    ;(await publish(event)).is(202)
    ;(await publish({ ...event, source: '/elsewhere' })).is(202)
    await inbox.arrival(2)
    expect(new Set(inbox.received.map(received => received.payload.id)).size).toBe(2)
  })
})

describe('an API in a product', () => {
  test('is found by the product after it was added and before it is removed', async () => {
    const api = await createApi()
    const product = uuid()
    const data = { product, api: api.id }
    expect(await inProduct(product, api)).toBe(false)
    ;(await publish(platformEvent('PRODUCT_API_ADDED', data))).is(202)
    expect(await inProduct(product, api)).toBe(true)
    ;(await publish(platformEvent('PRODUCT_API_REMOVED', data))).is(202)
    expect(await inProduct(product, api)).toBe(false)
    ;(await publish(platformEvent('PRODUCT_API_ADDED', data))).is(202)
    expect(await inProduct(product, api)).toBe(true)
  })

  test('may be in several, and a product may have several', async () => {
    const [one, two] = [await createApi(), await createApi()]
    const [gold, silver] = [uuid(), uuid()]
    for (const [product, api] of [
      [gold, one],
      [silver, one],
      [gold, two],
    ] as const) {
      ;(await publish(platformEvent('PRODUCT_API_ADDED', { product, api: api.id }))).is(202)
    }
    expect((await listApis({ product: gold })).totalElements).toBe(2)
    expect((await listApis({ product: silver })).totalElements).toBe(1)
    ;(await admin.delete(`/apis/${one.id}`)).is(204)
    expect((await listApis({ product: gold })).totalElements).toBe(1)
    expect((await listApis({ product: silver })).totalElements).toBe(0)
  })

  test('stays in it when an old event is sent again', async () => {
    const api = await createApi()
    const data = { product: uuid(), api: api.id }
    const [added, removed, again] = [
      platformEvent('PRODUCT_API_ADDED', data),
      platformEvent('PRODUCT_API_REMOVED', data),
      platformEvent('PRODUCT_API_ADDED', data),
    ]
    for (const event of [added, removed, again, removed]) (await publish(event)).is(202)
    expect(await inProduct(data.product, api)).toBe(true)
  })

  test('an event about an unknown API causes no internal error', async () => {
    for (const type of ['PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED'])
      (await publish(platformEvent(type, { product: uuid(), api: uuid() }))).is(202, 400, 404, 409)
  })

  test.for<[string, Record<string, unknown>]>([
    ['no product', { api: uuid() }],
    ['no API', { product: uuid() }],
    ['a product that is not a UUID', { product: 'gold', api: uuid() }],
    ['an API that is not a UUID', { product: uuid(), api: 7 }],
  ])('an event with %s is refused', async ([, data]) => {
    const refused = (await publish(platformEvent('PRODUCT_API_ADDED', data))).refused(400)
    expect(refused.detail).not.toContain('Invalid input')
    ;(await publish(platformEvent('PRODUCT_API_REMOVED', data))).refused(400)
  })
})
