import { join } from 'node:path'
import { type RecoveryRecord, subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { aggregate, requestRebuild } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hostNotifier, openNotifier } from '../testing/notifier-host.ts'
import { delayedReply, failing, openReceiver, type Receiver } from '../testing/receiver.ts'
import { type RecoveryCommand, recoveryDecider } from './recovery.decide.ts'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => uuid(from + n))

let host: Awaited<ReturnType<typeof hostNotifier>>
let receiver: Receiver
let began: string
let clockIsBehindMs = 0
beforeEach(async () => {
  began = new Date().toISOString()
  receiver = await openReceiver()
  clockIsBehindMs = 0
  const now = () => new Date(Date.now() - clockIsBehindMs)
  host = await hostNotifier({ WEBHOOK_RETRY_SCHEDULE: '5ms' }, { now })
})
afterEach(async () => {
  receiver.close()
  await host.close()
})

const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 30_000, interval: 20 })
const happen = async (events: string[], time = new Date().toISOString()) => {
  for (const id of events) await host.happen({ id, type: 'API_CREATED', time })
}
/** Waits until all published events are handled: a webhook that was active all along received the last of them. */
const witnessed = async (count: number) => void (await receiver.arrivals('/witness', count))
const arrivedAt = (path: string) => receiver.on(path).map(({ body }) => JSON.parse(body).id as string)
const recover = async (id: string, range: object = { from: began }) =>
  host.call('POST', `/webhooks/${id}/recover`, range)
const ended = async ({ webhook, id }: Pick<RecoveryRecord, 'webhook' | 'id'>, status = 'COMPLETED') => {
  let record: RecoveryRecord | undefined
  await eventually(async () => {
    record = (await host.call('GET', `/webhooks/${webhook}/recoveries/${id}`)).body
    expect(record?.status).toBe(status)
  })
  return record
}

/** A webhook that was inactive while `count` events were published, numbered from 1. */
const skipped = async (count: number) => {
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
  await host.subscribe(receiver.url('/witness'), ['API_CREATED'])
  await happen(ids(1, count))
  await witnessed(count)
  await host.update(webhook, { active: true })
  return webhook
}

