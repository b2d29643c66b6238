import { beforeEach, expect, test, vi } from 'vitest'
import { type Notifier, openNotifier, uuid } from './testing/notifier-host.ts'
import { delayedReply, eventOf, failing, ok, openReceiver, type Receiver } from './testing/receiver.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
const figure = async ({ dependencies }: Notifier, name: string) => {
  const body = await dependencies.process.metrics.metrics()
  const line = body.split('\n').find(each => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}
const openBreakers = (host: Notifier) => figure(host, 'gantry_webhook_breakers{state="open"}')
const publish = async (host: Notifier, count: number, type = 'API_CREATED', from = 0) => {
  for (let n = from; n < from + count; n++) await host.happen({ id: uuid(n), type })
}

test('deliveries to a failing endpoint wait without attempts, except for a retry by a user, until the URL is changed', async () => {
  const host = await openNotifier(
    { WEBHOOK_RETRY_SCHEDULE: '10ms,1h' },
    { breaker: { failures: 1, firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 } },
  )
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  receiver.respond = failing
  await publish(host, 1)
  await vi.waitFor(async () => expect(await openBreakers(host)).toBe(1))
  await publish(host, 5, 'API_CREATED', 1)
  await host.having('CREATED', 5)
  const openSeconds = `gantry_webhook_breaker_open_seconds{webhook="${webhook.id}"}`
  expect(await figure(host, openSeconds)).toBeGreaterThan(0)
  expect(await figure(host, 'gantry_webhook_deferrals_total{reason="breaker"}')).toBeGreaterThanOrEqual(5)
  const [first] = await host.having('RETRYING', 1)
  await host.call('POST', `/webhooks/requests/${first?.id}/retry`)
  await receiver.arrivals('/a', 2)
  expect(receiver.on('/a').map(arrival => eventOf(arrival).id)).toEqual([uuid(0), uuid(0)])

  receiver.respond = ok
  for (const active of [false, true]) await host.update(webhook, { active })
  expect(await openBreakers(host)).toBe(1)
  await host.update(webhook, { url: receiver.url('/b') })
  await host.having('SUCCESS', 6)
  expect(await openBreakers(host)).toBe(0)
  expect(await figure(host, openSeconds)).toBeUndefined()
})

test('names that no name server resolves open the breaker, and do not count as failures of the webhook', async () => {
  const resolve = () => Promise.reject(Object.assign(new Error('no answer'), { code: 'ETIMEOUT' }))
  const breaker = { failures: 2, firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 }
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '1h' }, { resolve, breaker })
  const { id } = await host.subscribe('http://dead.test/', ['API_CREATED'])
  await publish(host, 2)
  await vi.waitFor(async () => expect(await openBreakers(host)).toBe(1))
  const { health } = (await host.call('GET', `/webhooks/${id}`)).body
  expect(health).toMatchObject({ circuit: 'OPEN', consecutiveFailures: 2 })
  expect(await host.typesIn(`webhook-${id}`)).toEqual(['WebhookCreated'])
})

test('the metrics have the statuses of finished deliveries and the latency of successful ones', async () => {
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms' })
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const time = new Date(Date.now() - 3_000).toISOString()
  const ended = (status: string) => figure(host, `gantry_webhook_deliveries_total{status="${status}"}`)
  const attempts = (error: string) =>
    figure(host, `gantry_webhook_attempts_total{trigger="AUTOMATIC",error="${error}"}`)
  await host.happen({ id: uuid(1), type: 'API_CREATED', time })
  await vi.waitFor(async () => expect(await ended('SUCCESS')).toBe(1))
  // Measured from the commit of the event, not from the creation of the delivery.
  expect(await figure(host, 'gantry_webhook_delivery_seconds_sum')).toBeGreaterThan(3)
  expect(await figure(host, 'gantry_webhook_delivery_seconds_count')).toBe(1)
  expect(await figure(host, 'gantry_webhook_dispatch_delay_seconds_count')).toBe(1)
  receiver.respond = failing
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  await vi.waitFor(async () => expect(await attempts('http-status')).toBe(2))
  expect(await ended('GIVE_UP')).toBe(1)

  await host.update(webhook, { active: false })
  const [done] = await host.having('GIVE_UP', 1)
  await host.call('POST', `/webhooks/requests/${done?.id}/retry`)
  const pending = () => figure(host, 'gantry_webhook_deliveries_pending')
  await vi.waitFor(async () => expect(await pending()).toBe(1))
  expect(await figure(host, 'gantry_webhook_overdue_seconds')).toBeGreaterThan(0)
  await host.call('POST', `/webhooks/requests/${done?.id}/cancel`)
  expect(await ended('CANCELLED')).toBe(1)
  expect(await pending()).toBe(0)
  expect(await figure(host, 'gantry_webhook_overdue_seconds')).toBe(0)

  // A delivery that is cancelled during an attempt counts once.
  const { respond, letGo } = delayedReply()
  receiver.respond = respond
  await host.update(webhook, { active: true })
  await host.happen({ id: uuid(3), type: 'API_CREATED' })
  await receiver.arrivals('/a', 4)
  const [running] = await host.having('CREATED', 1)
  await host.call('POST', `/webhooks/requests/${running?.id}/cancel`)
  letGo()
  await vi.waitFor(async () => expect(await attempts('')).toBe(2))
  expect(await ended('CANCELLED')).toBe(2)
})
