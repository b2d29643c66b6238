import { describe, expect, test } from 'vitest'
import {
  cancel,
  delivery,
  failing,
  givenUp,
  messageIds,
  retry,
  retrying,
  working,
} from '../src/deliveries.ts'
import { admin, eventually, unique } from '../src/gantry.ts'
import { happen, platformEvent, publish } from '../src/platform-events.ts'
import { heldReply, type Inbox, openInbox, verify } from '../src/receiver.ts'
import type { Delivery, Webhook } from '../src/records.ts'
import { changeWebhook, delivered, listDeliveries, NEVER, readDelivery, subscribe } from '../src/webhooks.ts'

const triggers = ({ attemptLog }: Delivery) => attemptLog.map(({ trigger }) => trigger)
const startsOf = ({ attemptLog }: Delivery) => attemptLog.map(({ startedAt }) => Date.parse(startedAt))

describe.concurrent('an event that matches an active webhook', () => {
  test('arrives signed; the delivery is CREATED during the first attempt, and SUCCESS after any 2xx', async () => {
    const { respond, letGo } = heldReply()
    const { webhook, secret, inbox, about, id } = await delivery('SUBSCRIPTION_CREATED', respond)
    const arrived = await inbox.arrival(1)
    expect(() => verify(secret, arrived)).not.toThrow()
    const { secret: other } = await subscribe([NEVER])
    expect(() => verify(other, arrived)).toThrow()
    expect(() => verify(secret, { ...arrived, body: `${arrived.body} ` })).toThrow()
    expect(arrived.headers['content-type']).toMatch(/^application\/json/)
    expect(Object.keys(arrived.payload).toSorted()).toEqual(['data', 'id', 'timestamp', 'type'])
    expect(arrived.payload).toMatchObject({ type: 'SUBSCRIPTION_CREATED', data: { about } })
    expect(arrived.payload.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(arrived.headers['webhook-signature']).toMatch(/^v1,/)

    expect((await readDelivery(webhook, id)).status).toBe('CREATED')
    ;(await retry(id)).refused(409)
    letGo({ status: 204 })
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record).toMatchObject({
      webhook: webhook.id,
      url: webhook.url,
      eventId: arrived.payload.id,
      eventType: 'SUBSCRIPTION_CREATED',
      payload: arrived.payload,
      attempts: 1,
      lastAttemptAt: expect.any(String),
      nextAttemptAt: null,
      responseStatus: 204,
      failureMessage: null,
    })
    const attempt = { number: 1, trigger: 'AUTOMATIC', url: webhook.url }
    expect(record.attemptLog).toEqual([
      expect.objectContaining({ ...attempt, responseStatus: 204, error: null, fault: null }),
    ])
  })

  test('reaches every webhook whose current event types have it, and no other', async () => {
    const about = unique('event')
    const [one, two, other, changed] = await Promise.all([
      subscribe(['APPROVAL_REQUEST_CREATED'], { about }),
      subscribe(['APPROVAL_REQUEST_DECIDED', 'APPROVAL_REQUEST_CREATED'], { about }),
      subscribe(['APPROVAL_REQUEST_DECIDED'], { about }),
      subscribe(['APPROVAL_REQUEST_CREATED'], { about }),
    ])
    await changeWebhook(changed.webhook, { events: ['APPROVAL_REQUEST_DECIDED'] })
    await happen('APPROVAL_REQUEST_CREATED', about)
    await Promise.all([one.inbox.arrival(1), two.inbox.arrival(1)])
    await happen('APPROVAL_REQUEST_DECIDED', about)
    await Promise.all([two.inbox.arrival(2), other.inbox.arrival(1), changed.inbox.arrival(1)])
    const types = (inbox: Inbox) => inbox.received.map(({ payload }) => payload.type).toSorted()
    expect(types(one.inbox)).toEqual(['APPROVAL_REQUEST_CREATED'])
    expect(types(two.inbox)).toEqual(['APPROVAL_REQUEST_CREATED', 'APPROVAL_REQUEST_DECIDED'])
    for (const { inbox } of [other, changed]) expect(types(inbox)).toEqual(['APPROVAL_REQUEST_DECIDED'])
  })
})

