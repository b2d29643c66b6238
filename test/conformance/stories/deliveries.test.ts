import { describe, expect, test } from 'vitest'
import { createApi, createVersion } from '../src/apis.ts'
import {
  cancel,
  delivery,
  failing,
  givenUp,
  retry,
  retrying,
  testWebhook,
  working,
} from '../src/deliveries.ts'
import { admin, eventually, findListed, unique } from '../src/gantry.ts'
import { happen } from '../src/platform-events.ts'
import { heldReply, verify } from '../src/receiver.ts'
import type { Delivery, Page, Webhook } from '../src/records.ts'
import { scopedTo } from '../src/users.ts'
import { changeWebhook, delivered, listDeliveries, NEVER, readDelivery, subscribe } from '../src/webhooks.ts'

describe.concurrent('an inactive webhook', () => {
  test('gets no deliveries for events of its inactive time', async () => {
    const about = unique('event')
    const { webhook, inbox } = await subscribe(['CONFIGURATION_CHANGED'], { about })
    const witness = await subscribe(['CONFIGURATION_CHANGED'], { about })
    await changeWebhook(webhook, { active: false })
    await happen('CONFIGURATION_CHANGED', `${about}-while-inactive`)
    await witness.inbox.arrival(1)
    // Read while inactive: a message that is redelivered after the activation finds an active webhook.
    const { content } = await listDeliveries(webhook)
    expect(content.filter(({ payload }) => JSON.stringify(payload).includes(about))).toEqual([])
    await changeWebhook(webhook, { active: true })
    await happen('CONFIGURATION_CHANGED', `${about}-while-active`)
    await eventually(() =>
      expect(inbox.received.map(({ payload }) => payload.data.about)).toContain(`${about}-while-active`),
    )
  })

  test('is not called: pending deliveries wait until it is active again, also if a user retries them', async () => {
    const { webhook, inbox, id } = await retrying('CONFIGURATION_CHANGED')
    inbox.respond = working
    const waiting = await readDelivery(webhook, id)
    const unplanned = { status: 'RETRYING', attempts: 1, nextAttemptAt: null }
    expect(waiting).toMatchObject(unplanned)
    expect((await retry(id)).as<Delivery>(200)).toMatchObject(unplanned)
    // Another delivery that exhausts its attempts ends after the last possible retry of this one.
    await givenUp('CONFIGURATION_CHANGED')
    expect(await readDelivery(webhook, id)).toMatchObject(unplanned)

    await changeWebhook(webhook, { active: true })
    expect(await delivered(webhook, id, 'SUCCESS')).toMatchObject({ attempts: 2 })
    expect(inbox.received).toHaveLength(2)
  })
})

describe.concurrent('testing a webhook', () => {
  test('returns the delivery, which is attempted immediately', async () => {
    const respond = () => ({ status: 200, headers: { 'x-served-by': 'a', 'set-cookie': 'session=1' } })
    const { webhook, secret, inbox } = await subscribe([NEVER], { respond })
    const made = await testWebhook(webhook)
    expect(made).toMatchObject({ webhook: webhook.id, eventType: 'TEST' })
    const arrived = await inbox.arrival(1)
    expect(() => verify(secret, arrived)).not.toThrow()
    expect(arrived.payload.type).toBe('TEST')
    const record = await delivered(webhook, made.id, 'SUCCESS')
    const [attempt] = record.attemptLog
    expect(attempt).toMatchObject({
      trigger: 'TEST',
      requestHeaders: {
        'webhook-id': made.id,
        'webhook-timestamp': arrived.headers['webhook-timestamp'],
        'webhook-signature': '***',
        'content-type': 'application/json',
      },
      responseHeaders: { 'x-served-by': 'a', 'set-cookie': '***' },
    })
  })

  test('makes one attempt, even if it fails and the webhook is inactive; meanwhile the delivery is CREATED', async () => {
    const { respond, letGo } = heldReply()
    const { webhook, inbox } = await subscribe([NEVER], { respond })
    await changeWebhook(webhook, { active: false })
    const made = await testWebhook(webhook)
    expect(made.status).toBe('CREATED')
    expect((await readDelivery(webhook, made.id)).id).toBe(made.id)
    letGo({ status: 500 })
    expect(await delivered(webhook, made.id, 'GIVE_UP')).toMatchObject({ attempts: 1, responseStatus: 500 })
    expect(inbox.received).toHaveLength(1)
  })
})

