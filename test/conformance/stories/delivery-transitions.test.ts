import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { cancel, delivery, givenUp, happen, messageIds, retry, retrying, working } from '../src/deliveries.ts'
import { admin, eventually, platformEvent, publish, unique, uuid } from '../src/gantry.ts'
import { heldReply, type Inbox, openInbox, RECEIVER_URL, verify } from '../src/receiver.ts'
import type { Delivery, Webhook } from '../src/records.ts'
import {
  changeWebhook,
  delivered,
  deliveryAbout,
  listDeliveries,
  NEVER,
  readDelivery,
  subscribe,
} from '../src/webhooks.ts'

describe.concurrent('an event that matches an active webhook', () => {
  test('arrives signed, with the payload that the record shows', async () => {
    const { webhook, secret, inbox, about, id } = await delivery('SUBSCRIPTION_CREATED', working)
    const arrived = await inbox.arrival(1)
    expect(() => verify(secret, arrived)).not.toThrow()
    expect(arrived.headers['content-type']).toMatch(/^application\/json/)
    expect(Object.keys(arrived.payload).toSorted()).toEqual(['data', 'id', 'timestamp', 'type'])
    expect(arrived.payload).toMatchObject({ type: 'SUBSCRIPTION_CREATED', data: { about } })
    expect(arrived.payload.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(arrived.headers['webhook-id']).toBeTruthy()
    expect(Math.abs(Number(arrived.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300)
    expect(arrived.headers['webhook-signature']).toMatch(/^v1,/)

    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record).toMatchObject({
      webhook: webhook.id,
      url: webhook.url,
      eventId: arrived.payload.id,
      eventType: 'SUBSCRIPTION_CREATED',
      payload: arrived.payload,
      attempts: 1,
      nextAttemptAt: null,
      responseStatus: 200,
      failureMessage: null,
    })
    expect(record.lastAttemptAt).not.toBeNull()
    expect(record.attemptLog).toEqual([
      expect.objectContaining({
        number: 1,
        trigger: 'AUTOMATIC',
        url: webhook.url,
        responseStatus: 200,
        error: null,
        fault: null,
      }),
    ])
  })

  test('is signed so that another secret or another body does not verify', async () => {
    const { secret, inbox } = await delivery('SUBSCRIPTION_CREATED', working)
    const arrived = await inbox.arrival(1)
    const { secret: other } = await subscribe([NEVER])
    expect(() => verify(other, arrived)).toThrow()
    expect(() => verify(secret, { ...arrived, body: `${arrived.body} ` })).toThrow()
  })

  test('is CREATED while its first attempt is under way, and SUCCESS after any 2xx', async () => {
    const { respond, letGo } = heldReply()
    const { webhook, id } = await delivery('SUBSCRIPTION_DELETED', respond)
    expect((await readDelivery(webhook, id)).status).toBe('CREATED')
    letGo({ status: 204 })
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record.responseStatus).toBe(204)
  })

  test('reaches every webhook that asks for it and none that does not', async () => {
    const about = unique('event')
    const [one, two, other] = await Promise.all([
      subscribe(['APPROVAL_REQUEST_CREATED'], { about }),
      subscribe(['APPROVAL_REQUEST_DECIDED', 'APPROVAL_REQUEST_CREATED'], { about }),
      subscribe(['APPROVAL_REQUEST_DECIDED'], { about }),
    ])
    await happen('APPROVAL_REQUEST_CREATED', about)
    await Promise.all([one.inbox.arrival(1), two.inbox.arrival(1)])
    await happen('APPROVAL_REQUEST_DECIDED', about)
    await Promise.all([two.inbox.arrival(2), other.inbox.arrival(1)])
    const types = (inbox: Inbox) => inbox.received.map(({ payload }) => payload.type).toSorted()
    expect(types(one.inbox)).toEqual(['APPROVAL_REQUEST_CREATED'])
    expect(types(two.inbox)).toEqual(['APPROVAL_REQUEST_CREATED', 'APPROVAL_REQUEST_DECIDED'])
    expect(types(other.inbox)).toEqual(['APPROVAL_REQUEST_DECIDED'])
  })

  test('is matched against the current event types of a webhook that was changed', async () => {
    const about = unique('event')
    const { webhook, inbox } = await subscribe(['APPROVAL_REQUEST_CREATED'], { about })
    await changeWebhook(webhook, { events: ['APPROVAL_REQUEST_DECIDED'] })
    await happen('APPROVAL_REQUEST_CREATED', about)
    await happen('APPROVAL_REQUEST_DECIDED', about)
    await inbox.arrival(1)
    expect(inbox.received.map(({ payload }) => payload.type)).toEqual(['APPROVAL_REQUEST_DECIDED'])
  })

  test('stores a long response body truncated', async () => {
    const { webhook, id } = await delivery('CONFIGURATION_CHANGED', () => ({
      status: 200,
      body: 'x'.repeat(1_000_000),
    }))
    const { attemptLog } = await delivered(webhook, id, 'SUCCESS')
    expect(attemptLog[0]?.responseBody?.length).toBeLessThan(100_000)
  })
})

describe.concurrent('a delivery that fails', () => {
  test('is RETRYING while attempts are left, and SUCCESS after a successful one', async () => {
    const { webhook, secret, inbox, id } = await delivery('SUBSCRIPTION_CREATED', (_, number) =>
      number === 1 ? { status: 503 } : { status: 201 },
    )
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record).toMatchObject({
      attempts: 2,
      responseStatus: 201,
      failureMessage: null,
      nextAttemptAt: null,
    })
    expect(
      record.attemptLog.map(({ number, trigger, responseStatus }) => [number, trigger, responseStatus]),
    ).toEqual([
      [1, 'AUTOMATIC', 503],
      [2, 'AUTOMATIC', 201],
    ])
    expect(inbox.received).toHaveLength(2)
    expect(messageIds(inbox).size).toBe(1)
    for (const received of inbox.received) expect(() => verify(secret, received)).not.toThrow()
    expect(inbox.received[1]?.payload).toEqual(inbox.received[0]?.payload)
  })

  test('shows the failure of the last attempt while it is RETRYING', async () => {
    const { webhook, id } = await retrying('SUBSCRIPTION_CREATED')
    const record = await readDelivery(webhook, id)
    expect(record).toMatchObject({ status: 'RETRYING', attempts: 1, responseStatus: 500 })
    expect(record.failureMessage).toBeTruthy()
    expect(record.attemptLog[0]).toMatchObject({ responseStatus: 500, responseBody: 'out of order' })
  })

  test('is GIVE_UP when the attempts are exhausted', async () => {
    const { webhook, inbox, id } = await givenUp('SUBSCRIPTION_DELETED')
    const record = await readDelivery(webhook, id)
    expect(record).toMatchObject({ attempts: 3, responseStatus: 500, nextAttemptAt: null })
    expect(record.failureMessage).toBeTruthy()
    expect(record.attemptLog).toHaveLength(3)
    expect(inbox.received).toHaveLength(3)
    expect(messageIds(inbox).size).toBe(1)
    const starts = record.attemptLog.map(({ startedAt }) => Date.parse(startedAt))
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(155)
    expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThanOrEqual(315)
    expect((await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)).toMatchObject({
      active: true,
      disabledReason: null,
    })
  })

  test('is GIVE_UP at once after a 410, which also disables the webhook', async () => {
    const { webhook, inbox, id } = await delivery('SUBSCRIPTION_DELETED', () => ({ status: 410 }))
    expect(await delivered(webhook, id, 'GIVE_UP')).toMatchObject({
      attempts: 1,
      responseStatus: 410,
      nextAttemptAt: null,
    })
    const disabled = await eventually(async () => {
      const read = (await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)
      expect(read.active).toBe(false)
      return read
    })
    expect(disabled.disabledReason).toBeTruthy()
    expect(inbox.received).toHaveLength(1)
    expect(await changeWebhook(webhook, { active: true })).toMatchObject({
      active: true,
      disabledReason: null,
    })
  })

  test('is one with a redirect as response, which is not followed', async () => {
    const elsewhere = openInbox()
    const { webhook, id } = await delivery('CONFIGURATION_CHANGED', () => ({
      status: 307,
      headers: { location: elsewhere.url },
    }))
    expect(await delivered(webhook, id, 'GIVE_UP')).toMatchObject({ responseStatus: 307 })
    expect(elsewhere.received).toEqual([])
  })

  test('is one whose connection is refused', async () => {
    const closed = await new Promise<number>(resolve => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const address = server.address()
        server.close(() => resolve(typeof address === 'object' && address ? address.port : 1))
      })
    })
    const about = unique('event')
    const { webhook } = await subscribe(['CONFIGURATION_CHANGED'], { about })
    await changeWebhook(webhook, { url: `http://${new URL(RECEIVER_URL).hostname}:${closed}/` })
    await happen('CONFIGURATION_CHANGED', about)
    const { id } = await deliveryAbout(webhook, about)
    const record = await delivered(webhook, id, 'GIVE_UP')
    expect(record.responseStatus).toBeNull()
    expect(record.failureMessage).toBeTruthy()
    expect(
      record.attemptLog.every(({ error, responseStatus }) => error !== null && responseStatus === null),
    ).toBe(true)
  })

  test('waits as long as Retry-After of a 503 asks', async () => {
    const { webhook, id } = await delivery('APPROVAL_REQUEST_CREATED', (_, number) =>
      number === 1 ? { status: 503, headers: { 'retry-after': '2' } } : { status: 200 },
    )
    const { attemptLog } = await delivered(webhook, id, 'SUCCESS')
    const [first, second] = attemptLog.map(({ startedAt }) => Date.parse(startedAt))
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1900)
  })

  test('uses a changed URL of the webhook in its next attempt', async () => {
    const { webhook, inbox, about, id } = await retrying('APPROVAL_REQUEST_DECIDED')
    const moved = openInbox(about)
    await changeWebhook(webhook, { url: moved.url, active: true })
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record.attemptLog.map(({ url }) => url)).toEqual([inbox.url, moved.url])
    expect(moved.received[0]?.headers['webhook-id']).toBe(inbox.received[0]?.headers['webhook-id'])
  })
})

