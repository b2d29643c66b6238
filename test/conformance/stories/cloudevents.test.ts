import { CloudEvent, HTTP } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import type { Query } from '../src/client.ts'
import { testWebhook } from '../src/deliveries.ts'
import { admin, anonymous, eventually, service, unique } from '../src/gantry.ts'
import { happen } from '../src/platform-events.ts'
import { type Received, verify } from '../src/receiver.ts'
import { faultsAgainst } from '../src/schema.ts'
import { changeWebhook, delivered, deliveryAbout, NEVER, subscribe } from '../src/webhooks.ts'

interface Listed {
  type: string
  version: number
  newest: boolean
  schema: string
}

/** Parses a request with the SDK of CloudEvents, which validates it. */
const cloudEventsOf = ({ headers, body }: Received) => {
  const parsed = HTTP.toEvent<Record<string, unknown>>({ headers, body })
  return [parsed].flat() as CloudEvent<Record<string, unknown>>[]
}

describe.concurrent('a webhook with the format', () => {
  test.for([
    ['CLOUDEVENTS_STRUCTURED', 'application/cloudevents+json', false],
    ['CLOUDEVENTS_BATCHED', 'application/cloudevents-batch+json', true],
  ] as const)('%s gets signed requests of type %s', async ([format, mediaType, isBatch]) => {
    const about = unique('event')
    const { webhook, secret, inbox } = await subscribe(['CONFIGURATION_CHANGED'], { about })
    await changeWebhook(webhook, { format })
    await happen('CONFIGURATION_CHANGED', about)
    const arrived = await inbox.arrival(1)
    expect(arrived.headers['content-type']).toBe(mediaType)
    expect(() => verify(secret, arrived)).not.toThrow()
    expect(Array.isArray(arrived.payload)).toBe(isBatch)
    const [event, ...others] = cloudEventsOf(arrived)
    expect(others).toEqual([])
    const content = { datacontenttype: 'application/json', data: { about } }
    expect(event).toMatchObject({ specversion: '1.0', type: 'CONFIGURATION_CHANGED', ...content })
    expect(event).not.toHaveProperty('actorid')
    const { id } = await deliveryAbout(webhook, about)
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record).toMatchObject({ eventId: event?.id, payload: JSON.parse(arrived.body) })
  })

  test('CLOUDEVENTS_STRUCTURED gets its tests as CloudEvents, which link to a schema', async () => {
    const { webhook, secret, inbox } = await subscribe([NEVER])
    await changeWebhook(webhook, { format: 'CLOUDEVENTS_STRUCTURED' })
    const made = await testWebhook(webhook)
    const arrived = await inbox.arrival(1)
    expect(() => verify(secret, arrived)).not.toThrow()
    const [event] = cloudEventsOf(arrived)
    expect(event).toMatchObject({ id: made.eventId, source: 'notifier', type: 'TEST', subject: webhook.id })
    const schemas = (await anonymous.get('/events/schemas')).as<Listed[]>(200)
    const schema = schemas.find(({ type }) => type === 'TEST')?.schema ?? ''
    // Without PUBLIC_URL the service does not know its absolute addresses.
    expect(event?.dataschema).toBe(URL.canParse(schema) ? schema : undefined)
  })

  test('STANDARD gets later events in it, while deliveries keep the format in which they were created', async () => {
    const about = unique('event')
    const { webhook, inbox } = await subscribe(['CONFIGURATION_CHANGED'], {
      about,
      respond: (_, number) => ({ status: number === 1 ? 500 : 200 }),
    })
    await changeWebhook(webhook, { format: 'CLOUDEVENTS_STRUCTURED' })
    await happen('CONFIGURATION_CHANGED', about)
    const first = await inbox.arrival(1)
    await changeWebhook(webhook, { format: 'STANDARD' })
    const repeated = await inbox.arrival(2)
    expect(repeated.body).toBe(first.body)
    expect(repeated.headers['content-type']).toBe('application/cloudevents+json')
    await happen('CONFIGURATION_CHANGED', `${about}-later`)
    expect(await inbox.arrival(3)).toMatchObject({
      headers: { 'content-type': 'application/json' },
      payload: { type: 'CONFIGURATION_CHANGED', data: { about: `${about}-later` } },
    })
  })
})