describe.concurrent('the health of a webhook', () => {
  test('follows from the latest attempts to its current URL', async () => {
    const { webhook, inbox } = await subscribe([NEVER])
    const path = `/webhooks/${webhook.id}`
    const read = async () => (await admin.get(path)).as<Webhook>(200).health
    const none = { attempts: 0, successRate: null, p95LatencyMs: null, consecutiveFailures: 0 }
    expect(webhook.health).toEqual({ ...none, failingSince: null, circuit: 'CLOSED', pausedUntil: null })
    const tested = async (status: string) => delivered(webhook, (await testWebhook(webhook)).id, status)
    await tested('SUCCESS')
    const before = (await admin.get(path)).headers.get('etag')
    inbox.respond = failing
    const first = await tested('GIVE_UP')
    await tested('GIVE_UP')
    expect(await read()).toEqual({
      attempts: 3,
      successRate: 1 / 3,
      p95LatencyMs: expect.any(Number),
      consecutiveFailures: 2,
      failingSince: first.attemptLog[0]?.startedAt,
      circuit: 'CLOSED',
      pausedUntil: null,
    })
    ;(await admin.get(path, {}, { headers: { 'if-none-match': before ?? '' } })).is(200)
    await eventually(async () =>
      expect(await findListed<Webhook>('/webhooks', webhook.id)).toMatchObject({
        health: { attempts: 3, consecutiveFailures: 2 },
        oldSecretValidUntil: null,
      }),
    )
    await changeWebhook(webhook, { url: `${inbox.url}/corrected` })
    expect(await read()).toMatchObject(none)
    const at = new Date().toISOString()
    expect((await admin.get(path, { at })).as<Webhook>(200)).toMatchObject({ health: null })
  })
})

