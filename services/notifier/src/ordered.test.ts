import { type EventStore, EventStoreUnavailable } from '@gantry/event-sourcing'
import type { Dependencies } from '@gantry/service-runtime'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { NEVER_OPEN, type Notifier, openNotifier, openReplica, uuid } from './testing/notifier-host.ts'
import { type Arrival, delayedReply, eventOf, openReceiver, type Receiver } from './testing/receiver.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})

/** Publishes event number n, about a resource. */
const happen = (host: Notifier, n: number, subject = 'payments') =>
  host.happen({ id: uuid(n), type: 'API_UPDATED', subject, data: { n, subject } })
const dataOf = (arrival: Arrival) => eventOf(arrival).data as { n: number; subject: string }
const arrived = (path: string) => receiver.on(path).map(arrival => dataOf(arrival).n)
const ordered = (host: Notifier, path = '/a') =>
  host.subscribe(receiver.url(path), ['API_UPDATED'], { ordered: true })
const recordOf = (host: Notifier, n: number, status: string) =>
  vi.waitFor(async () => {
    const record = (await host.history()).find(({ eventId }) => eventId === uuid(n))
    expect(record?.status).toBe(status)
    return record
  })
/** Retries or cancels the delivery of event n. */
const order = async (host: Notifier, action: 'retry' | 'cancel', n: number, status: string) => {
  const { id } = (await recordOf(host, n, status)) ?? {}
  expect((await host.call('POST', `/webhooks/requests/${id}/${action}`)).status).toBe(200)
}

describe('an ordered webhook', () => {
  test('receives the next event when a delivery is given up, and is not blocked when a user retries that', async () => {
    const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms' })
    await ordered(host)
    receiver.respond = arrival => ({ status: dataOf(arrival).n === 1 ? 500 : 200 })
    for (const n of [1, 2]) await happen(host, n)
    await recordOf(host, 2, 'SUCCESS')
    expect(arrived('/a')).toEqual([1, 1, 2])
    const { respond } = delayedReply()
    receiver.respond = (arrival, number) =>
      dataOf(arrival).n === 1 ? respond(arrival, number) : { status: 200 }
    await order(host, 'retry', 1, 'GIVE_UP')
    await receiver.arrivals('/a', 4)
    await happen(host, 3)
    await recordOf(host, 3, 'SUCCESS')
    await recordOf(host, 1, 'RETRYING')
  })

  test('receives the next event when a delivery is cancelled, even a blocked one; another webhook does not wait', async () => {
    const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '1h' })
    await ordered(host)
    receiver.respond = arrival => ({ status: dataOf(arrival).n === 1 ? 500 : 200 })
    for (const n of [1, 2, 3]) await happen(host, n)
    await host.having('CREATED', 2)
    await order(host, 'cancel', 2, 'CREATED')
    await host.service.stop()
    expect(arrived('/a')).toEqual([1])
    await host.restart()
    await order(host, 'cancel', 1, 'RETRYING')
    await recordOf(host, 3, 'SUCCESS')
    expect(arrived('/a')).toEqual([1, 3])

    await host.subscribe(receiver.url('/b'), ['API_UPDATED'])
    receiver.respond = arrival => ({ status: dataOf(arrival).n === 4 ? 500 : 200 })
    for (const n of [4, 5]) await happen(host, n)
    await receiver.arrivals('/b', 2)
    expect(arrived('/b').toSorted()).toEqual([4, 5])
  })

  test('receives the next event even if the process died before it started its delivery', async () => {
    const host = await openNotifier()
    await ordered(host)
    receiver.respond = delayedReply().respond
    for (const n of [1, 2, 3]) await happen(host, n)
    await host.having('CREATED', 3)
    const first = await recordOf(host, 1, 'CREATED')
    await host.service.stop()
    // What another replica appends that dies right after it.
    const at = new Date().toISOString()
    await host.append(`delivery-${first?.id}`, 'DeliveryCancelled', { reason: 'requested', at })
    receiver.respond = () => ({ status: 200 })
    await host.restart()
    await host.having('SUCCESS', 2)
    expect(arrived('/a')).toEqual([1, 2, 3])
  })

  test('has a blocked delivery cancelled that was created while the webhook was deleted', async () => {
    const host = await openNotifier()
    const { id } = await ordered(host)
    receiver.respond = delayedReply().respond
    for (const n of [1, 2]) await happen(host, n)
    await host.having('CREATED', 2)
    const first = await recordOf(host, 1, 'CREATED')
    await host.service.stop()
    // What another replica appends that deletes the webhook and does not see the second delivery.
    const at = new Date().toISOString()
    await host.append(`webhook-${id}`, 'WebhookDeleted', { deletedAt: at })
    await host.append(`delivery-${first?.id}`, 'DeliveryCancelled', { reason: 'webhook-deleted', at })
    await host.restart()
    await host.having('CANCELLED', 2)
  })
})

