import { type EventStore, EventStoreUnavailable } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { type Dependencies, plainKey } from '@gantry/service-runtime'
import { Registry } from 'prom-client'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Pending } from './delivery/delivery.ts'
import type { Payloads } from './delivery/payloads.ts'
import { attempts, sendingAttempts } from './dispatch/attempts.ts'
import { notifierMetrics } from './dispatch/metrics.ts'
import type { PostRequest } from './http/post.ts'
import { NEVER_OPEN, openNotifier, openReplica, uuid } from './testing/notifier-host.ts'
import { delayedReply, eventOf, openReceiver, type Receiver } from './testing/receiver.ts'
import { signingKeys } from './webhook/signing.ts'
import type { WebhookDocument } from './webhook/webhook.projection.ts'

const HOUR_MS = 3_600_000
let receiver: Receiver
/** Milliseconds by which the clock of the service is ahead of the real time. */
let aheadMs: number
const now = () => new Date(Date.now() + aheadMs)
beforeEach(async () => {
  aheadMs = 0
  receiver = await openReceiver()
})

test('the death of the process loses no delivery, whatever its status', async () => {
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '1m' })
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const [done, running, waiting, published] = [uuid(1), uuid(2), uuid(3), uuid(4)]
  const arrivalsOf = (id: string) => receiver.on('/a').filter(arrival => eventOf(arrival).id === id)
  const never = delayedReply()
  receiver.respond = (arrival, number) => {
    const { id } = eventOf(arrival)
    const first = arrivalsOf(id).length === 1
    if (id === running && first) return never.respond(arrival, number)
    return { status: id === waiting && first ? 500 : 200 }
  }
  await host.happen({ id: done, type: 'API_CREATED' })
  await host.having('SUCCESS', 1)
  await host.happen({ id: waiting, type: 'API_CREATED' })
  await host.having('RETRYING', 1)
  await host.happen({ id: running, type: 'API_CREATED' })
  await receiver.arrivals('/a', 3)
  await host.happen({ id: published, type: 'API_CREATED' })

  await host.kill()

  const records = new Map((await host.having('SUCCESS', 4)).map(record => [record.eventId, record]))
  expect([done, running, waiting].map(id => arrivalsOf(id).length)).toEqual([1, 2, 2])
  expect(records.get(running)?.attemptLog).toMatchObject([{ error: 'lost' }, { responseStatus: 200 }])
  expect(new Set(arrivalsOf(running).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

describe('two replicas', () => {
  test('that both believe to hold the scheduler lease send every attempt once', async () => {
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
    receiver.respond = () => ({ status: receiver.on('/a').length <= 30 ? 500 : 200 })
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    for (let n = 0; n < 30; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
    await host.having('RETRYING', 30)
    aheadMs = HOUR_MS
    // Both look for due deliveries.
    await bus.broadcast('notifier.webhook-changed', { id })
    const records = await host.having('SUCCESS', 30)
    expect(records.map(({ attempts: made }) => made)).toEqual(Array(30).fill(2))
    expect(receiver.on('/a')).toHaveLength(60)
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
  const host = await openNotifier({}, { around, now })
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await vi.waitFor(() => expect(refusals).toBeGreaterThan(0))
  // The attempt would count as lost now, and the scheduler looks for due deliveries.
  aheadMs = HOUR_MS
  await host.update(webhook, { displayName: 'Looked at anew' })
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  await receiver.arrivals('/a', 2)
  away = false
  const records = await host.having('SUCCESS', 2)
  expect(receiver.on('/a')).toHaveLength(2)
  expect(records.map(({ attempts: made }) => made)).toEqual([1, 1])
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
  expect(await host.typesIn(`webhook-${id}`)).toEqual(['WebhookCreated'])
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
    payloads: { load: async () => '{}' } as unknown as Payloads,
    metrics: new Registry(),
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
    ({ id: uuid(2), url: 'http://a/', attempts: 1, lastAttemptAt }) as unknown as Pending
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
  await host.append(`webhook-${id}`, 'WebhookDeleted', { deletedAt: storyMetadata.now })
  await host.kill()
  await host.only('CANCELLED')
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