describe('a recovery', () => {
  test('delivers the events that an inactive webhook skipped, each once', async () => {
    const { id } = await skipped(60)
    await host.happen({ id: uuid(100), type: 'API_DELETED', time: new Date().toISOString() })
    expect(receiver.on('/a')).toEqual([])
    const asked = await recover(id)
    expect(asked).toMatchObject({ status: 202, body: { webhook: id, status: 'RUNNING', progress: 0 } })
    expect(asked.headers.location).toBe(`/webhooks/${id}/recoveries/${asked.body.id}`)
    const done = await ended(asked.body)
    expect(done).toMatchObject({ progress: 1, examined: 60, recovered: 60 })
    await receiver.arrivals('/a', 60)
    expect(arrivedAt('/a').toSorted()).toEqual(ids(1, 60))
    const traces = new Set(receiver.on('/a').map(({ headers }) => String(headers.traceparent).slice(3, 35)))
    expect(traces.size).toBe(60)
    const records = (await host.history()).filter(({ webhook }) => webhook === id)
    expect(new Set(records.map(({ attemptLog }) => attemptLog[0]?.trigger))).toEqual(new Set(['RECOVERY']))

    // A second recovery finds nothing, and later events are delivered as usual.
    const again = await recover(id)
    expect(await ended(again.body)).toMatchObject({ examined: 60, recovered: 0 })
    await happen([uuid(61)])
    await receiver.arrivals('/a', 61)
    expect((await host.call('GET', `/webhooks/${id}/recoveries`)).body).toMatchObject({
      totalElements: 2,
      content: [{ id: again.body.id }, { id: asked.body.id }],
    })
  }, 60_000)

  test('retries deliveries that were given up, not cancelled or successful ones', async () => {
    receiver.respond = ({ body }, number) =>
      JSON.parse(body).id === uuid(1) ? { status: 200 } : failing({ path: '', headers: {}, body }, number)
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await happen(ids(1, 2))
    await eventually(async () => {
      expect(await host.history('status=GIVE_UP')).toHaveLength(1)
      expect(await host.history('status=SUCCESS')).toHaveLength(1)
    })
    receiver.respond = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    await happen([uuid(3)])
    await eventually(async () => expect(await host.history('status=RETRYING')).toHaveLength(1))
    const [waiting] = await host.history('status=RETRYING')
    await host.call('POST', `/webhooks/requests/${waiting?.id}/cancel`)

    receiver.respond = () => ({ status: 200 })
    const { body } = await recover(id)
    expect(await ended(body)).toMatchObject({ examined: 3, recovered: 1 })
    await eventually(async () => expect(await host.history('status=SUCCESS')).toHaveLength(2))
    const recovered = (await host.history()).find(({ eventId }) => eventId === uuid(2))
    expect(recovered?.attemptLog.map(({ trigger }) => trigger)).toEqual([
      'AUTOMATIC',
      'AUTOMATIC',
      'RECOVERY',
    ])
    expect(await host.history('status=CANCELLED')).toMatchObject([{ eventId: uuid(3) }])
  })

  test('delivers only events of its range', async () => {
    clockIsBehindMs = 5 * 3_600_000
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    await host.subscribe(receiver.url('/witness'), ['API_CREATED'])
    clockIsBehindMs = 0
    const hour = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    for (const n of [1, 2, 3, 4]) await happen([uuid(n)], hour(5 - n))
    await witnessed(4)
    await host.update(webhook, { active: true })
    const { body } = await recover(webhook.id, { from: hour(3.5), to: hour(1.5) })
    expect(await ended(body)).toMatchObject({ examined: 2, recovered: 2 })
    await receiver.arrivals('/a', 2)
    expect(arrivedAt('/a').toSorted()).toEqual(ids(2, 3))
  })

  test('continues after the death of the process, and counts and delivers no event twice', async () => {
    await host.close()
    host = await hostNotifier({ WEBHOOK_RETRY_SCHEDULE: '5ms', WEBHOOK_TIMEOUT: '1s' })
    const { id } = await skipped(120)
    const { body } = await recover(id)
    for (const count of [1, 40, 80]) {
      await receiver.arrivals('/a', count)
      await host.kill()
    }
    expect(await ended(body)).toMatchObject({ examined: 120, recovered: 120 })
    await eventually(() => expect(new Set(arrivedAt('/a')).size).toBe(120))
    await eventually(async () =>
      expect((await host.call('GET', `/webhooks/${id}/requests?status=SUCCESS`)).body.totalElements).toBe(
        120,
      ),
    )
    const before = (await host.call('GET', `/webhooks/${id}/recoveries`)).body
    const rebuilt = await requestRebuild('notifier.projector', host.dependencies.readModels, uuid(999))
    await eventually(async () => expect(await rebuilt()).toBe(true))
    expect((await host.call('GET', `/webhooks/${id}/recoveries`)).body).toEqual(before)
  }, 90_000)

  test('leaves slots for new events', async () => {
    const { id } = await skipped(60)
    const { respond, letGo } = delayedReply()
    receiver.respond = (arrival, number) =>
      ids(1, 60).includes(JSON.parse(arrival.body).id) ? respond(arrival, number) : { status: 200 }
    const { body } = await recover(id)
    await ended(body)
    await receiver.arrivals('/a', 12)
    await happen(ids(61, 64))
    await eventually(() => expect(arrivedAt('/a')).toEqual(expect.arrayContaining(ids(61, 64))))
    // Recovered deliveries never hold all slots that one webhook may have.
    expect(arrivedAt('/a').filter(id => ids(1, 60).includes(id)).length).toBeLessThan(28)
    letGo()
    await receiver.arrivals('/a', 64)
  })

  test('pauses while the webhook is inactive, and ends when it is deleted', async () => {
    const webhook = await skipped(120)
    const { body } = await recover(webhook.id)
    await receiver.arrivals('/a', 1)
    await host.update(webhook, { active: false })
    await eventually(async () => {
      const { examined } = (await host.call('GET', `/webhooks/${webhook.id}/recoveries/${body.id}`)).body
      expect(examined).toBeGreaterThan(0)
      expect(examined).toBeLessThan(120)
    })
    expect((await host.call('DELETE', `/webhooks/${webhook.id}`)).status).toBe(204)
    const { recoveries } = await import('./recovery.projection.ts')
    await eventually(async () =>
      expect(await host.dependencies.readModels.collection(recoveries).get(body.id)).toMatchObject({
        doc: { status: 'CANCELLED' },
      }),
    )
  })

  test('runs even if a hundred earlier ones of the same time are paused', async () => {
    const inactive = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    const active = await host.subscribe(receiver.url('/b'), ['API_CREATED'])
    const recovery = aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>({
      eventStore: host.dependencies.eventStore,
      category: 'recovery',
      decider: recoveryDecider({ retentionMs: 86_400_000 }),
    })
    const metadata = { ...storyMetadata, now: began }
    const range = { from: began, to: began, after: 0, through: 0 }
    const request = (id: string, webhook: string) =>
      recovery.execute(id, { type: 'RequestRecovery', metadata, id, webhook, ...range })
    for (const id of ids(1, 100)) await request(id, inactive.id)
    await request(uuid(101), active.id)
    await ended({ webhook: active.id, id: uuid(101) })
    expect((await host.call('GET', `/webhooks/${inactive.id}/recoveries/${uuid(1)}`)).body.status).toBe(
      'RUNNING',
    )
  })

  test('can be cancelled by a user', async () => {
    const { id } = await skipped(120)
    const { body } = await recover(id)
    const path = `/webhooks/${id}/recoveries/${body.id}`
    expect((await host.call('POST', `${path}/cancel`)).body).toMatchObject({ status: 'CANCELLED' })
    expect((await host.call('POST', `${path}/cancel`)).body.code).toBe('recovery-not-running')
    expect((await host.call('GET', path)).body).toMatchObject({ status: 'CANCELLED' })
  })

  test('is refused with an invalid range, for an inactive webhook, and for an unknown one', async () => {
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    expect((await recover(id)).body.code).toBe('webhook-inactive')
    expect((await recover(uuid(1))).body.code).toBe('webhook-not-found')
    await host
      .call('GET', `/webhooks/${id}/recoveries/${uuid(1)}`)
      .then(({ body }) => expect(body.code).toBe('recovery-not-found'))
    const active = await host.subscribe(receiver.url('/b'), ['API_CREATED'])
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString()
    for (const [range, field] of [
      [{}, 'from'],
      [{ from: 'yesterday' }, 'from'],
      [{ from: days(1), to: days(2) }, 'from'],
      [{ from: days(1), to: days(-1) }, 'to'],
      [{ from: days(31) }, 'from'],
    ] as const) {
      const refused = await recover(active.id, range)
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ field }] } })
    }
    expect((await host.call('GET', `/webhooks/${active.id}/recoveries`)).body.totalElements).toBe(0)
  })
})