/** Per resource the last event with a 2xx response, and the events that arrived out of order. */
function watch(answer: () => boolean) {
  const acknowledged = new Map<string, number>()
  const early: string[] = []
  receiver.respond = arrival => {
    const { n, subject } = dataOf(arrival)
    const last = acknowledged.get(subject) ?? 0
    if (n > last + 1) early.push(`${subject} ${n} after ${last}`)
    if (!answer()) return { status: 500 }
    acknowledged.set(subject, Math.max(n, last))
    return { status: 200 }
  }
  return { acknowledged, early }
}

/** Publishes events of several resources, numbered within each. */
const RESOURCES = ['payments', 'orders', 'refunds']
const story = async (host: Notifier, choices: number[]) => {
  const counts = new Map<string, number>()
  for (const choice of choices) {
    const subject = RESOURCES[choice % RESOURCES.length] ?? ''
    const n = (counts.get(subject) ?? 0) + 1
    counts.set(subject, n)
    const id = uuid((choice % RESOURCES.length) * 1_000 + n)
    await host.happen({ id, type: 'API_UPDATED', subject, data: { n, subject } })
  }
  return counts
}
const MANY_RETRIES = { WEBHOOK_RETRY_SCHEDULE: Array(100).fill('5ms').join() }

test('an unavailable store does not change the order', async () => {
  let refusals = 0
  const around = (dependencies: Dependencies): Dependencies => {
    const { eventStore } = dependencies
    const append: EventStore['append'] = async (stream, events, expected) => {
      const second = events.some(({ data }) => 'eventId' in data && data.eventId === uuid(2))
      // More refusals than a command has tries.
      if (second && ++refusals <= 4) throw new EventStoreUnavailable('for a while')
      return eventStore.append(stream, events, expected)
    }
    return { ...dependencies, eventStore: { ...eventStore, append } }
  }
  const host = await openNotifier(MANY_RETRIES, { around })
  const { acknowledged, early } = watch(() => true)
  await ordered(host)
  for (let n = 1; n <= 20; n++) await happen(host, n)
  await vi.waitFor(() => expect(acknowledged).toEqual(new Map([['payments', 20]])))
  expect(early).toEqual([])
  expect(refusals).toBeGreaterThan(4)
})

test('two process deaths and a second replica do not change the order', async () => {
  const host = await openNotifier(MANY_RETRIES, { breaker: NEVER_OPEN })
  let arrivals = 0
  const { acknowledged, early } = watch(() => ++arrivals % 3 !== 0)
  await ordered(host)
  const counts = await story(host, [...Array(30).keys()])
  await receiver.arrivals('/a', 5)
  await host.kill()
  await receiver.arrivals('/a', 10)
  await host.kill()
  await openReplica(host.dependencies, MANY_RETRIES, NEVER_OPEN)
  await vi.waitFor(() => expect(acknowledged).toEqual(counts))
  expect(early).toEqual([])
})
