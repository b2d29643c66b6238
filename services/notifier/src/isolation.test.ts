import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BreakerRules } from './dispatch/breaker.ts'
import { openNotifier, openReplica } from './testing/notifier-host.ts'
import { delayedReply, failing, ok, openReceiver, type Receiver } from './testing/receiver.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const OPENS_SOON: BreakerRules = { failures: 3, firstPauseMs: 500, longestPauseMs: 1_000 }

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => receiver.close())
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 10 })
/** The value of a metric of /metrics. */
const figure = async ({ app }: Awaited<ReturnType<typeof openNotifier>>, name: string) => {
  const { body } = await app.inject('/metrics')
  const line = body.split('\n').find(each => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

test('deliveries to a failing endpoint wait without attempts, and all succeed when it recovers', async () => {
  const host = await openNotifier(
    { WEBHOOK_RETRY_SCHEDULE: Array(50).fill('10ms').join() },
    { breaker: OPENS_SOON },
  )
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  receiver.respond = failing
  for (let n = 0; n < 3; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await eventually(async () => expect(await figure(host, 'gantry_webhook_breakers{state="open"}')).toBe(1))
  for (let n = 10; n < 20; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await eventually(async () => expect(await host.history()).toHaveLength(13))

  const made = (await host.history()).reduce((sum, { attempts }) => sum + attempts, 0)
  // Three to open the breaker, attempts that were running meanwhile, and one or two probes.
  expect(made).toBeLessThan(10)
  expect((await host.history()).filter(({ attempts }) => attempts === 0).length).toBeGreaterThan(5)
  expect(await figure(host, `gantry_webhook_breaker_open_seconds{webhook="${id}"}`)).toBeGreaterThan(0)
  expect(await figure(host, 'gantry_webhook_deferrals_total{reason="breaker"}')).toBeGreaterThan(5)

  receiver.respond = ok
  await eventually(async () => expect(await host.history('size=100&status=SUCCESS')).toHaveLength(13))
  expect(await figure(host, 'gantry_webhook_breakers{state="open"}')).toBe(0)
  expect(await figure(host, `gantry_webhook_breaker_open_seconds{webhook="${id}"}`)).toBeUndefined()
  const waited = (await host.history()).filter(({ eventId }) => eventId >= uuid(10))
  // All except the one or two that were probes.
  expect(waited.filter(({ attempts }) => attempts === 1).length).toBeGreaterThan(5)
})

test('a retry by a user, or a change of the webhook, does not wait for the breaker', async () => {
  const breaker = { failures: 1, firstPauseMs: 60_000, longestPauseMs: 60_000 }
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms,1h' }, { breaker })
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  receiver.respond = failing
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await eventually(async () => expect(await figure(host, 'gantry_webhook_breakers{state="open"}')).toBe(1))
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  const [first] = await host.history('status=RETRYING')
  await host.call('POST', `/webhooks/requests/${first?.id}/retry`)
  await receiver.arrivals('/a', 2)
  expect(receiver.on('/a').map(({ body }) => JSON.parse(body).id)).toEqual([uuid(1), uuid(1)])

  receiver.respond = ok
  await host.update(webhook, { url: receiver.url('/b') })
  await receiver.arrivals('/b', 1)
})

test('60 endpoints that never respond leave slots for another endpoint', async () => {
  const host = await openNotifier()
  for (let n = 0; n < 60; n++) await host.subscribe(receiver.url(`/dead/${n}`), ['API_CREATED'])
  await host.subscribe(receiver.url('/alive'), ['API_UPDATED'])
  const { respond, letGo } = delayedReply()
  receiver.respond = (arrival, number) =>
    arrival.path === '/alive' ? { status: 200 } : respond(arrival, number)
  for (let n = 0; n < 10; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await eventually(async () => expect(await figure(host, 'gantry_webhook_deliveries_pending')).toBe(600))
  await eventually(async () =>
    expect(await figure(host, 'gantry_webhook_attempts_under_way')).toBeGreaterThan(200),
  )
  for (let n = 10; n < 20; n++) await host.happen({ id: uuid(n), type: 'API_UPDATED' })
  await receiver.arrivals('/alive', 10)
  letGo()
  await eventually(async () => expect(await figure(host, 'gantry_webhook_deliveries_pending')).toBe(0))
})

test('two replicas both pause a failing endpoint, and both resume when it recovers', async () => {
  const schedule = { WEBHOOK_RETRY_SCHEDULE: Array(50).fill('10ms').join() }
  const host = await openNotifier(schedule, { breaker: OPENS_SOON })
  await openReplica(host.dependencies, schedule, OPENS_SOON)
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  receiver.respond = failing
  for (let n = 0; n < 40; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await eventually(async () => expect(await host.history()).toHaveLength(40))
  expect(receiver.on('/a').length).toBeLessThan(40)
  receiver.respond = ok
  await eventually(async () => expect(await host.history('size=100&status=SUCCESS')).toHaveLength(40))
  const attempts = (await host.history()).reduce((sum, each) => sum + each.attempts, 0)
  expect(receiver.on('/a')).toHaveLength(attempts)
})

test('the metrics have the statuses of finished deliveries and the latency of successful ones', async () => {
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms' })
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const time = new Date(Date.now() - 3_000).toISOString()
  const ended = (status: string) => figure(host, `gantry_webhook_deliveries_total{status="${status}"}`)
  await host.happen({ id: uuid(1), type: 'API_CREATED', time })
  await eventually(async () => expect(await ended('SUCCESS')).toBe(1))
  // Measured from the commit of the event, not from the creation of the delivery.
  expect(await figure(host, 'gantry_webhook_delivery_seconds_sum')).toBeGreaterThan(3)
  expect(await figure(host, 'gantry_webhook_delivery_seconds_count')).toBe(1)
  receiver.respond = failing
  await host.happen({ id: uuid(2), type: 'API_CREATED' })
  await eventually(async () => expect(await ended('GIVE_UP')).toBe(1))
  expect(await figure(host, 'gantry_webhook_attempts_total{trigger="AUTOMATIC",error="http-status"}')).toBe(2)

  await host.update(webhook, { active: false })
  const [done] = await host.history('status=GIVE_UP')
  await host.call('POST', `/webhooks/requests/${done?.id}/retry`)
  await eventually(async () => expect(await figure(host, 'gantry_webhook_deliveries_pending')).toBe(1))
  expect(await figure(host, 'gantry_webhook_overdue_seconds')).toBeGreaterThan(0)
  await host.call('POST', `/webhooks/requests/${done?.id}/cancel`)
  expect(await ended('CANCELLED')).toBe(1)
  expect(await figure(host, 'gantry_webhook_deliveries_pending')).toBe(0)
  expect(await figure(host, 'gantry_webhook_overdue_seconds')).toBe(0)
})

test('a delivery that is cancelled during an attempt counts as finished once', async () => {
  const host = await openNotifier()
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const { respond, letGo } = delayedReply()
  receiver.respond = respond
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await receiver.arrivals('/a', 1)
  const [running] = await host.history()
  await host.call('POST', `/webhooks/requests/${running?.id}/cancel`)
  letGo()
  const attempts = 'gantry_webhook_attempts_total{trigger="AUTOMATIC",error=""}'
  await eventually(async () => expect(await figure(host, attempts)).toBe(1))
  expect(await figure(host, 'gantry_webhook_deliveries_total{status="CANCELLED"}')).toBe(1)
})