describe.concurrent('a delivery that fails', () => {
  test('is RETRYING while attempts are left, and SUCCESS after a successful one, at least as late as Retry-After asks', async () => {
    const { webhook, secret, inbox, id } = await delivery('SUBSCRIPTION_CREATED', (_, number) =>
      number === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 201 },
    )
    const record = await delivered(webhook, id, 'SUCCESS')
    const result = { responseStatus: 201, failureMessage: null, nextAttemptAt: null }
    expect(record).toMatchObject({ attempts: 2, ...result })
    expect(
      record.attemptLog.map(({ number, trigger, responseStatus }) => [number, trigger, responseStatus]),
    ).toEqual([
      [1, 'AUTOMATIC', 503],
      [2, 'AUTOMATIC', 201],
    ])
    const [first = 0, second = 0] = startsOf(record)
    expect(second - first).toBeGreaterThanOrEqual(950)
    expect(inbox.received).toHaveLength(2)
    expect(messageIds(inbox).size).toBe(1)
    for (const received of inbox.received) expect(() => verify(secret, received)).not.toThrow()
    expect(inbox.received[1]?.payload).toEqual(inbox.received[0]?.payload)
  })

  test('shows the failure of the last attempt, and uses a changed URL of the webhook in the next one', async () => {
    const { webhook, inbox, about, id } = await retrying('APPROVAL_REQUEST_DECIDED')
    const waiting = await readDelivery(webhook, id)
    expect(waiting).toMatchObject({ status: 'RETRYING', attempts: 1, responseStatus: 500 })
    expect(waiting.failureMessage).toBeTruthy()
    expect(waiting.attemptLog[0]).toMatchObject({ responseStatus: 500, responseBody: 'out of order' })
    const moved = openInbox(about)
    await changeWebhook(webhook, { url: moved.url, active: true })
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record.attemptLog.map(({ url }) => url)).toEqual([inbox.url, moved.url])
    expect(moved.received[0]?.headers['webhook-id']).toBe(inbox.received[0]?.headers['webhook-id'])
  })

  test('is GIVE_UP when the attempts are exhausted', async () => {
    const { webhook, inbox, id } = await givenUp('SUBSCRIPTION_DELETED')
    const record = await readDelivery(webhook, id)
    expect(record).toMatchObject({ attempts: 3, responseStatus: 500, nextAttemptAt: null })
    expect(record.failureMessage).toBeTruthy()
    expect(record.attemptLog).toHaveLength(3)
    expect(inbox.received).toHaveLength(3)
    expect(messageIds(inbox).size).toBe(1)
    const [first = 0, second = 0, third = 0] = startsOf(record)
    expect(second - first).toBeGreaterThanOrEqual(155)
    expect(third - second).toBeGreaterThanOrEqual(315)
    const unchanged = { active: true, disabledReason: null }
    expect((await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)).toMatchObject(unchanged)
  })

  test('is GIVE_UP at once after a 410, which also disables the webhook', async () => {
    const { webhook, inbox, id } = await delivery('SUBSCRIPTION_DELETED', () => ({ status: 410 }))
    const result = { attempts: 1, responseStatus: 410, nextAttemptAt: null }
    expect(await delivered(webhook, id, 'GIVE_UP')).toMatchObject(result)
    await eventually(async () => {
      const disabled = { active: false, disabledReason: expect.stringMatching(/./) }
      expect((await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)).toMatchObject(disabled)
    })
    expect(inbox.received).toHaveLength(1)
    const enabled = { active: true, disabledReason: null }
    expect(await changeWebhook(webhook, { active: true })).toMatchObject(enabled)
  })
})

describe.concurrent('cancelling', () => {
  const becomesCancelled = async ({ webhook, id }: { webhook: Webhook; id: string }) => {
    const cancelled = { id, status: 'CANCELLED', nextAttemptAt: null }
    expect((await cancel(id)).as<Delivery>(200)).toMatchObject(cancelled)
    expect(await readDelivery(webhook, id)).toMatchObject(cancelled)
  }

  test('a CREATED or RETRYING delivery makes it CANCELLED, for good', async () => {
    const { respond, letGo } = heldReply()
    const [created, waiting] = await Promise.all([
      delivery('SUBSCRIPTION_CREATED', respond),
      retrying('SUBSCRIPTION_CREATED'),
    ])
    await becomesCancelled(created)
    letGo({ status: 500 })
    await becomesCancelled(waiting)
    await changeWebhook(waiting.webhook, { active: true })
    // Another delivery that exhausts its attempts ends after the last possible retry of the cancelled ones.
    await givenUp('SUBSCRIPTION_DELETED')
    for (const { webhook, id, inbox } of [created, waiting]) {
      expect((await readDelivery(webhook, id)).status).toBe('CANCELLED')
      expect(inbox.received).toHaveLength(1)
    }
    expect((await readDelivery(waiting.webhook, waiting.id)).attempts).toBe(1)
  })
})

