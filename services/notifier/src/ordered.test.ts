import { type EventStore, EventStoreUnavailable } from '@gantry/event-sourcing'
import type { Dependencies } from '@gantry/service-kit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hostNotifier, openNotifier, openReplica } from './testing/notifier-host.ts'
import { type Arrival, delayedReply, failing, openReceiver, type Receiver } from './testing/receiver.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => receiver.close())
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 30_000, interval: 10 })
type Notifier = Awaited<ReturnType<typeof openNotifier>>

/** Publishes event number n, about a resource. */
const happen = (host: Notifier, n: number, subject: string) =>
  host.happen({ id: uuid(n), type: 'API_UPDATED', subject, data: { n, subject } })
const dataOf = ({ body }: Arrival): { n: number; subject: string } => JSON.parse(body).data
const arrived = (path: string, subject: string) =>
  receiver
    .on(path)
    .map(dataOf)
    .filter(data => data.subject === subject)
    .map(({ n }) => n)
const ordered = (host: Notifier, path = '/a') =>
  host.subscribe(receiver.url(path), ['API_UPDATED'], { ordered: true })
const recordOf = async (host: Notifier, n: number) => {
  const record = (await host.history()).find(({ eventId }) => eventId === uuid(n))
  if (!record) throw new Error(`no delivery of event ${n}`)
  return record
}
const statusOf = async (host: Notifier, n: number) => (await recordOf(host, n)).status

