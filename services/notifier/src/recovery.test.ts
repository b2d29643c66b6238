import type { DeliveryRecord } from '@gantry/contracts'
import { aggregate, type EventStore, EventStoreUnavailable, projectorKey } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { type Dependencies, plainKey } from '@gantry/service-kit'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PROJECTED } from './app.ts'
import { type DeliveryCommand, deliveryDecider } from './delivery/delivery.decide.ts'
import type { DeliveryEvent, DeliveryState, Pending } from './delivery/delivery.ts'
import { attempts, sendingAttempts } from './dispatch/attempts.ts'
import { notifierMetrics } from './dispatch/metrics.ts'
import type { PostRequest } from './http/post.ts'
import { DELIVERY, NEVER_OPEN, openNotifier, openReplica } from './testing/notifier-host.ts'
import { delayedReply, openReceiver, type Receiver } from './testing/receiver.ts'
import { signingKeys } from './webhook/signing.ts'
import { type WebhookDocument, webhooks } from './webhook/webhook.projection.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => receiver.close())
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 20 })
const eventsIn = (records: DeliveryRecord[]) => records.map(({ eventId }) => eventId).toSorted()

test('the death of the process loses no delivery, whatever its status', async () => {
  const host = await openNotifier({ WEBHOOK_TIMEOUT: '1s', WEBHOOK_RETRY_SCHEDULE: '2s,200ms' })
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const [done, running, waiting, published] = [uuid(1), uuid(2), uuid(3), uuid(4)]
  const never = delayedReply()
  receiver.respond = (arrival, number) => {
    const { id } = JSON.parse(arrival.body)
    const first = number === receiver.on('/a').findIndex(other => other.body === arrival.body) + 1
    if (id === running && first) return never.respond(arrival, number)
    return { status: id === waiting && first ? 500 : 200 }
  }
  await host.happen({ id: done, type: 'API_CREATED' })
  await eventually(async () => expect(eventsIn(await host.history('status=SUCCESS'))).toEqual([done]))
  await host.happen({ id: waiting, type: 'API_CREATED' })
  await eventually(async () => expect(eventsIn(await host.history('status=RETRYING'))).toEqual([waiting]))
  await host.happen({ id: running, type: 'API_CREATED' })
  await receiver.arrivals('/a', 3)
  await host.happen({ id: published, type: 'API_CREATED' })

  await host.kill()

  await eventually(async () =>
    expect(eventsIn(await host.history('status=SUCCESS'))).toEqual([done, running, waiting, published]),
  )
  const records = new Map((await host.history()).map(record => [record.eventId, record]))
  const arrivalsOf = (id: string) => receiver.on('/a').filter(({ body }) => JSON.parse(body).id === id)
  expect([done, running, waiting].map(id => arrivalsOf(id).length)).toEqual([1, 2, 2])
  expect(records.get(running)?.attemptLog).toMatchObject([{ error: 'lost' }, { responseStatus: 200 }])
  expect(new Set(arrivalsOf(running).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

describe('two replicas', () => {
  test('send every attempt once', async () => {
    const host = await openNotifier({}, { breaker: NEVER_OPEN })
    await openReplica(host.dependencies, {}, NEVER_OPEN)
    receiver.respond = ({ headers }) => {
      const same = receiver.on('/a').filter(other => other.headers['webhook-id'] === headers['webhook-id'])
      return { status: same.length === 1 ? 500 : 200 }
    }
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const events = Array.from({ length: 60 }, (_, n) => uuid(n))
    for (const id of events) await host.happen({ id, type: 'API_CREATED' })
    await eventually(async () =>
      expect(eventsIn(await host.history('size=100&status=SUCCESS'))).toEqual(events),
    )
    expect((await host.history()).map(({ attempts }) => attempts)).toEqual(Array(60).fill(2))
    expect(receiver.on('/a')).toHaveLength(120)
  })

  test('that both believe to hold the scheduler lease send every attempt once', async () => {
    let clock = 0
    const now = () => new Date(Date.now() + clock)
    const settings = { WEBHOOK_RETRY_SCHEDULE: '1h' }
    const host = await openNotifier(settings, { breaker: NEVER_OPEN, now })
    const { readModels, bus } = host.dependencies
    const { leases } = readModels
    const acquire: typeof leases.acquire = async (name, holder, ttlMs) =>
      name === 'notifier.scheduler' ? { name, holder, token: 0 } : leases.acquire(name, holder, ttlMs)
    await openReplica(
      { ...host.dependencies, readModels: { ...readModels, leases: { ...leases, acquire } } },
      settings,
      NEVER_OPEN,
    )
    receiver.respond = () => ({ status: receiver.on('/a').length <= 60 ? 500 : 200 })
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    for (let n = 0; n < 60; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
    await eventually(async () => expect(await host.history('size=100&status=RETRYING')).toHaveLength(60))
    clock = 3_600_000
    // Both look for due deliveries.
    await bus.broadcast('notifier.webhook-changed', { id })
    await eventually(async () => expect(await host.history('size=100&status=SUCCESS')).toHaveLength(60))
    expect((await host.history()).map(({ attempts: made }) => made)).toEqual(Array(60).fill(2))
    expect(receiver.on('/a')).toHaveLength(120)
  })

  test('take over the deliveries of one that stopped', async () => {
    const settings = { WEBHOOK_RETRY_SCHEDULE: '1s' }
    const host = await openNotifier(settings)
    const other = await openReplica(host.dependencies, settings)
    receiver.respond = (_, number) => ({ status: number === 1 ? 500 : 200 })
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await host.happen({ id: uuid(1), type: 'API_CREATED' })
    await host.only('RETRYING')
    await host.service.stop()
    expect(await host.only('SUCCESS')).toMatchObject({ attempts: 2 })
    expect(other.waitingFor()).toBeUndefined()
  })

  test('that claim an attempt at the same time: one succeeds', async () => {
    const { dependencies } = await openNotifier({}, { start: false })
    const opened = () =>
      aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>({
        eventStore: dependencies.eventStore,
        category: 'delivery',
        decider: deliveryDecider({ schedule: [], retentionMs: 1 }),
      })
    const [one, two] = [opened(), opened()]
    const metadata = () => ({ ...storyMetadata, commandId: dependencies.newId() })
    const claim = { url: DELIVERY.url, lostAfterMs: 1_000 }
    for (let n = 0; n < 20; n++) {
      const id = uuid(n)
      const create = () => ({ type: 'CreateDelivery' as const, metadata: metadata(), id, ...DELIVERY })
      const created = await Promise.all([one.execute(id, create()), two.execute(id, { ...create(), claim })])
      const start = () => ({ type: 'StartAttempt' as const, metadata: metadata(), claim })
      const started = await Promise.all([one.execute(id, start()), two.execute(id, start())])
      const claims = [...created, ...started]
        .flatMap(({ events }) => events)
        .filter(({ type }) => type === 'AttemptStarted')
      expect(claims).toHaveLength(1)
    }
  })
})

test('while an outcome cannot be recorded, the delivery is not sent again', async () => {
  let away = true
  let refusals = 0
  const around = (dependencies: Dependencies): Dependencies => {
    const { eventStore } = dependencies
    const append: EventStore['append'] = async (stream, events, expected) => {
      if (away && events.some(({ type }) => type === 'AttemptSucceeded')) {
        refusals++
        throw new EventStoreUnavailable('for a while')
      }
      return eventStore.append(stream, events, expected)
    }
    return { ...dependencies, eventStore: { ...eventStore, append } }
  }
  let clock = 0
  const host = await openNotifier({}, { around, now: () => new Date(Date.now() + clock) })
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await eventually(() => expect(refusals).toBeGreaterThan(0))
  // The attempt would count as lost now, and the scheduler looks for due deliveries.
  clock = 3_600_000
  await host.update(webhook, { displayName: 'Looked at anew' })
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  await receiver.arrivals('/a', 2)
  away = false
  await eventually(async () => expect(await host.history('status=SUCCESS')).toHaveLength(2))
  expect(receiver.on('/a')).toHaveLength(2)
  expect((await host.history()).map(({ attempts: made }) => made)).toEqual([1, 1])
})

test('a failure of the service has its own error code, is retried on schedule, and does not count against the webhook', async () => {
  let encryptionKeys = plainKey(Buffer.alloc(32, 1))
  const around = (dependencies: Dependencies): Dependencies => ({
    ...dependencies,
    encryptionKeys: { ...dependencies.encryptionKeys, ...encryptionKeys },
  })
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '5ms' }, { around })
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  encryptionKeys = plainKey(Buffer.alloc(32, 2))
  await host.restart()
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  const { attemptLog } = await host.only('GIVE_UP')
  expect(attemptLog).toMatchObject([
    { error: 'signing-failed', fault: 'SERVICE', responseStatus: null },
    { error: 'signing-failed', fault: 'SERVICE' },
  ])
  expect(receiver.on('/a')).toEqual([])
  expect(await host.dependencies.eventStore.readStream(`webhook-${id}`)).toHaveLength(1)

  encryptionKeys = plainKey(Buffer.alloc(32, 1))
  await host.restart()
  receiver.respond = () => ({ status: 404 })
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  await eventually(async () => expect(await host.history('status=GIVE_UP')).toHaveLength(2))
  const theirs = (await host.history()).find(({ eventId }) => eventId === uuid(2))
  expect(theirs?.attemptLog).toMatchObject([
    { error: 'http-status', fault: 'RECEIVER' },
    { error: 'http-status', fault: 'RECEIVER' },
  ])
})

test('a process that was paused past the deadline of an attempt does not send it', async () => {
  const now = new Date('2026-11-21T10:00:15.000Z')
  const sent: PostRequest[] = []
  const log = { info() {}, warn() {}, error() {} }
  const send = sendingAttempts({
    timeoutMs: 15_000,
    now: () => now,
    sender: {
      async post(request: PostRequest) {
        sent.push(request)
        throw new Error('sent')
      },
      async close() {},
    },
    keys: signingKeys(plainKey(Buffer.alloc(32))),
    userAgent: 'Gantry',
    interrupted: new AbortController().signal,
    log,
  })
  const make = attempts({
    send,
    deliveries: { metadata: () => storyMetadata, execute: () => Promise.reject(new Error('recorded')) },
    random: () => 0.5,
    abandoned: AbortSignal.abort(),
    metrics: notifierMetrics(new Registry()),
    log,
  } as unknown as Parameters<typeof attempts>[0])
  const webhook = { id: uuid(1), secrets: [] } as unknown as WebhookDocument
  const claimed = (lastAttemptAt: string) =>
    ({ id: uuid(2), body: '{}', url: 'http://a/', attempts: 1, lastAttemptAt }) as unknown as Pending
  const late = claimed('2026-11-21T10:00:00.000Z')
  expect(await make(webhook, late)).toBe(late)
  expect(sent).toEqual([])
  await expect(make(webhook, claimed('2026-11-21T10:00:00.001Z'))).rejects.toThrow('recorded')
  expect(sent).toMatchObject([{ timeoutMs: 1 }])
})

test('pending deliveries of a deleted webhook are cancelled even if the deleting process died', async () => {
  receiver.respond = () => ({ status: 503, headers: { 'retry-after': '3600' } })
  const host = await openNotifier()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await host.only('RETRYING')
  const deleted = {
    id: uuid(2),
    type: 'WebhookDeleted',
    data: { deletedAt: storyMetadata.now },
    metadata: { actor: storyMetadata.actor, requestId: 'story', at: storyMetadata.now },
  }
  const { eventStore } = host.dependencies
  const stream = `webhook-${id}`
  await eventStore.append(stream, [deleted], (await eventStore.readStream(stream)).length - 1)
  await host.only('CANCELLED')
})

test('an event that is published while the read models are rebuilt is delivered', async () => {
  const host = await openNotifier()
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  // A long log, so that reading it takes a while.
  const { url, eventTypes, active } = webhook
  const facts = Array.from({ length: 1_000 }, (_, n) => ({
    id: uuid(1_000 + n),
    type: 'WebhookUpdated',
    data: { name: 'hook', displayName: `Hook ${n}`, url, active, eventTypes, updatedAt: storyMetadata.now },
    metadata: { actor: storyMetadata.actor, requestId: 'story', at: storyMetadata.now },
  }))
  await host.dependencies.eventStore.append(`webhook-${webhook.id}`, facts, 0)
  await host.service.stop()
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  const { readModels } = host.dependencies
  await readModels.drop(webhooks)
  const key = projectorKey(PROJECTED)
  expect(await readModels.checkpoints.get(key)).toBeDefined()
  await readModels.checkpoints.clear(key)
  await host.kill()
  await receiver.arrivals('/a', 1)
})

test('an endpoint that does not respond delays no other', async () => {
  const host = await openNotifier()
  await host.subscribe(receiver.url('/dead'), ['API_CREATED'])
  await host.subscribe(receiver.url('/alive'), ['API_UPDATED'])
  const { respond, letGo } = delayedReply()
  receiver.respond = (arrival, number) =>
    arrival.path === '/dead' ? respond(arrival, number) : { status: 200 }
  for (let n = 0; n < 100; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await receiver.arrivals('/dead', 29)
  for (let n = 100; n < 120; n++) await host.happen({ id: uuid(n), type: 'API_UPDATED' })
  await receiver.arrivals('/alive', 20)
  // The slots that one endpoint gets are limited to an eighth of the free ones; none was released yet.
  expect(receiver.on('/dead')).toHaveLength(29)
  letGo()
  await receiver.arrivals('/dead', 100)
  await eventually(async () =>
    expect((await host.call('GET', '/webhooks/requests?status=SUCCESS')).body.totalElements).toBe(120),
  )
})

test('stopping waits for running attempts and starts no more', async () => {
  const { respond, letGo } = delayedReply()
  receiver.respond = respond
  const host = await openNotifier()
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await receiver.arrivals('/a', 1)
  const stopped = host.service.stop()
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  letGo()
  await stopped
  expect(await host.history()).toMatchObject([{ eventId: uuid(1), status: 'SUCCESS' }])
  expect(receiver.on('/a')).toHaveLength(1)
})

test('stopping aborts attempts that take too long; they are repeated and consume no attempt of the schedule', async () => {
  receiver.respond = (_, number) => (number === 1 ? delayedReply().respond(_, number) : { status: 200 })
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '1h' })
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await receiver.arrivals('/a', 1)
  await host.restart()
  expect(await host.only('SUCCESS')).toMatchObject({
    attemptLog: [{ error: 'interrupted' }, { error: null }],
  })
})