describe.concurrent('cancelling', () => {
  test('a CREATED delivery makes it CANCELLED', async () => {
    const { respond, letGo } = heldReply()
    const { webhook, id, inbox } = await delivery('SUBSCRIPTION_CREATED', respond)
    expect((await cancel(id)).as<Delivery>(200)).toMatchObject({
      id,
      status: 'CANCELLED',
      nextAttemptAt: null,
    })
    letGo({ status: 500 })
    expect((await readDelivery(webhook, id)).status).toBe('CANCELLED')
    // Another delivery that exhausts its attempts ends after the last possible retry of the cancelled one.
    await givenUp('SUBSCRIPTION_DELETED')
    expect((await readDelivery(webhook, id)).status).toBe('CANCELLED')
    expect(inbox.received).toHaveLength(1)
  })

  test('a RETRYING delivery makes it CANCELLED', async () => {
    const { webhook, id, inbox } = await retrying('SUBSCRIPTION_CREATED')
    expect((await cancel(id)).as<Delivery>(200)).toMatchObject({
      id,
      status: 'CANCELLED',
      nextAttemptAt: null,
    })
    expect(await readDelivery(webhook, id)).toMatchObject({ status: 'CANCELLED', attempts: 1 })
    await changeWebhook(webhook, { active: true })
    await givenUp('SUBSCRIPTION_DELETED')
    expect(await readDelivery(webhook, id)).toMatchObject({ status: 'CANCELLED', attempts: 1 })
    expect(inbox.received).toHaveLength(1)
  })

  test('a SUCCESS, GIVE_UP or CANCELLED delivery is refused and changes nothing', async () => {
    const done = await delivery('SUBSCRIPTION_CREATED', working)
    await delivered(done.webhook, done.id, 'SUCCESS')
    const hopeless = await givenUp('SUBSCRIPTION_CREATED')
    const cancelled = await retrying('SUBSCRIPTION_CREATED')
    ;(await cancel(cancelled.id)).is(200)
    for (const { webhook, id } of [done, hopeless, cancelled]) {
      const before = await readDelivery(webhook, id)
      ;(await cancel(id)).refused(409)
      expect(await readDelivery(webhook, id)).toEqual(before)
    }
  })
})

