import { join } from 'node:path'
import type { CloudEvent } from '@gantry/contracts'
import type { Fact } from '@gantry/event-sourcing'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { publicEvents } from '../public-events.ts'
import { type PlatformEventEvent, platformEventDecider, platformEventId } from './platform-event.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'platformevent',
  decider: platformEventDecider,
})

const event: CloudEvent = {
  specversion: '1.0',
  id: 'a-41',
  source: '/subscriptions',
  type: 'SUBSCRIPTION_CREATED',
  data: { plan: 'gold' },
}
const received = (time = metadata.now, subject: string | null = null): PlatformEventEvent => ({
  type: 'PlatformEventReceived',
  data: {
    source: '/subscriptions',
    id: 'a-41',
    type: 'SUBSCRIPTION_CREATED',
    subject,
    time,
    data: { plan: 'gold' },
  },
})
const { given } = story(platformEventDecider)
const receive = (more: Partial<CloudEvent> = {}) =>
  ({ type: 'ReceivePlatformEvent', metadata, event: { ...event, ...more } }) as const

describe('an event of the platform', () => {
  test('has the time of its producer, but not a future one', () => {
    given()
      .when(receive({ time: '2026-11-21T10:30:00+01:00' }))
      .then(received('2026-11-21T09:30:00.000Z'))
    given()
      .when(receive({ time: '2026-11-22T09:00:00Z' }))
      .then(received())
  })
  /** The messages that the notifier publishes for a stored event. */
  const published = (event: PlatformEventEvent) =>
    publicEvents({
      ...event,
      id: 'f1',
      stream: 'platformevent-1',
      revision: 0,
      metadata: {
        actor: { id: 'u1', name: 'grace' },
        requestId: 'r1',
        at: '2026-11-21T12:00:00.000Z',
        change: { action: event.data.type, resourceType: 'PLATFORM_EVENT' },
      },
    } as unknown as Fact)
  test('is published with its own source, subject and time, and with the time of its storage', () => {
    expect(published(received('2026-11-21T08:30:00.000Z', 'shop'))).toMatchObject([
      {
        subject: 'events.platform.SUBSCRIPTION_CREATED',
        headers: { 'committed-at': '2026-11-21T12:00:00.000Z' },
        data: {
          type: 'SUBSCRIPTION_CREATED',
          source: '/subscriptions',
          subject: 'shop',
          time: '2026-11-21T08:30:00.000Z',
          data: { plan: 'gold' },
          actor: { id: 'u1' },
        },
      },
    ])
  })
  test('is identified by source and id together', () => {
    const ids = [
      { source: 'a', id: 'bc' },
      { source: 'ab', id: 'c' },
      { source: 'a","b', id: 'c' },
      { source: 'a', id: 'b","c' },
    ].map(platformEventId)
    expect(new Set(ids).size).toBe(4)
    expect(platformEventId({ source: 'a', id: 'bc' })).toBe(ids[0])
  })
})
