import { EVENT_TYPES, type EventType } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { admin, cleanUp, findListed, unique } from '../src/gantry.ts'
import type { Webhook } from '../src/records.ts'
import { faultsAgainst } from '../src/schema.ts'
import { changeWebhook, eventCatalogue } from '../src/webhooks.ts'

const ALL_TYPES = Object.keys(EVENT_TYPES)
/** Types that clients depend on. */
const SPECIFIED_TYPES =
  'API_CREATED API_UPDATED API_DELETED API_DEPLOYED API_UNDEPLOYED API_DEPLOYMENT_FAILED API_VERSION_CREATED API_VERSION_UPDATED API_VERSION_DELETED API_IMAGE_UPDATED API_IMAGE_DELETED API_VERSION_DOCUMENT_UPDATED API_VERSION_DOCUMENT_DELETED SUBSCRIPTION_CREATED SUBSCRIPTION_DELETED APPROVAL_REQUEST_CREATED APPROVAL_REQUEST_DECIDED CONFIGURATION_CHANGED PRODUCT_API_ADDED PRODUCT_API_REMOVED TEST WEBHOOK_DISABLED WEBHOOK_FAILING'.split(
    ' ',
  )

const fields = (changes: object = {}) => ({
  displayName: unique('Hook'),
  url: 'https://example.com/hook?a=1',
  active: false,
  eventTypes: ['API_DEPLOYED'],
  ...changes,
})
const createWebhook = async (changes: object = {}) => {
  const webhook = (await admin.post('/webhooks', fields(changes))).as<Webhook>(201)
  cleanUp(`/webhooks/${webhook.id}`)
  return webhook
}
const readWebhook = async (id: string) => (await admin.get(`/webhooks/${id}`)).as<Webhook>(200)
const listed = (id: string) => findListed<Webhook>('/webhooks', id)

describe('creating a webhook', () => {
  test('returns the record and, in this response only, its secret', async () => {
    const sent = fields({ eventTypes: ['API_DEPLOYED', 'SUBSCRIPTION_CREATED'] })
    const { secret, ...webhook } = await createWebhook(sent)
    expect(webhook).toMatchObject({ ...sent, disabledReason: null })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/)
    // The secret is in neither response.
    expect(await readWebhook(webhook.id)).toEqual(webhook)
    expect(await listed(webhook.id)).toEqual(webhook)
  })

  test('derives the name from displayName, and generates another secret for each webhook', async () => {
    const { name, secret } = await createWebhook({ displayName: 'Deployments, All of Them!' })
    expect(name).toMatch(/^deployments-all-of-them[a-z0-9-]*$/)
    expect((await createWebhook()).secret).not.toBe(secret)
  })

  test.for<[string, unknown, unknown]>([
    ['ordered', false, true],
    ['format', 'STANDARD', 'CLOUDEVENTS_BATCHED'],
  ])(
    'stores %s as sent, by default %s, and keeps it when it is left out',
    async ([field, standard, other]) => {
      const plain = await createWebhook()
      const webhook = await createWebhook({ [field]: other })
      expect(await readWebhook(webhook.id)).toMatchObject({ [field]: other })
      expect(await changeWebhook(webhook, { displayName: 'Still' })).toMatchObject({ [field]: other })
      expect(await changeWebhook(webhook, { [field]: standard })).toMatchObject({ [field]: standard })
      expect(plain).toMatchObject({ [field]: standard })
      expect(await readWebhook(plain.id)).toMatchObject({ [field]: standard })
    },
  )

  test('accepts every event type', async () => {
    const webhook = await createWebhook({ eventTypes: ALL_TYPES })
    expect(webhook.eventTypes.toSorted()).toEqual(ALL_TYPES.toSorted())
  })

  test.for<[string, string, object]>([
    ['without a displayName', 'displayName', { displayName: undefined }],
    ['without a url', 'url', { url: undefined }],
    ['without active', 'active', { active: undefined }],
    ['without eventTypes', 'eventTypes', { eventTypes: undefined }],
    ['with an unknown format', 'format', { format: 'XML' }],
    ['with an empty displayName', 'displayName', { displayName: '' }],
    ['with a relative url', 'url', { url: '/hook' }],
    ['with a url of another scheme', 'url', { url: 'ftp://example.com/hook' }],
    ['with a javascript url', 'url', { url: 'javascript:alert(1)' }],
    ['with a url of a file', 'url', { url: 'file:///etc/passwd' }],
    ['with a url with credentials', 'url', { url: 'https://user:secret@example.com/' }],
    ['with a url with a username', 'url', { url: 'https://user@example.com/' }],
    ['with a url of an internal address', 'url', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['with active as text', 'active', { active: 'yes' }],
    ['with eventTypes that are not an array', 'eventTypes', { eventTypes: 'API_DEPLOYED' }],
    ['with an event type that is not a string', 'eventTypes', { eventTypes: [1] }],
  ])('refuses a body %s, naming the field', async ([, field, changes]) => {
    const problem = (await admin.post('/webhooks', fields(changes))).refused(400)
    expect(problem.errors?.map(error => error.field).join()).toContain(field)
  })

  test.for(['API_EXPLODED', 'api_deployed', '*', 'constructor'])(
    'refuses the event type %s, naming the known ones',
    async type => {
      const answer = await admin.post('/webhooks', fields({ eventTypes: ['API_DEPLOYED', type] }))
      answer.refused(400)
      for (const known of ALL_TYPES) expect(answer.text).toContain(known)
      expect(answer.text).toContain(type)
    },
  )
})

