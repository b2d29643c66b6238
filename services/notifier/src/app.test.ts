import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { subjects } from '@gantry/contracts'
import { LOG_POSITION } from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'
import type { Dependencies } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { ReadModelsUnavailable } from '@gantry/stores'
import { beforeEach, describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { openNotifier, uuid } from './testing/notifier-host.ts'
import { eventOf, openReceiver, type Receiver } from './testing/receiver.ts'
import { webhooks } from './webhook/webhook.projection.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})

describe('a webhook', () => {
  test('has its secret encrypted in the stores', async () => {
    const host = await openNotifier()
    const { id, secret } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.call('POST', `/webhooks/${id}/rotateSecret`)

    await host.restart()
    const stored = ['events.db', 'read-models.db', 'messages.db']
      .flatMap(name => ['', '-wal'].map(suffix => join(host.folder, name + suffix)))
      .map(path => readFileSync(path).toString('latin1'))
      .join()
    expect(stored).toContain(id)
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
})

test('MAX_WEBHOOKS_PER_OWNER refuses a webhook, also created at once or transferred, until another one is deleted', async () => {
  const { call, update, actAs } = await openNotifier({ MAX_WEBHOOKS_PER_OWNER: '2' })
  const fields = { displayName: 'Hook', url: receiver.url('/a'), active: true, eventTypes: ['TEST'] }
  const create = () => call('POST', '/webhooks', fields)
  const answers = (await Promise.all([1, 2, 3].map(create))).toSorted((a, b) => a.status - b.status)
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 409])
  expect(answers[2]?.body).toMatchObject({
    code: 'too-many-webhooks',
    limit: 2,
    detail: 'a user may have 2 webhooks (MAX_WEBHOOKS_PER_OWNER)',
  })
  const { body: first } = answers[0] ?? {}
  const { owner } = first
  await update(first, { owner })
  actAs({ ...administrator, userId: uuid(7) })
  const { body: other } = await create()
  const transfer = () => call('PUT', `/webhooks/${other.id}`, { ...fields, owner })
  expect((await transfer()).body.code).toBe('too-many-webhooks')
  await call('DELETE', `/webhooks/${first.id}`)
  expect((await transfer()).body).toMatchObject({ owner })
})

describe('an event', () => {
  test('that is published twice is delivered once', async () => {
    const host = await openNotifier()
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: uuid(1), type: 'API_CREATED' }, uuid(11))
    await host.happen({ id: uuid(1), type: 'API_CREATED' }, uuid(12))
    await host.happen({ id: uuid(2), type: 'API_CREATED' })
    const arrived = await receiver.arrivals('/a', 2)
    await host.having('SUCCESS', 2)
    expect(
      receiver
        .on('/a')
        .map(eventOf)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([uuid(1), uuid(2)])
    expect(arrived[0]?.headers).toMatchObject({
      'user-agent': `Gantry/${manifest.version}`,
      'content-length': String(Buffer.byteLength(arrived[0]?.body ?? '')),
    })
  })

  test('from long before the creation of a webhook is not delivered to it when it is published again', async () => {
    const host = await openNotifier()
    const { createdAt } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const before = (ms: number) => new Date(Date.parse(createdAt) - ms).toISOString()
    await host.happen({ id: uuid(1), type: 'API_CREATED', time: before(61_000) })
    await host.happen({ id: uuid(2), type: 'API_CREATED', time: before(30_000) })
    await receiver.arrivals('/a', 1)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('after the creation of a webhook is delivered to it although the clock was set back since', async () => {
    const host = await openNotifier()
    const { createdAt } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const time = new Date(Date.parse(createdAt) - 3_600_000).toISOString()
    const happened = (number: number, position: string) =>
      host.happen({ id: uuid(number), type: 'API_CREATED', time }, undefined, { [LOG_POSITION]: position })
    await happened(1, '0')
    await happened(2, '~')
    await receiver.arrivals('/a', 1)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('that is too large to be stored does not block later events', async () => {
    const host = await openNotifier()
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: uuid(1), type: 'API_CREATED', data: { text: 'x'.repeat(1_048_576) } })
    await host.happen({ id: uuid(2), type: 'API_CREATED' })
    await receiver.arrivals('/a', 1)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('is delivered to more webhooks than fit a page', async () => {
    const host = await openNotifier()
    const { dependencies } = host
    const template = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const stored = await dependencies.readModels.collection(webhooks).get(template.id)
    if (!stored) throw new Error('no webhook')
    const copies = Array.from({ length: 104 }, (_, n) => ({ ...stored.doc, id: uuid(n) }))
    await dependencies.readModels.write(
      copies.map(doc => ({ collection: webhooks, id: doc.id, doc, revision: 0 })),
    )
    await host.happen({ id: uuid(1), type: 'API_CREATED' })
    const arrived = await receiver.arrivals('/a', 105)
    expect(new Set(arrived.map(({ headers }) => headers['webhook-id'])).size).toBe(105)
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

  test('is accepted from the bus, where an invalid one does not block later ones', async () => {
    const host = await openNotifier()
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    const sent: Json[] = [
      { nonsense: 1 },
      { ...event, type: 'API_CREATED' },
      { ...event, time: '1969-12-31T23:59:59Z' },
      event,
    ]
    const subject = subjects.platformEvents
    await host.dependencies.bus.publish(sent.map((data, n) => ({ id: uuid(n), subject, data })))
    const [arrival] = await receiver.arrivals('/a', 1)
    expect(arrival && eventOf(arrival)).toMatchObject({ type: event.type, data: { plan: 'gold' } })
  })

  test('with the largest data that is accepted, whose encoding is twice as long, is delivered', async () => {
    const host = await openNotifier()
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    const largest = { ...event, data: { text: '"'.repeat(131_000) } }
    expect((await host.call('POST', '/events', largest)).status).toBe(202)
    await receiver.arrivals('/a', 1)
  })
})