describe('an ordered webhook', () => {
  test('receives the events of a resource serially, and those of other resources concurrently', async () => {
    const host = await openNotifier()
    await ordered(host)
    const { respond, letGo } = delayedReply()
    receiver.respond = (arrival, number) =>
      dataOf(arrival).n === 1 ? respond(arrival, number) : { status: 200 }
    for (const n of [1, 2, 3]) await happen(host, n, 'payments')
    for (const n of [4, 5]) await happen(host, n, 'orders')
    await eventually(() => expect(arrived('/a', 'orders')).toEqual([4, 5]))
    await eventually(async () => expect(await host.history()).toHaveLength(5))
    expect(arrived('/a', 'payments')).toEqual([1])
    const first = await recordOf(host, 1)
    expect(await recordOf(host, 2)).toMatchObject({
      status: 'CREATED',
      attempts: 0,
      nextAttemptAt: null,
      waitsFor: first.id,
    })
    letGo()
    await eventually(() => expect(arrived('/a', 'payments')).toEqual([1, 2, 3]))
    await eventually(async () => expect(await host.history('status=SUCCESS')).toHaveLength(5))
    expect(await recordOf(host, 2)).toMatchObject({ waitsFor: null })
  })

  test('does not affect webhooks that are not ordered', async () => {
    const host = await openNotifier()
    await ordered(host, '/a')
    await host.subscribe(receiver.url('/b'), ['API_UPDATED'])
    receiver.respond = ({ path }) => ({ status: path === '/a' ? 500 : 200 })
    for (const n of [1, 2, 3]) await happen(host, n, 'payments')
    await receiver.arrivals('/b', 3)
    expect(new Set(arrived('/a', 'payments'))).toEqual(new Set([1]))
  })

  test('receives the next event when a delivery is given up', async () => {
    const host = await openNotifier()
    await ordered(host)
    receiver.respond = arrival => ({ status: dataOf(arrival).n === 1 ? 500 : 200 })
    for (const n of [1, 2]) await happen(host, n, 'payments')
    await eventually(async () => expect(await statusOf(host, 2)).toBe('SUCCESS'))
    expect(await statusOf(host, 1)).toBe('GIVE_UP')
    expect(arrived('/a', 'payments')).toEqual([1, 1, 1, 2])
  })

  test('receives the next event when a delivery is cancelled, even a blocked one', async () => {
    const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '1h' })
    await ordered(host)
    receiver.respond = arrival => ({ status: dataOf(arrival).n === 1 ? 500 : 200 })
    for (const n of [1, 2, 3]) await happen(host, n, 'payments')
    await eventually(async () => expect(await statusOf(host, 1)).toBe('RETRYING'))
    await eventually(async () => expect(await statusOf(host, 3)).toBe('CREATED'))
    const cancel = async (n: number) =>
      expect(
        (await host.call('POST', `/webhooks/requests/${(await recordOf(host, n)).id}/cancel`)).status,
      ).toBe(200)
    await cancel(2)
    await host.service.stop()
    expect(arrived('/a', 'payments')).toEqual([1])
    await host.restart()
    await cancel(1)
    await eventually(async () => expect(await statusOf(host, 3)).toBe('SUCCESS'))
    expect(arrived('/a', 'payments')).toEqual([1, 3])
  })

  test('is not blocked by a finished delivery that a user retries', async () => {
    const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms' })
    await ordered(host)
    receiver.respond = failing
    await happen(host, 1, 'payments')
    await eventually(async () => expect(await statusOf(host, 1)).toBe('GIVE_UP'))
    const { respond } = delayedReply()
    receiver.respond = (arrival, number) =>
      dataOf(arrival).n === 1 ? respond(arrival, number) : { status: 200 }
    const { id } = await recordOf(host, 1)
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).status).toBe(200)
    await receiver.arrivals('/a', 3)
    await happen(host, 2, 'payments')
    await eventually(async () => expect(await statusOf(host, 2)).toBe('SUCCESS'))
    expect(await statusOf(host, 1)).toBe('RETRYING')
  })

  test('has its pending and blocked deliveries cancelled when it is deleted', async () => {
    const host = await openNotifier()
    const { id } = await ordered(host)
    receiver.respond = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    for (const n of [1, 2, 3]) await happen(host, n, 'payments')
    await eventually(async () => expect(await statusOf(host, 1)).toBe('RETRYING'))
    await eventually(async () => expect(await host.history()).toHaveLength(3))
    await host.call('DELETE', `/webhooks/${id}`)
    await eventually(async () => expect(await host.history('status=CANCELLED')).toHaveLength(3))
  })

  test('receives the next event even if the process died before it started its delivery', async () => {
    const host = await openNotifier()
    await ordered(host)
    const { respond } = delayedReply()
    receiver.respond = respond
    for (const n of [1, 2, 3]) await happen(host, n, 'payments')
    await eventually(async () => expect(await host.history()).toHaveLength(3))
    const { id } = await recordOf(host, 1)
    await host.service.stop()
    // What another replica appends that dies right after it.
    const cancelled = {
      type: 'DeliveryCancelled',
      data: { reason: 'requested', at: new Date().toISOString() },
    }
    const stream = `delivery-${id}`
    const recorded = await host.dependencies.eventStore.readStream(stream)
    const metadata = recorded[0]?.metadata ?? {
      actor: { id: null, name: 'story' },
      requestId: 'story',
      at: '',
    }
    await host.dependencies.eventStore.append(
      stream,
      [{ id: uuid(99), ...cancelled, metadata }],
      recorded.length - 1,
    )
    receiver.respond = () => ({ status: 200 })
    await host.restart()
    await eventually(async () => expect(await host.history('status=SUCCESS')).toHaveLength(2))
    expect(arrived('/a', 'payments')).toEqual([1, 2, 3])
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

/** Succeeds with luck above 4, and after eight failures in a row: ten would open the circuit breaker for a second or longer. */
function flaky(luck: Iterator<number>): () => boolean {
  let failures = 0
  return () => {
    const succeeds = Number(luck.next().value) > 4 || failures === 8
    failures = succeeds ? 0 : failures + 1
    return succeeds
  }
}

test('a flaky receiver gets no event before it has accepted the previous one of the resource', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(2), { minLength: 1, maxLength: 30 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 10 })),
      async (choices, luck) => {
        const host = await hostNotifier(MANY_RETRIES)
        try {
          const { acknowledged, early } = watch(flaky(luck))
          await ordered(host, '/flaky')
          const counts = await story(host, choices)
          await eventually(() => expect(acknowledged).toEqual(counts))
          expect(early).toEqual([])
        } finally {
          await host.close()
        }
      },
    ),
    { numRuns: 15 },
  )
}, 120_000)

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
  for (let n = 1; n <= 60; n++) await happen(host, n, 'payments')
  await eventually(() => expect(acknowledged).toEqual(new Map([['payments', 60]])))
  expect(early).toEqual([])
  expect(refusals).toBeGreaterThan(4)
}, 60_000)

test('two process deaths and a second replica do not change the order', async () => {
  const settings = { ...MANY_RETRIES, WEBHOOK_TIMEOUT: '500ms' }
  const host = await openNotifier(settings)
  let arrivals = 0
  const { acknowledged, early } = watch(() => ++arrivals % 3 !== 0)
  await ordered(host)
  const choices = Array.from({ length: 40 }, (_, n) => n)
  const counts = await story(host, choices)
  await receiver.arrivals('/a', 5)
  await host.kill()
  await receiver.arrivals('/a', 10)
  await host.kill()
  await openReplica(host.dependencies, settings)
  await eventually(() => expect(acknowledged).toEqual(counts))
  expect(early).toEqual([])
}, 60_000)
