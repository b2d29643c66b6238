import { storyMetadata as metadata, story } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { webhookDecider as deciderOf, type WebhookCommand } from './webhook.decide.ts'
import type { WebhookEvent } from './webhook.ts'

const URL = 'https://example.com/hook'
const ID = '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d'
const webhookDecider = deciderOf([])
const { given } = story(webhookDecider)
/** Tells the command after the history. */
const tell = (history: readonly WebhookEvent[], command: WebhookCommand) => given(...history).when(command)

/** The time the given number of days after the start. */
const day = (days: number) => new Date(Date.parse(metadata.now) + days * 86_400_000).toISOString()
const on = (days: number) => ({ ...metadata, now: day(days) })
const delivery = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const fields = {
  name: 'hook',
  displayName: 'Hook',
  url: URL,
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: false,
  format: 'STANDARD' as const,
}
const created: WebhookEvent = {
  type: 'WebhookCreated',
  data: { id: ID, ...fields, secret: 's1', createdAt: day(0) },
}
const fails = (n: number, days: number, url = URL): WebhookCommand => ({
  type: 'RecordFailure',
  metadata: on(days),
  url,
  delivery: delivery(n),
})
const succeeds = (days: number, url = URL): WebhookCommand => ({
  type: 'RecordSuccess',
  metadata: on(days),
  url,
})
const counted = (n: number, days = 0): WebhookEvent => ({
  type: 'WebhookDeliveryFailed',
  data: { delivery: delivery(n), at: day(days) },
})
const warned = (warning: number, days: number, deliveries = 20, since = 0): WebhookEvent => ({
  type: 'WebhookFailing',
  data: { since: day(since), deliveries, warning, at: day(days) },
})
const succeeded = (days: number): WebhookEvent => ({ type: 'WebhookSucceeded', data: { at: day(days) } })
const disabled = (days: number): WebhookEvent => ({
  type: 'WebhookDisabled',
  data: {
    reason: `no delivery to ${URL} has succeeded since ${day(0)}: at least 20 deliveries failed`,
    disabledAt: day(days),
  },
})
const updated = (changes: object): WebhookEvent => ({
  type: 'WebhookUpdated',
  data: { ...fields, ...changes, updatedAt: day(4) },
})
const many = (count: number) => Array.from({ length: count }, (_, n) => counted(n))

describe('a webhook without successful deliveries', () => {
  test('counts each delivery once, up to the number that disabling requires', () => {
    given(created).when(fails(1, 0)).then(counted(1))
    given(created, counted(1)).when(fails(1, 0.5)).then()
    tell([created, ...many(20)], fails(30, 0.5)).then()
  })
  test('leads to one warning after one day and one after three days', () => {
    tell([created, counted(1)], fails(1, 1)).then(warned(1, 1, 1))
    tell([created, counted(1), warned(1, 1, 1)], fails(2, 2)).then(counted(2, 2))
    tell([created, ...many(20), warned(1, 1)], fails(1, 3)).then(warned(2, 3))
    tell([created, ...many(20), warned(1, 1), warned(2, 3)], fails(1, 4.9)).then()
  })
  test('is disabled after five days and twenty failed deliveries', () => {
    tell([created, ...many(20), warned(1, 1), warned(2, 3)], fails(1, 5)).then(disabled(5))
    tell([created, ...many(19), warned(1, 1), warned(2, 3)], fails(19, 5)).then(counted(19, 5), disabled(5))
    tell([created, ...many(19), warned(1, 1), warned(2, 3)], fails(1, 9)).then()
  })
  test('is not disabled within a day of the last warning', () => {
    tell([created, ...many(20)], fails(1, 6)).then(warned(2, 6))
    tell([created, ...many(20), warned(2, 6)], fails(1, 6.5)).then()
    tell([created, ...many(20), warned(2, 6)], fails(1, 7)).then(disabled(7))
  })
  test('starts without failures after a success', () => {
    given(created).when(succeeds(1)).then()
    tell([created, ...many(20), warned(1, 1), warned(2, 3)], succeeds(4)).then(succeeded(4))
    tell([created, ...many(20), warned(1, 1), warned(2, 3), succeeded(4)], fails(1, 5)).then(counted(1, 5))
  })
  test('starts without failures when it is made active again or gets another URL', () => {
    const failing = [created, ...many(20), warned(1, 1), warned(2, 3)]
    tell([...failing, disabled(5), updated({})], fails(1, 6)).then(counted(1, 6))
    tell(
      [...failing, updated({ url: 'https://example.com/other' })],
      fails(1, 5, 'https://example.com/other'),
    ).then(counted(1, 5))
    tell([...failing, updated({ displayName: 'Renamed' })], fails(1, 5)).then(disabled(5))
  })
  test('counts no failure within a day of a success that ended failures, unless it gets another URL', () => {
    given(created, counted(1), succeeded(1)).when(fails(2, 1.9)).then()
    given(created, counted(1), succeeded(1)).when(succeeds(1.9)).then()
    given(created, counted(1), succeeded(1)).when(fails(2, 2)).then(counted(2, 2))
    const url = 'https://example.com/other'
    tell([created, counted(1), succeeded(1), updated({ url })], fails(2, 1.5, url)).then(counted(2, 1.5))
  })
  test('that alternates between failure and success adds at most 21 events a day', () => {
    let { state } = given(created)
    let events = 0
    let delivery = 0
    const execute = (command: WebhookCommand) => {
      for (const event of webhookDecider.decide(state, command)) {
        events++
        state = webhookDecider.evolve(state, event, events, metadata.actor)
      }
    }
    const DAYS = 10
    const FLIPS = 40
    for (let flip = 0; flip < DAYS * FLIPS; flip++) {
      for (let n = 0; n < 30; n++) execute(fails(delivery++, flip / FLIPS))
      execute(succeeds((flip + 0.5) / FLIPS))
    }
    expect(events).toBeGreaterThan(DAYS)
    expect(events).toBeLessThanOrEqual(DAYS * 21)
  })
  test('ignores attempts at an earlier URL, and attempts while it is inactive or deleted', () => {
    tell([created], fails(1, 0, 'https://example.com/old')).then()
    given(created, counted(1)).when(succeeds(1, 'https://example.com/old')).then()
    tell([created, updated({ active: false })], fails(1, 0)).then()
    const deleted: WebhookEvent = { type: 'WebhookDeleted', data: { deletedAt: day(0) } }
    given(created, deleted).when(fails(1, 0)).then()
    given(created, deleted).when(succeeds(0)).then()
  })
})

test('the public event of a warning has the failure count; counted failures have no public event', () => {
  const describeOf = (past: WebhookEvent[], event: WebhookEvent) =>
    webhookDecider.describe?.(given(...past).state, event, given(...past, event).state)
  expect(describeOf([created, ...many(20)], warned(1, 1))).toMatchObject({
    action: 'WEBHOOK_FAILING',
    resourceType: 'WEBHOOK',
    resourceId: ID,
    after: { id: ID, failingSince: day(0), failedDeliveries: 20, active: true },
  })
  expect(describeOf([created], counted(1))).toBeNull()
  expect(describeOf([created, counted(1)], succeeded(1))).toBeNull()
})