describe.concurrent('retrying by hand', () => {
  test('a GIVE_UP delivery makes it RETRYING, with one attempt now', async () => {
    const { webhook, inbox, id } = await givenUp('SUBSCRIPTION_DELETED')
    const { respond, letGo } = heldReply()
    inbox.respond = respond
    expect((await retry(id)).as<Delivery>(200)).toMatchObject({ id, status: 'RETRYING' })
    await inbox.arrival(4)
    letGo({ status: 200 })
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record.attemptLog.map(({ trigger }) => trigger)).toEqual([
      'AUTOMATIC',
      'AUTOMATIC',
      'AUTOMATIC',
      'MANUAL',
    ])
    expect(record.attemptLog.map(({ number }) => number)).toEqual([1, 2, 3, 4])
    expect(messageIds(inbox).size).toBe(1)
  })

  test('starts the retry schedule again before the delivery is GIVE_UP', async () => {
    const { webhook, inbox, id } = await givenUp('SUBSCRIPTION_DELETED')
    ;(await retry(id)).is(200)
    await inbox.arrival(6)
    const record = await delivered(webhook, id, 'GIVE_UP')
    expect(record.attemptLog.map(({ trigger }) => trigger)).toEqual([
      'AUTOMATIC',
      'AUTOMATIC',
      'AUTOMATIC',
      'MANUAL',
      'AUTOMATIC',
      'AUTOMATIC',
    ])
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
    const record = await delivered(webhook, id, 'SUCCESS')
    expect(record.attemptLog.map(({ trigger }) => trigger)).toEqual(['AUTOMATIC', 'MANUAL'])
    expect(inbox.received).toHaveLength(2)
  })

  test('a SUCCESS or CREATED delivery is refused and changes nothing', async () => {
    const done = await delivery('SUBSCRIPTION_CREATED', working)
    const before = await delivered(done.webhook, done.id, 'SUCCESS')
    ;(await retry(done.id)).refused(409)
    expect(await readDelivery(done.webhook, done.id)).toEqual(before)

    const { respond, letGo } = heldReply()
    const created = await delivery('SUBSCRIPTION_CREATED', respond)
    ;(await retry(created.id)).refused(409)
    letGo({ status: 200 })
    expect(await delivered(created.webhook, created.id, 'SUCCESS')).toMatchObject({ attempts: 1 })
  })

  test('a delivery that does not exist answers 404', async () => {
    ;(await retry(uuid())).refused(404)
    ;(await cancel(uuid())).refused(404)
    const { webhook } = await subscribe([NEVER])
    ;(await admin.get(`/webhooks/${webhook.id}/requests/${uuid()}`)).refused(404)
  })
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