describe.concurrent('retrying by hand', () => {
  test('a GIVE_UP delivery makes it RETRYING, with one attempt now and then the retry schedule', async () => {
    const { webhook, inbox, id } = await givenUp('SUBSCRIPTION_DELETED')
    const { respond, letGo } = heldReply()
    inbox.respond = respond
    expect((await retry(id)).as<Delivery>(200)).toMatchObject({ id, status: 'RETRYING' })
    await inbox.arrival(4)
    inbox.respond = failing
    letGo({ status: 500 })
    await inbox.arrival(6)
    const record = await delivered(webhook, id, 'GIVE_UP')
    const automatic = ['AUTOMATIC', 'AUTOMATIC']
    expect(triggers(record)).toEqual([...automatic, 'AUTOMATIC', 'MANUAL', ...automatic])
    expect(record.attemptLog.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
    expect(messageIds(inbox).size).toBe(1)
  })

  test('a CANCELLED delivery makes it RETRYING', async () => {
    const { webhook, inbox, id } = await retrying('APPROVAL_REQUEST_CREATED')
    ;(await cancel(id)).is(200)
    await changeWebhook(webhook, { active: true })
    inbox.respond = working
    expect(['RETRYING', 'SUCCESS']).toContain((await retry(id)).as<Delivery>(200).status)
    expect(await delivered(webhook, id, 'SUCCESS')).toMatchObject({ attempts: 2 })
  })

  test('a RETRYING delivery makes an attempt at once, before it is due', async () => {
    const { webhook, inbox, id } = await delivery('APPROVAL_REQUEST_DECIDED', (_, number) =>
      number === 1 ? { status: 503, headers: { 'retry-after': '20' } } : { status: 200 },
    )
    await delivered(webhook, id, 'RETRYING')
    ;(await retry(id)).is(200)
    expect(triggers(await delivered(webhook, id, 'SUCCESS'))).toEqual(['AUTOMATIC', 'MANUAL'])
    expect(inbox.received).toHaveLength(2)
  })
})

test.concurrent('retrying SUCCESS and cancelling SUCCESS, GIVE_UP or CANCELLED is refused, changing nothing', async () => {
  const done = await delivery('SUBSCRIPTION_CREATED', working)
  await delivered(done.webhook, done.id, 'SUCCESS')
  const hopeless = await givenUp('SUBSCRIPTION_CREATED')
  const cancelled = await retrying('SUBSCRIPTION_CREATED')
  ;(await cancel(cancelled.id)).is(200)
  for (const { webhook, id } of [done, hopeless, cancelled]) {
    const before = await readDelivery(webhook, id)
    ;(await cancel(id)).refused(409)
    if (before.status === 'SUCCESS') (await retry(id)).refused(409)
    expect(await readDelivery(webhook, id)).toEqual(before)
  }
})

test.concurrent('an ordered webhook delays only events of the same resource', async () => {
  const [resource, other] = [unique('resource'), unique('other')]
  const { respond, letGo } = heldReply()
  const { webhook, inbox } = await subscribe(['SUBSCRIPTION_CREATED'], { about: resource, respond })
  expect(await changeWebhook(webhook, { ordered: true })).toMatchObject({ ordered: true })
  const tell = async (subject: string, n: number) =>
    (await publish({ ...platformEvent('SUBSCRIPTION_CREATED', { about: resource, n }), subject })).is(202)
  const told = () => inbox.received.map(({ payload }) => payload.data.n)
  await tell(resource, 1)
  await inbox.arrival(1)
  await tell(resource, 2)
  await tell(other, 3)
  await inbox.arrival(2)
  expect(told()).toEqual([1, 3])
  const waiting = await eventually(async () => {
    const found = (await listDeliveries(webhook)).content.find(({ payload }) => payload?.data.n === 2)
    if (!found) throw new Error('the second event has no delivery yet')
    return found
  })
  expect(waiting).toMatchObject({ status: 'CREATED', attempts: 0, waitsFor: expect.any(String) })
  letGo({ status: 200 })
  await inbox.arrival(3)
  expect(told()).toEqual([1, 3, 2])
  expect(await delivered(webhook, waiting.id, 'SUCCESS')).toMatchObject({ waitsFor: null })
})
