import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { subjects } from '@gantry/contracts'
import { requestRebuild } from '@gantry/event-sourcing'
import type { Json, StoredMessage } from '@gantry/messaging'
import { ReadModelsUnavailable } from '@gantry/read-models'
import type { Dependencies } from '@gantry/service-kit'
import { administrator } from '@gantry/service-kit/testing'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { hostNotifier, openNotifier } from './testing/notifier-host.ts'
import { delayedReply, failing, openReceiver, type Receiver } from './testing/receiver.ts'

const EVENT = 'e3a0c1b2-7f4d-4b8e-8a57-2d9c3e1f0b02'
/** The administrator who calls. */
const GRACE = administrator.userId
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

let host: Awaited<ReturnType<typeof hostNotifier>>
let receiver: Receiver
let clock: Date | undefined
beforeEach(async () => {
  clock = undefined
  receiver = await openReceiver()
  host = await hostNotifier({}, { now: () => clock ?? new Date() })
})
afterEach(async () => {
  receiver.close()
  await host.close()
})

const verify = (secret: string, { body, headers }: { body: string; headers: object }) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

/** Public events of a type that the notifier has published, in order. */
const told = async (type: string) => {
  const messages: StoredMessage[] = []
  await vi.waitFor(async () => {
    messages.length = 0
    const signal = new AbortController().signal
    for await (const message of host.dependencies.bus.read({
      subjects: ['events.>'],
      after: 0,
      live: false,
      signal,
    }))
      if (message.subject.endsWith(`.${type}`)) messages.push(message)
    expect(messages).not.toEqual([])
  })
  return messages.map(({ subject, data }) => ({ on: subject, ...(data as Record<string, unknown>) }))
}

