import { type CloudEvent, HTTP } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { happen, testWebhook } from '../src/deliveries.ts'
import { anonymous, service, unique } from '../src/gantry.ts'
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
    expect(event).toMatchObject({
      specversion: '1.0',
      type: 'CONFIGURATION_CHANGED',
      datacontenttype: 'application/json',
      data: { about },
    })
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

  test('are those of the messages in the AsyncAPI document', async () => {
    interface Document {
      asyncapi: string
      channels: { feed: { messages: object } }
    }
    const { asyncapi, channels } = (await anonymous.get('/asyncapi.json')).as<Document>(200)
    expect(asyncapi).toBe('3.0.0')
    const listed = (await anonymous.get('/events/schemas')).as<Listed[]>(200)
    for (const { type } of listed.filter(({ type }) => type !== 'TEST'))
      expect(channels.feed.messages).toHaveProperty([`${type}.feed`])
    const page = (await anonymous.get('/docs/events', {}, { undocumented: true })).is(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  })

  test.for(['/events/schemas/API_CREATED/99', '/events/schemas/NOTHING/1', '/events/schemas/API_CREATED/x'])(
    'do not include %s',
    async path => void (await anonymous.get(path)).refused(404),
  )
})