describe('the feed as CloudEvents', () => {
  const BATCH = 'application/cloudevents-batch+json'
  const LINES = 'application/cloudevents+json'
  const parsed = (item: unknown) => new CloudEvent<object>(item as object, true)

  const batch = async (query: Query) => {
    const answer = (await admin.get('/events', query, { headers: { accept: BATCH } })).is(200)
    expect(answer.headers.get('content-type')).toBe(BATCH)
    const events = (answer.json as object[]).map(parsed)
    return { events, position: answer.headers.get('event-position') ?? '' }
  }

  test('is a page as a batch with the position after it in a header, or with format=cloudevents', async () => {
    const from = new Date().toISOString()
    const api = await createApi()
    await admin.put(`/apis/${api.id}`, { ...api, displayName: 'Renamed' })
    const query: Query = { api: api.id, from, size: 1 }
    const first = await eventually(async () => {
      const page = await batch(query)
      // A page may end before it has an event.
      query.after = page.position
      expect(page.events).toHaveLength(1)
      return page
    })
    const about = { source: 'catalog', subject: api.id, revision: 0, actorid: api.owner }
    expect(first.events[0]).toMatchObject({
      ...about,
      type: 'API_CREATED',
      requestid: expect.any(String),
      position: first.position,
      data: { id: api.id },
    })
    await eventually(async () => {
      const next = await batch({ ...query, after: first.position })
      expect(next.events.map(({ type }) => type)).toEqual(['API_UPDATED'])
    })
    const { content, position } = (await admin.get('/events', { format: 'cloudevents', size: 3 })).as<{
      content: object[]
      position: string
    }>(200)
    expect(content.map(parsed)).toHaveLength(3)
    expect(parsed(content.at(-1)).position).toBe(position)
    ;(await admin.get('/events', { format: 'xml' })).refused(400)
  })

  test.for([
    [LINES, {}, LINES],
    ['application/x-ndjson', { format: 'cloudevents' }, 'application/x-ndjson'],
    ['text/event-stream', { format: 'cloudevents' }, 'text/event-stream'],
  ] as const)('is a stream for Accept: %s with the query %j', async ([accept, asked, contentType]) => {
    const from = new Date().toISOString()
    const api = await createApi()
    const query = { ...asked, api: api.id, from, follow: true }
    const signal = AbortSignal.timeout(60_000)
    const stream = await admin.stream('/events', query, { accept }, signal)
    expect(stream.contentType).toBe(contentType)
    const { value } = await stream.messages.next()
    await stream.messages.return(undefined)
    expect(parsed(value?.item)).toMatchObject({ type: 'API_CREATED', subject: api.id, data: { id: api.id } })
  })
})

describe('the schemas of events', () => {
  test('are public, and each accepts its examples', async () => {
    const listed = (await anonymous.get('/events/schemas')).as<Listed[]>(200)
    expect(listed.length).toBeGreaterThan(30)
    for (const { type, version, schema } of listed) {
      expect(new URL(schema, service.baseUrl).pathname).toMatch(
        new RegExp(`/events/schemas/${type}/${version}$`),
      )
      const answer = await anonymous.get(`/events/schemas/${type}/${version}`)
      const served = answer.as<{ $id: string; examples: object[] }>(200)
      expect(answer.headers.get('content-type')).toBe('application/schema+json')
      expect(served.$id).toBe(schema)
      expect(served.examples.flatMap(example => faultsAgainst(served, example))).toEqual([])
    }
  })

  test.for(['/events/schemas/API_CREATED/99', '/events/schemas/NOTHING/1', '/events/schemas/API_CREATED/x'])(
    'do not include %s',
    async path => void (await anonymous.get(path)).refused(404),
  )
})

test('the AsyncAPI document has the messages of the listed types, and is public, as its page is', async () => {
  interface Document {
    asyncapi: string
    channels: { feed: { messages: object } }
  }
  const document = await anonymous.get('/asyncapi.json')
  const { asyncapi, channels } = document.as<Document>(200)
  expect(asyncapi).toBe('3.0.0')
  const listed = (await anonymous.get('/events/schemas')).as<Listed[]>(200)
  const types = listed.map(({ type }) => type).filter(type => type !== 'TEST')
  expect(types.length).toBeGreaterThan(0)
  for (const type of types) expect(channels.feed.messages).toHaveProperty([`${type}.feed`])
  expect(document.headers.get('content-type')).toMatch(/^application\/json/)
  const page = (await anonymous.get('/docs/events', {}, { undocumented: true })).is(200)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
})