describe('updating a webhook', () => {
  test('accepts name, displayName, url and events', async () => {
    const webhook = await createWebhook()
    const changes = {
      name: 'renamed',
      displayName: 'Renamed',
      url: 'http://example.com/other',
      events: ['API_CREATED'],
    }
    const updated = (await admin.put(`/webhooks/${webhook.id}`, changes)).as<Webhook>(200)
    const { events, ...rest } = changes
    expect(updated).toMatchObject({
      ...rest,
      id: webhook.id,
      eventTypes: events,
      createdAt: webhook.createdAt,
    })
    expect(updated).not.toHaveProperty('secret')
    expect(await readWebhook(webhook.id)).toEqual(updated)
    expect(await listed(webhook.id)).toEqual(updated)
  })

  test('accepts eventTypes in place of events', async () => {
    const webhook = await createWebhook()
    const { displayName, url } = webhook
    const body = { name: 'renamed', displayName, url, eventTypes: ['API_DELETED', 'TEST'] }
    const updated = (await admin.put(`/webhooks/${webhook.id}`, body)).as<Webhook>(200)
    expect(updated.eventTypes.toSorted()).toEqual(['API_DELETED', 'TEST'])
  })

  test('changes active when given and keeps it otherwise', async () => {
    const webhook = await createWebhook({ active: true, eventTypes: ['API_DEPLOYMENT_FAILED'] })
    expect((await readWebhook(webhook.id)).active).toBe(true)
    for (const active of [false, true]) {
      expect((await changeWebhook(webhook, { active })).active).toBe(active)
      expect((await changeWebhook(webhook, {})).active).toBe(active)
    }
  })

  test.for<[string, object]>([
    ['an unknown event type', { events: ['API_EXPLODED'] }],
    ['a url with credentials', { url: 'https://user:secret@example.com/' }],
    ['a url of another scheme', { url: 'gopher://example.com/' }],
    ['a url of an internal address', { url: 'http://[::ffff:169.254.169.254]/' }],
    ['an empty displayName', { displayName: '' }],
    ['active as text', { active: 'no' }],
  ])('refuses %s and changes nothing', async ([, changes]) => {
    const { secret: _, ...webhook } = await createWebhook()
    const { name, displayName, url, eventTypes } = webhook
    ;(
      await admin.put(`/webhooks/${webhook.id}`, { name, displayName, url, events: eventTypes, ...changes })
    ).refused(400)
    expect(await readWebhook(webhook.id)).toEqual(webhook)
  })
})

test('deleting a webhook answers 204 without a body, and the webhook is gone', async () => {
  const { id } = await createWebhook()
  expect((await admin.delete(`/webhooks/${id}`)).is(204).bytes).toHaveLength(0)
  ;(await admin.get(`/webhooks/${id}`)).refused(404)
  ;(await admin.delete(`/webhooks/${id}`)).refused(404)
  ;(await admin.get(`/webhooks/${id}/requests`)).refused(404)
  expect(await listed(id)).toBeUndefined()
})

test('the catalog lists every event type with a schema and an example that matches it', async () => {
  const entries = await eventCatalogue()
  expect(ALL_TYPES).toEqual(expect.arrayContaining(SPECIFIED_TYPES))
  expect(entries.map(({ name }) => name).toSorted()).toEqual(ALL_TYPES.toSorted())
  for (const { name, scope, schema, example } of entries) {
    expect(scope, name).toBe(EVENT_TYPES[name as EventType].scope)
    expect(faultsAgainst(schema, example), name).toEqual([])
  }
})