describe.concurrent('a rotated secret', () => {
  test('is new and shown once, and the old secret also verifies for a day', async () => {
    const { webhook, secret, inbox } = await subscribe([NEVER])
    const rotated = (await admin.post(`/webhooks/${webhook.id}/rotateSecret`)).as<
      Webhook & { secret: string }
    >(200)
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(secret)
    const shown = (await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)
    expect(shown).not.toHaveProperty('secret')
    expect(shown.oldSecretValidUntil).toBe(rotated.oldSecretValidUntil)
    const hours = (Date.parse(shown.oldSecretValidUntil ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThan(24.1)

    await testWebhook(webhook)
    const arrived = await inbox.arrival(1)
    expect(String(arrived.headers['webhook-signature']).split(' ')).toHaveLength(2)
    expect(() => verify(secret, arrived)).not.toThrow()
    expect(() => verify(rotated.secret, arrived)).not.toThrow()
  })
})

describe.concurrent('the history', () => {
  test('of a webhook is listed in pages and filtered by status', async () => {
    const { webhook, inbox } = await subscribe([NEVER])
    const succeeded: string[] = []
    for (const _ of [1, 2, 3]) succeeded.push((await testWebhook(webhook)).id)
    for (const id of succeeded) await delivered(webhook, id, 'SUCCESS')
    inbox.respond = failing
    const failed = await testWebhook(webhook)
    await delivered(webhook, failed.id, 'GIVE_UP')

    expect((await listDeliveries(webhook)).totalElements).toBe(4)
    const pages = await Promise.all([1, 2, 3].map(page => listDeliveries(webhook, { page, size: 2 })))
    expect(pages.flatMap(page => page.content.map(({ id }) => id)).toSorted()).toEqual(
      [...succeeded, failed.id].toSorted(),
    )
    expect(pages.map(page => page.last)).toEqual([false, true, true])
    ;(await admin.get(`/webhooks/${webhook.id}/requests`, { size: 0 })).refused(400)
    expect(await readDelivery(webhook, failed.id)).toMatchObject({ id: failed.id, webhook: webhook.id })

    const { webhook: other } = await subscribe([NEVER])
    ;(await admin.get(`/webhooks/${other.id}/requests/${failed.id}`)).refused(404)
  })

  test('of all webhooks is listed and filtered by status', async () => {
    const done = await delivery('SUBSCRIPTION_CREATED', working)
    await delivered(done.webhook, done.id, 'SUCCESS')
    const hopeless = await givenUp('SUBSCRIPTION_CREATED')
    const waiting = await retrying('SUBSCRIPTION_CREATED')
    const cancelled = await retrying('SUBSCRIPTION_CREATED')
    ;(await cancel(cancelled.id)).is(200)
    const { respond, letGo } = heldReply()
    const fresh = await delivery('SUBSCRIPTION_CREATED', respond)

    const expected = {
      SUCCESS: done,
      GIVE_UP: hopeless,
      RETRYING: waiting,
      CANCELLED: cancelled,
      CREATED: fresh,
    }
    for (const [status, { id }] of Object.entries(expected)) {
      const page = (await admin.get('/webhooks/requests', { status, size: 100 })).as<Page<Delivery>>(200)
      expect(page.content.every(record => record.status === status)).toBe(true)
      expect(await findListed<Delivery>('/webhooks/requests', id, { status })).toMatchObject({ id, status })
      expect(await findListed<Delivery>('/webhooks/requests', id)).toMatchObject({ id, status })
    }
    expect(await findListed<Delivery>('/webhooks/requests', done.id, { status: 'GIVE_UP' })).toBeUndefined()
    letGo({ status: 200 })
    ;(await admin.get('/webhooks/requests', { status: 'LOST' })).refused(400)
  })

  test('is filtered by event, type, time of creation, webhook and APIs; the latter only for readers of the event', async () => {
    const first = await subscribe(['API_CREATED', 'API_VERSION_CREATED'])
    const second = await subscribe(['API_CREATED'])
    await changeWebhook(second.webhook, { format: 'CLOUDEVENTS_BATCHED' })
    const [api, other] = [await createApi(), await createApi()]
    await createVersion(api)
    const [path, all] = [`/webhooks/${first.webhook.id}/requests`, '/webhooks/requests']
    const found = async (of: string, query: Record<string, string>, client = admin) => {
      const { content } = (await client.get(of, { size: 100, ...query })).as<Page<Delivery>>(200)
      return content.filter(({ webhook }) => [first.webhook.id, second.webhook.id].includes(webhook))
    }
    const ofApi = await eventually(async () => {
      const records = await found(all, { api: api.id })
      expect(records).toHaveLength(3)
      expect(await found(path, { api: other.id })).toHaveLength(1)
      return records
    })
    const own = await found(path, { api: api.id })
    expect(own.map(({ eventType }) => eventType).toSorted()).toEqual(['API_CREATED', 'API_VERSION_CREATED'])
    const event = ofApi.find(({ eventType }) => eventType === 'API_CREATED')?.eventId ?? ''
    const ofEvent = await found(all, { eventId: event })
    expect(ofEvent.map(({ webhook }) => webhook).toSorted()).toEqual(
      [first.webhook.id, second.webhook.id].toSorted(),
    )
    expect(await found(path, { eventId: event, api: other.id })).toEqual([])
    const ofBoth = await found(all, { api: `${api.id},${other.id}`, webhook: second.webhook.id })
    expect(ofBoth.map(record => record.api).toSorted()).toEqual([api.id, other.id].toSorted())
    const reader = await scopedTo('WEBHOOKS_READ')
    expect(await found(all, { api: api.id }, reader)).toEqual([])
    const shown = await found(all, { eventId: event }, reader)
    expect(shown.map(record => record.api)).toEqual([null, null])
    ;(await admin.get(all, { api: 'petstore' })).refused(400)

    // By id: the first attempts may end meanwhile.
    const those = async (query: Record<string, string>) =>
      (await found(path, { api: api.id, ...query })).map(({ id }) => id)
    const being = (kept: (record: Delivery) => boolean) => own.filter(kept).map(({ id }) => id)
    const last = own.map(({ createdAt }) => createdAt).toSorted()[1] ?? ''
    expect(await those({ eventType: 'API_CREATED' })).toEqual(being(is => is.eventType === 'API_CREATED'))
    expect(await those({ eventType: 'API_DELETED' })).toEqual([])
    expect(await those({ to: last })).toEqual(being(({ createdAt }) => createdAt < last))
    const latest = being(({ createdAt }) => createdAt >= last)
    expect(await those({ from: last.replace('Z', '+00:00') })).toEqual(latest)
    expect(await those({ from: last, to: last })).toEqual([])
    ;(await admin.get(path, { from: 'yesterday' })).refused(400)
  })

  test('is filtered by time of the last attempt, also of a delivery that was created before', async () => {
    const { webhook, id } = await givenUp('SUBSCRIPTION_CREATED')
    const { createdAt, lastAttemptAt, attemptLog } = await readDelivery(webhook, id)
    const [first, last] = [attemptLog[0]?.startedAt ?? '', lastAttemptAt ?? '']
    expect(createdAt < last && first < last).toBe(true)
    const count = async (query: object) => (await listDeliveries(webhook, query)).totalElements
    const failed = { status: 'GIVE_UP' }
    expect(await count({ ...failed, lastAttemptFrom: last, to: last })).toBe(1)
    expect(await count({ ...failed, lastAttemptFrom: first, lastAttemptTo: last })).toBe(0)
    expect(await findListed<Delivery>('/webhooks/requests', id, { lastAttemptFrom: last })).toMatchObject({
      id,
    })
    ;(await admin.get('/webhooks/requests', { lastAttemptTo: '2026-11-28' })).refused(400)
  })

  test('is kept after the webhook was deleted, and its pending deliveries are CANCELLED', async () => {
    const pending = await retrying('SUBSCRIPTION_DELETED')
    ;(await admin.delete(`/webhooks/${pending.webhook.id}`)).is(204)
    ;(await admin.get(`/webhooks/${pending.webhook.id}/requests`)).refused(404)
    const record = await eventually(async () => {
      const found = await findListed<Delivery>('/webhooks/requests', pending.id)
      expect(found?.status).toBe('CANCELLED')
      return found
    })
    expect(record).toMatchObject({ webhook: pending.webhook.id, attempts: 1 })
    ;(await retry(pending.id)).refused(409, 'webhook-deleted')
    expect(pending.inbox.received).toHaveLength(1)
  })
})