describe('a webhook', () => {
  test('returns its secret once and stores it encrypted', async () => {
    const { secret, ...webhook } = await host.subscribe(receiver.url('/a'), ['API_CREATED'], {
      displayName: 'Übrige Täler',
    })
    expect(webhook).toMatchObject({ name: 'ubrige-taler', active: true, disabledReason: null })
    const read = await host.call('GET', `/webhooks/${webhook.id}`)
    expect(read.body).toEqual(webhook)
    expect((await host.call('GET', '/webhooks')).body).toMatchObject({ totalElements: 1, content: [webhook] })
    await host.call('POST', `/webhooks/${webhook.id}/rotateSecret`)

    await host.restart()
    const stored = ['events.db', 'read-models.db', 'messages.db']
      .flatMap(name => ['', '-wal'].map(suffix => join(host.folder, name + suffix)))
      .map(path => readFileSync(path).toString('latin1'))
      .join()
    expect(stored).toContain(webhook.id)
    expect(stored).not.toContain(secret.slice('whsec_'.length))
  })

  test('is changed, and its secret shown, although its health cannot be read', async () => {
    let list: (() => Promise<never>) | undefined
    const around = (dependencies: Dependencies): Dependencies => ({
      ...dependencies,
      readModels: {
        ...dependencies.readModels,
        collection(definition) {
          const collection = dependencies.readModels.collection(definition)
          return { ...collection, list: query => (list ?? (() => collection.list(query)))() }
        },
      },
    })
    const { call, subscribe } = await openNotifier({}, { around })
    const fields = { displayName: 'Hook', url: receiver.url('/a'), events: ['TEST'] }
    list = () => Promise.reject(new ReadModelsUnavailable('away'))
    const webhook = await subscribe(receiver.url('/a'), ['TEST'])
    expect(webhook).toMatchObject({ secret: expect.any(String), health: { attempts: 0, circuit: 'CLOSED' } })
    const path = `/webhooks/${webhook.id}`
    expect((await call('GET', path)).status).toBe(503)
    const changed = { status: 200, body: { displayName: 'Other', health: null } }
    expect(await call('PUT', path, { ...fields, displayName: 'Other' })).toMatchObject(changed)
    const rotated = { status: 200, body: { secret: expect.any(String), health: null } }
    expect(await call('POST', `${path}/rotateSecret`)).toMatchObject(rotated)
    const slow = Promise.withResolvers<never>()
    list = () => slow.promise
    expect(await call('POST', `${path}/rotateSecret`)).toMatchObject(rotated)
    slow.reject(new ReadModelsUnavailable('away'))
  })

  test('is created once per Idempotency-Key; the repeated request gets the same secret, also after a restart', async () => {
    const fields = { displayName: 'Hook', url: receiver.url('/a'), active: true, eventTypes: ['TEST'] }
    const key = { 'idempotency-key': 'k-1' }
    const first = await host.call('POST', '/webhooks', fields, key)
    await host.restart()
    const again = await host.call('POST', '/webhooks', fields, key)
    expect(again.body).toEqual(first.body)
    expect((await host.call('GET', '/webhooks')).body.totalElements).toBe(1)
    await host.dependencies.readModels.drop({ name: 'notifier.idempotency', version: 1 })
    expect((await host.call('POST', '/webhooks', fields, key)).body).toEqual(first.body)
  })

  test.for([
    ['creation', 201],
    ['rotation', 200],
  ] as const)(
    'repeats the secret of a %s only to the credential that got it first',
    async ([what, status]) => {
      const fields = { displayName: 'Hook', url: receiver.url('/a'), active: true, eventTypes: ['TEST'] }
      const { id, secret: before } = await host.subscribe(receiver.url('/b'), ['TEST'])
      const url = what === 'creation' ? '/webhooks' : `/webhooks/${id}/rotateSecret`
      const ask = (credentialId: string) => {
        host.actAs({ ...administrator, credentialId })
        return host.call('POST', url, what === 'creation' ? fields : undefined, { 'idempotency-key': 'k-1' })
      }
      const first = await ask('login-1')
      expect(first).toMatchObject({ status, body: { secret: expect.stringMatching(/^whsec_/) } })
      expect(first.body.secret).not.toBe(before)
      const withheld = { ...first.body, secret: null, secretWithheld: true }
      expect(await ask('login-2')).toMatchObject({ status, body: withheld })
      expect((await ask('login-1')).body).toEqual(first.body)
    },
  )

  test('is refused with unknown event types; the problem lists the known ones', async () => {
    const fields = {
      displayName: 'Hook',
      url: receiver.url('/a'),
      active: true,
      eventTypes: ['API_EXPLODED', 'TEST'],
    }
    const refused = await host.call('POST', '/webhooks', fields)
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'unknown-event-types', unknown: ['API_EXPLODED'] },
    })
    expect(refused.body.known).toContain('API_DEPLOYED')
    const webhook = await host.subscribe(receiver.url('/a'), ['TEST'])
    const body = { displayName: 'Hook', url: webhook.url, events: ['toString'] }
    expect((await host.call('PUT', `/webhooks/${webhook.id}`, body)).status).toBe(400)
  })

  test('is changed and deleted only if its ETag matches If-Match', async () => {
    const { id, url } = await host.subscribe(receiver.url('/a'), ['TEST'])
    const first = await host.call('GET', `/webhooks/${id}`)
    const tag = String(first.headers.etag)
    const fields = { displayName: 'Other', url, events: ['API_CREATED'] }
    expect((await host.call('GET', `/webhooks/${id}`, undefined, { 'if-none-match': tag })).status).toBe(304)
    await host.call('POST', `/webhooks/${id}/rotateSecret`)
    expect((await host.call('PUT', `/webhooks/${id}`, fields, { 'if-match': tag })).status).toBe(200)
    expect((await host.call('PUT', `/webhooks/${id}`, fields, { 'if-match': tag })).status).toBe(412)
    expect((await host.call('DELETE', `/webhooks/${id}`, undefined, { 'if-match': tag })).status).toBe(412)
    expect((await host.call('DELETE', `/webhooks/${id}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE'] as const)
      expect((await host.call(method, `/webhooks/${id}`)).body.code).toBe('webhook-not-found')
  })

  test('has public events without its secret', async () => {
    const { id, secret } = await host.subscribe(receiver.url('/a'), ['TEST'])
    await host.call('DELETE', `/webhooks/${id}`)
    const [deleted] = await told('WEBHOOK_DELETED')
    expect(deleted).toMatchObject({ on: 'events.notifier.WEBHOOK_DELETED', subject: id, source: 'notifier' })
    const all = JSON.stringify([...(await told('WEBHOOK_CREATED')), deleted])
    expect(all).not.toMatch(/secret/)
    expect(all).not.toContain(secret)
  })
})

describe('an event', () => {
  test('is delivered to every active webhook with its type, signed, as recorded', async () => {
    const webhook = await host.subscribe(receiver.url('/a'), ['API_DEPLOYED', 'API_CREATED'])
    await host.subscribe(receiver.url('/b'), ['API_CREATED'])
    await host.subscribe(receiver.url('/other'), ['API_DELETED'])
    await host.subscribe(receiver.url('/inactive'), ['API_CREATED'], { active: false })
    await host.happen({ id: EVENT, type: 'API_CREATED', data: { name: 'größe \u{1f680}' } })
    const [arrival] = await receiver.arrivals('/a', 1)
    await receiver.arrivals('/b', 1)
    if (!arrival) throw new Error('nothing arrived')
    expect(verify(webhook.secret, arrival)).toEqual({
      id: EVENT,
      type: 'API_CREATED',
      timestamp: '2099-11-21T10:00:00.000Z',
      data: { name: 'größe \u{1f680}' },
    })
    expect(arrival.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `Gantry/${manifest.version}`,
      'content-length': String(Buffer.byteLength(arrival.body)),
    })
    await vi.waitFor(async () => expect(await host.history('status=SUCCESS')).toHaveLength(2))
    const record = (await host.history()).find(each => each.webhook === webhook.id)
    expect(record).toMatchObject({
      id: arrival.headers['webhook-id'],
      eventId: EVENT,
      payload: JSON.parse(arrival.body),
      attempts: 1,
      responseStatus: 200,
      failureMessage: null,
      attemptLog: [{ number: 1, trigger: 'AUTOMATIC', url: webhook.url, error: null }],
    })
    expect((await host.call('GET', `/webhooks/${webhook.id}/requests/${record?.id}`)).body).toEqual(record)
    expect(receiver.on('/other')).toEqual([])
    expect(receiver.on('/inactive')).toEqual([])
  })

  test('that is published twice creates one delivery', async () => {
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' }, uuid(1))
    await host.happen({ id: EVENT, type: 'API_CREATED' }, uuid(2))
    await host.happen({ id: uuid(3), type: 'API_CREATED' })
    await receiver.arrivals('/a', 2)
    await vi.waitFor(async () => expect(await host.history('status=SUCCESS')).toHaveLength(2))
    expect(
      receiver
        .on('/a')
        .map(({ body }) => JSON.parse(body).id)
        .toSorted(),
    ).toEqual([uuid(3), EVENT])
  })

  test('is delivered to every webhook that was created before it', async () => {
    for (let n = 1; n <= 20; n++) {
      await host.subscribe(receiver.url(`/${n}`), ['API_CREATED'])
      await host.happen({ id: uuid(n), type: 'API_CREATED' })
    }
    for (let n = 1; n <= 20; n++) await receiver.arrivals(`/${n}`, 21 - n)
  })

  test('from long before the creation of a webhook is not delivered to it when it is published again', async () => {
    const { createdAt } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const before = (ms: number) => new Date(Date.parse(createdAt) - ms).toISOString()
    await host.happen({ id: uuid(1), type: 'API_CREATED', time: before(61_000) })
    await host.happen({ id: uuid(2), type: 'API_CREATED', time: before(30_000) })
    await receiver.arrivals('/a', 1)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('that is too large to be stored does not block later events', async () => {
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: uuid(1), type: 'API_CREATED', data: { text: 'x'.repeat(1_048_576) } })
    await host.happen({ id: uuid(2), type: 'API_CREATED' })
    await receiver.arrivals('/a', 1)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('is delivered to more webhooks than fit a page', async () => {
    const { dependencies } = host
    const { webhooks } = await import('./webhook/webhook.projection.ts')
    const template = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const stored = await dependencies.readModels.collection(webhooks).get(template.id)
    if (!stored) throw new Error('no webhook')
    const copies = Array.from({ length: 600 }, (_, n) => ({ ...stored.doc, id: uuid(n) }))
    await dependencies.readModels.write(
      copies.map(doc => ({ collection: webhooks, id: doc.id, doc, revision: 0 })),
    )
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const arrived = await receiver.arrivals('/a', 601)
    expect(new Set(arrived.map(({ headers }) => headers['webhook-id'])).size).toBe(601)
  })
})

describe('a failing delivery', () => {
  test('is retried on schedule with the same id and bytes and a new signature, then given up', async () => {
    receiver.respond = failing
    const { secret } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const record = await host.only('GIVE_UP')
    const arrived = receiver.on('/a')
    expect(arrived).toHaveLength(3)
    expect(new Set(arrived.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
    for (const arrival of arrived) expect(() => verify(secret, arrival)).not.toThrow()
    expect(record).toMatchObject({
      attempts: 3,
      responseStatus: 500,
      failureMessage: 'http-status: answered 500',
      nextAttemptAt: null,
    })
    expect(record.attemptLog.map(({ error, responseBody }) => [error, responseBody])).toEqual(
      Array(3).fill(['http-status', 'out of order']),
    )
    const [first = 0, second = 0, third = 0] = record.attemptLog.map(({ startedAt }) => Date.parse(startedAt))
    expect(second - first).toBeGreaterThanOrEqual(100)
    expect(third - second).toBeGreaterThanOrEqual(200)
  })

  test('waits for the Retry-After of the receiver', async () => {
    receiver.respond = (_, number) =>
      number === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 }
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const { attemptLog } = await host.only('SUCCESS')
    const [first = 0, second = 0] = attemptLog.map(({ startedAt }) => Date.parse(startedAt))
    expect(second - first).toBeGreaterThanOrEqual(1_000)
  })

  test('with a 410 is given up and disables the webhook until it is made active again', async () => {
    receiver.respond = () => ({ status: 410 })
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    await host.only('GIVE_UP')
    await vi.waitFor(async () =>
      expect((await host.call('GET', `/webhooks/${webhook.id}`)).body).toMatchObject({
        active: false,
        disabledReason: 'the endpoint answered 410 Gone',
      }),
    )
    await host.update(webhook, { active: true })
    expect((await host.call('GET', `/webhooks/${webhook.id}`)).body).toMatchObject({
      active: true,
      disabledReason: null,
    })
    expect(await told('WEBHOOK_DISABLED')).toMatchObject([{ actor: { id: null, name: 'notifier' } }])
  })

  test('is retried at the current URL of the webhook', async () => {
    const { respond, letGo } = delayedReply({ status: 500 })
    receiver.respond = arrival => (arrival.path === '/a' ? respond(arrival, 1) : { status: 200 })
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    await receiver.arrivals('/a', 1)
    await host.update(webhook, { url: receiver.url('/b') })
    letGo()
    const record = await host.only('SUCCESS')
    expect(record.attemptLog.map(({ url }) => url)).toEqual([receiver.url('/a'), receiver.url('/b')])
    expect(record.url).toBe(receiver.url('/b'))
  })

  test('waits while its webhook is inactive and continues when it is active again', async () => {
    const { respond, letGo } = delayedReply({ status: 500 })
    receiver.respond = respond
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    await receiver.arrivals('/a', 1)
    await host.update(webhook, { active: false })
    letGo()
    await host.only('RETRYING')
    // A test is still sent, after the retry has been due for a while.
    receiver.respond = (_, number) => ({ status: number === 2 ? 500 : 200 })
    await vi.waitFor(async () =>
      expect(Date.parse((await host.only('RETRYING')).nextAttemptAt ?? '')).toBeLessThan(Date.now() - 100),
    )
    expect((await host.call('POST', `/webhooks/${webhook.id}/test`)).status).toBe(202)
    await receiver.arrivals('/a', 2)
    await vi.waitFor(async () => expect(await host.history('status=GIVE_UP')).toHaveLength(1))
    expect(await host.history('status=RETRYING')).toMatchObject([{ attempts: 1 }])
    await host.update(webhook, { active: true })
    await vi.waitFor(async () =>
      expect(await host.history('status=SUCCESS')).toMatchObject([{ attempts: 2 }]),
    )
  })
})

describe('a user', () => {
  test('can retry a delivery that was given up; the attempt starts at once', async () => {
    receiver.respond = failing
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const { id } = await host.only('GIVE_UP')
    receiver.respond = () => ({ status: 200 })
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).body).toMatchObject({
      id,
      status: 'RETRYING',
    })
    const record = await host.only('SUCCESS')
    expect(record.attemptLog.map(({ trigger }) => trigger)).toEqual([
      'AUTOMATIC',
      'AUTOMATIC',
      'AUTOMATIC',
      'MANUAL',
    ])
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).body.code).toBe('delivery-not-failed')
    expect(await told('DELIVERY_RETRIED')).toMatchObject([{ subject: id, actor: { id: GRACE, name: GRACE } }])
  })

  test('can cancel a delivery during an attempt, whose outcome does not change the status', async () => {
    const { respond, letGo } = delayedReply({ status: 500 })
    receiver.respond = respond
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    await receiver.arrivals('/a', 1)
    const { id } = await host.only('CREATED')
    expect((await host.call('POST', `/webhooks/requests/${id}/cancel`)).body).toMatchObject({
      status: 'CANCELLED',
      nextAttemptAt: null,
    })
    letGo()
    await vi.waitFor(async () =>
      expect(await host.only('CANCELLED')).toMatchObject({ attemptLog: [{ responseStatus: 500 }] }),
    )
    expect((await host.call('POST', `/webhooks/requests/${id}/cancel`)).body.code).toBe(
      'delivery-not-pending',
    )
  })

  test('can test a webhook even if it is inactive', async () => {
    receiver.respond = failing
    const { id, secret } = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    const made = await host.call('POST', `/webhooks/${id}/test`)
    expect(made).toMatchObject({ status: 202, body: { status: 'CREATED', eventType: 'TEST', webhook: id } })
    const [arrival] = await receiver.arrivals('/a', 1)
    expect(arrival && verify(secret, arrival)).toMatchObject({ type: 'TEST', data: { webhook: id } })
    expect(await host.only('GIVE_UP')).toMatchObject({
      id: made.body.id,
      attempts: 1,
      attemptLog: [{ trigger: 'TEST' }],
    })
  })

  test('can rotate a secret: both secrets sign for a day, then only the new one', async () => {
    const { id, secret } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const rotated = await host.call('POST', `/webhooks/${id}/rotateSecret`)
    await host.call('POST', `/webhooks/${id}/test`)
    const [both] = await receiver.arrivals('/a', 1)
    if (!both) throw new Error('nothing arrived')
    for (const known of [secret, rotated.body.secret]) expect(() => verify(known, both)).not.toThrow()

    clock = new Date(Date.now() + 24 * 3_600_000 + 1_000)
    await host.call('POST', `/webhooks/${id}/test`)
    const [, one] = await receiver.arrivals('/a', 2)
    expect(String(one?.headers['webhook-signature']).split(' ')).toHaveLength(1)
  })

  test('can delete a webhook: pending deliveries are cancelled at once, and the history stays', async () => {
    receiver.respond = () => ({ status: 503, headers: { 'retry-after': '60' } })
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const pending = await host.only('RETRYING')
    expect((await host.call('DELETE', `/webhooks/${id}`)).status).toBe(204)
    expect(await host.history()).toMatchObject([
      { id: pending.id, status: 'CANCELLED', webhook: id, attempts: 1 },
    ])
    expect((await host.call('GET', `/webhooks/${id}/requests`)).status).toBe(404)
    expect((await host.call('POST', `/webhooks/requests/${pending.id}/retry`)).body.code).toBe(
      'delivery-not-failed',
    )
  })
})

describe('an event of the platform', () => {
  const event = {
    specversion: '1.0',
    id: 'a-41',
    source: '/subscriptions',
    type: 'SUBSCRIPTION_CREATED',
    data: { plan: 'gold' },
  }

  test('is stored once per source and id, and delivered', async () => {
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    const [first, second] = await Promise.all([
      host.call('POST', '/events', event),
      host.call('POST', '/events', event),
    ])
    const third = await host.call('POST', '/events', { ...event, data: { plan: 'silver' } })
    const answers = [first, second, third].map(({ body }) => body)
    expect(new Set(answers.map(({ id, receivedAt }) => `${id} ${receivedAt}`)).size).toBe(1)
    expect(answers.map(({ duplicate }) => duplicate).toSorted()).toEqual([false, true, true])
    const other = await host.call('POST', '/events', { ...event, source: '/elsewhere' })
    expect(other.body).toMatchObject({ duplicate: false, source: '/elsewhere', type: event.type })
    const arrived = await receiver.arrivals('/a', 2)
    const payloads = arrived.map(({ body }) => JSON.parse(body))
    expect(payloads.map(({ id }) => id).toSorted()).toEqual([answers[0].id, other.body.id].toSorted())
    for (const { data } of payloads) expect(data).toEqual({ plan: 'gold' })
  })

  test('is published with its own source, subject and time', async () => {
    await host.call('POST', '/events', { ...event, subject: 'shop', time: '2026-11-20T09:30:00+01:00' })
    expect(await told('SUBSCRIPTION_CREATED')).toMatchObject([
      {
        on: 'events.platform.SUBSCRIPTION_CREATED',
        source: '/subscriptions',
        subject: 'shop',
        time: '2026-11-20T08:30:00.000Z',
        data: { plan: 'gold' },
        actor: { id: GRACE, name: GRACE },
      },
    ])
  })

  test('is accepted from the bus, where an invalid one does not block later ones', async () => {
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    const sent: Json[] = [
      { nonsense: 1 },
      { ...event, type: 'API_CREATED' },
      { ...event, time: '1969-12-31T23:59:59Z' },
      event,
    ]
    const messages = sent.map((data, n) => ({
      id: uuid(n),
      subject: subjects.platformEvents,
      data,
    }))
    await host.dependencies.bus.publish(messages)
    const [arrival] = await receiver.arrivals('/a', 1)
    expect(JSON.parse(arrival?.body ?? '')).toMatchObject({
      type: 'SUBSCRIPTION_CREATED',
      data: { plan: 'gold' },
    })
  })

  test('about a product has reached the catalog when the response is sent', async () => {
    const heard: unknown[] = []
    host.dependencies.bus.respond(subjects.react('catalog'), async message => {
      heard.push(message)
      return null
    })
    const data = { product: uuid(1), api: uuid(2) }
    const { status, body } = await host.call('POST', '/events', { ...event, type: 'PRODUCT_API_ADDED', data })
    expect(status).toBe(202)
    expect(heard).toMatchObject([
      { id: body.id, subject: 'events.platform.PRODUCT_API_ADDED', data: { data } },
    ])
    await host.call('POST', '/events', { ...event, id: 'a-42' })
    expect(heard).toHaveLength(1)
  })

  test('with data over the limit is refused', async () => {
    const large = { ...event, data: { text: 'x'.repeat(262_144) } }
    expect((await host.call('POST', '/events', large)).body.code).toBe('invalid-request')
    const largest = { ...event, data: { text: '"'.repeat(131_000) } }
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    expect((await host.call('POST', '/events', largest)).status).toBe(202)
    await receiver.arrivals('/a', 1)
  })
})

describe('the read models', () => {
  test('are equal after a rebuild', async () => {
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    receiver.respond = (_, number) => ({ status: number === 2 ? 404 : 200 })
    for (const n of [1, 2, 3]) await host.happen({ id: uuid(n), type: 'API_CREATED' })
    await vi.waitFor(async () => expect(await host.history('status=SUCCESS')).toHaveLength(3))
    const before = [await host.history(), (await host.call('GET', `/webhooks/${webhook.id}`)).body]
    const rebuilt = await requestRebuild('notifier.projector', host.dependencies.readModels, uuid(9))
    await vi.waitFor(async () => expect(await rebuilt()).toBe(true), { timeout: 10_000 })
    expect([await host.history(), (await host.call('GET', `/webhooks/${webhook.id}`)).body]).toEqual(before)
  })

  test('lose finished deliveries after the retention, and a rebuild does not restore them', async () => {
    receiver.respond = (_, number) =>
      number === 1 ? { status: 200 } : { status: 503, headers: { 'retry-after': '86400' } }
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: EVENT, type: 'API_CREATED' })
    const { id } = await host.only('SUCCESS')
    await host.happen({ id: uuid(1), type: 'API_CREATED' })
    await vi.waitFor(async () => expect(await host.history('status=RETRYING')).toHaveLength(1))

    clock = new Date(Date.now() + 31 * 86_400_000)
    receiver.respond = delayedReply().respond
    await host.restart()
    await vi.waitFor(
      async () => expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(1)]),
      {
        timeout: 10_000,
      },
    )
    const rebuilt = await requestRebuild('notifier.projector', host.dependencies.readModels, uuid(9))
    await vi.waitFor(async () => expect(await rebuilt()).toBe(true), { timeout: 10_000 })
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(1)])
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).body.code).toBe('delivery-not-found')
  })
})

test('the metrics count finished and pending deliveries', async () => {
  receiver.respond = (_, number) =>
    number === 1 ? { status: 200 } : { status: 503, headers: { 'retry-after': '60' } }
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  for (const n of [1, 2]) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await vi.waitFor(async () => expect(await host.history('status=RETRYING')).toHaveLength(1))
  const lines = [
    'gantry_webhook_attempts_total{trigger="AUTOMATIC",error=""} 1',
    'gantry_webhook_attempts_total{trigger="AUTOMATIC",error="http-status"} 1',
    'gantry_webhook_deliveries_total{status="SUCCESS"} 1',
    'gantry_webhook_deliveries_pending 1',
    'gantry_webhook_overdue_seconds 0',
    'gantry_webhook_delivery_seconds_count 1',
    'gantry_webhook_deliveries_total{status="GIVE_UP"} 0',
    'gantry_webhook_dispatch_delay_seconds_count 2',
  ]
  // The two deliveries are counted independently of each other.
  await vi.waitFor(async () => {
    const figures = (await host.app.inject('/metrics')).body
    for (const line of lines) expect(figures).toContain(`${line}\n`)
  })
})