test('a recovery logs once which messages were removed before it read them', async () => {
  const warned: [object, string][] = []
  const retaining = await openNotifier(
    {},
    {
      start: false,
      around: dependencies => {
        const warn = (...line: [object, string]) => void warned.push(line)
        const log = { ...dependencies.process.log, info() {}, error() {}, warn }
        return { ...dependencies, process: { ...dependencies.process, log } }
      },
    },
  )
  const { bus } = retaining.dependencies
  const recoverAgain = async (id: string) =>
    (await retaining.call('POST', `/webhooks/${id}/recover`, { from: began })).body
  const completed = ({ webhook, id }: RecoveryRecord) =>
    eventually(async () => {
      const { body } = await retaining.call('GET', `/webhooks/${webhook}/recoveries/${id}`)
      expect(body).toMatchObject({ status: 'COMPLETED', examined: 1 })
    })
  const { id } = await retaining.subscribe(receiver.url('/b'), ['API_CREATED'])
  for (const event of ids(1, 3))
    await retaining.happen({ id: event, type: 'API_CREATED', time: new Date().toISOString() })
  const asked = await recoverAgain(id)
  const removing = sqliteBus({
    path: join(retaining.folder, 'messages.db'),
    now: () => new Date(Date.now() + 3_600_000),
    retentionMs: 60_000,
  })
  await eventually(async () => expect(await bus.removedThrough([subjects.allEvents])).toBe(2))
  await removing.close()

  await retaining.service.start()
  await completed(asked)
  const line = 'messages were removed because of their age: a recovery may miss events'
  expect(warned).toEqual([[{ recovery: asked.id, after: 0, through: 2 }, line]])
  await completed(await recoverAgain(id))
  expect(warned).toHaveLength(1)
})
