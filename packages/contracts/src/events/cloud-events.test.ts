import { CloudEvent } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { type CloudEventContent, EmittedCloudEvent, toCloudEvent } from './cloud-events.ts'
import { PUBLIC_EVENTS } from './public-events.ts'

const ROOT = 'https://gantry.example.com'
const event: CloudEventContent = {
  id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
  type: 'API_CREATED',
  source: 'catalog',
  subject: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
  revision: 7,
  time: '2026-11-21T09:30:00.000Z',
  data: { name: 'payments' },
  actor: { id: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', name: 'alice' },
  requestId: 'r-1',
  position: 'p-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
}
const converted = (changes: Partial<CloudEventContent> = {}, publicUrl: string | undefined = ROOT) =>
  JSON.parse(JSON.stringify(toCloudEvent({ ...event, ...changes }, publicUrl)))
/** Parses it with the SDK of CloudEvents, which validates it. */
const received = (cloudEvent: object) => new CloudEvent(cloudEvent, true)

test('A public event is a CloudEvents event with its members as attributes', () => {
  expect(converted()).toEqual({
    specversion: '1.0',
    id: event.id,
    source: 'catalog',
    type: 'API_CREATED',
    subject: event.subject,
    time: event.time,
    datacontenttype: 'application/json',
    dataschema: 'https://gantry.example.com/events/schemas/API_CREATED/1',
    revision: 7,
    position: 'p-1',
    requestid: 'r-1',
    actorid: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
    traceparent: event.traceparent,
    data: { name: 'payments' },
  })
})

test.each(Object.entries(PUBLIC_EVENTS))('The SDK of CloudEvents accepts %s', (type, { example }) => {
  const cloudEvent = converted({ type, data: example as Record<string, unknown> })
  expect(EmittedCloudEvent.parse(cloudEvent)).toEqual(cloudEvent)
  expect(received(cloudEvent)).toMatchObject({ type, data: example, revision: 7 })
})

describe('An attribute', () => {
  test('is absent if it has no value', () => {
    const { id, source, type, time, data } = event
    const least = JSON.parse(
      JSON.stringify(toCloudEvent({ id, source, type, time, data, subject: '' }, undefined)),
    )
    expect(Object.keys(least).toSorted()).toEqual(
      ['data', 'datacontenttype', 'id', 'source', 'specversion', 'time', 'type'].toSorted(),
    )
    received(least)
  })
  test('names the part of the service that caused an event, or the user by id', () => {
    const byService = converted({ actor: { id: null, name: 'deployments' } })
    expect(byService.actorname).toBe('deployments')
    expect(byService).not.toHaveProperty('actorid')
    expect(converted()).not.toHaveProperty('actorname')
  })
  test('links to no schema that this release does not have', () => {
    expect(converted({ type: 'API_PAINTED' })).not.toHaveProperty('dataschema')
    expect(converted({ version: 2 })).not.toHaveProperty('dataschema')
  })
})

test.each([
  ['/subscriptions', '/subscriptions'],
  ['https://shop.example/a?b=c#d', 'https://shop.example/a?b=c#d'],
  ['urn:shop:7', 'urn:shop:7'],
  ['my shop', 'my%20shop'],
  ['1st:shop', '1st%3Ashop'],
  ['http://shop:port/', 'http%3A%2F%2Fshop%3Aport%2F'],
  ['50%', '50%25'],
  ['\ud83d\ude80 \ud800', '%F0%9F%9A%80%20%EF%BF%BD'],
])('The source %j of a producer is sent as the URI reference %j', (source, sent) => {
  expect(converted({ source }).source).toBe(sent)
  received(converted({ source }))
})
