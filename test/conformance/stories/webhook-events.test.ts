import { expect, test } from 'vitest'
import { apiFields, createApi, createVersion, deploy } from '../src/apis.ts'
import { admin, eventually, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import { type Inbox, verify } from '../src/receiver.ts'
import { faultsAgainst } from '../src/schema.ts'
import { eventCatalogue, subscribe } from '../src/webhooks.ts'

const arrivalOf = (inbox: Inbox, type: string) =>
  eventually(() => {
    const arrived = inbox.received.find(({ payload }) => payload.type === type)
    if (!arrived) throw new Error(`${type} did not arrive`)
    return arrived
  })

test('every change of an API arrives as an event that matches its schema in the catalog', async () => {
  const entries = await eventCatalogue()
  const api = await createApi()
  const changes =
    'API_UPDATED API_DELETED API_DEPLOYED API_UNDEPLOYED API_VERSION_CREATED API_VERSION_UPDATED API_VERSION_DELETED API_IMAGE_UPDATED API_IMAGE_DELETED API_VERSION_DOCUMENT_UPDATED API_VERSION_DOCUMENT_DELETED PRODUCT_API_ADDED PRODUCT_API_REMOVED'.split(
      ' ',
    )
  const { inbox, secret } = await subscribe(changes, { about: api.id })

  const path = `/apis/${api.id}`
  ;(await admin.put(path, apiFields({ name: api.name, displayName: 'Changed' }))).is(200)
  const version = await createVersion(api)
  ;(await admin.put(`${path}/versions/${version.id}`, { name: '1.1' })).is(200)
  const document = `${path}/versions/${version.id}/documents/readme.md`
  ;(await admin.put(document, undefined, { body: '# Read me' })).is(201)
  ;(await admin.delete(document)).is(204)
  ;(await admin.delete(`${path}/versions/${version.id}`)).is(204)
  ;(await admin.put(`${path}/image`, undefined, { body: form(png(1, 1)) })).is(200)
  ;(await admin.delete(`${path}/image`)).is(204)
  const data = { product: uuid(), api: api.id }
  ;(await publish(platformEvent('PRODUCT_API_ADDED', data))).is(202)
  ;(await publish(platformEvent('PRODUCT_API_REMOVED', data))).is(202)
  const { environment } = await deploy(api)
  ;(await admin.delete(`/environments/${environment}/apis/${api.id}`)).is(202)
  const undeployed = await arrivalOf(inbox, 'API_UNDEPLOYED')
  expect(undeployed.body).toContain(environment)
  ;(await admin.delete(path)).is(204)

  for (const type of changes) {
    const arrived = await arrivalOf(inbox, type)
    expect(() => verify(secret, arrived)).not.toThrow()
    expect(arrived.body).toContain(api.id)
    const entry = entries.find(({ name }) => name === type)
    expect(faultsAgainst(entry?.schema, arrived.payload), type).toEqual([])
  }
  expect((await arrivalOf(inbox, 'API_UPDATED')).body).toContain('Changed')
  expect((await arrivalOf(inbox, 'API_DEPLOYED')).body).toContain(environment)
})

test('API_CREATED carries the fields of the new API', async () => {
  const fields = apiFields({ description: 'Brand new' })
  const { inbox } = await subscribe(['API_CREATED'], { about: fields.name })
  const api = await createApi(fields)
  const arrived = await inbox.arrival(1)
  expect(arrived.payload.type).toBe('API_CREATED')
  expect(arrived.body).toContain(api.id)
  expect(arrived.body).toContain('Brand new')
})

test('deleting with undeploy=true sends one API_UNDEPLOYED per environment and one API_DELETED', async () => {
  const api = await createApi()
  const { inbox } = await subscribe(['API_UNDEPLOYED', 'API_DELETED'], { about: api.id })
  const environments = [(await deploy(api)).environment, (await deploy(api)).environment]
  ;(await admin.delete(`/apis/${api.id}`, { query: { undeploy: true } })).is(204)
  await inbox.arrival(3)
  const undeployed = inbox.received.filter(({ payload }) => payload.type === 'API_UNDEPLOYED')
  for (const environment of environments)
    expect(undeployed.filter(({ body }) => body.includes(environment))).toHaveLength(1)
  expect(inbox.received.filter(({ payload }) => payload.type === 'API_DELETED')).toHaveLength(1)
})

test('events of one API have timestamps in the order of the changes', async () => {
  const api = await createApi()
  const { inbox } = await subscribe(['API_UPDATED'], { about: api.id })
  for (const n of [1, 2, 3, 4, 5]) {
    ;(await admin.put(`/apis/${api.id}`, apiFields({ name: api.name, displayName: `Change ${n}` }))).is(200)
  }
  await inbox.arrival(5)
  const changeOf = (body: string) => Number(/Change (\d)/.exec(body)?.[1])
  const inOrder = inbox.received.toSorted((a, b) => changeOf(a.body) - changeOf(b.body))
  expect(inOrder.map(({ body }) => changeOf(body))).toEqual([1, 2, 3, 4, 5])
  const times = inOrder.map(({ payload }) => payload.timestamp)
  expect(times).toEqual(times.toSorted())
})
