import { join } from 'node:path'
import { type RecoveryRecord, subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { aggregate } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import type { Bus, StoredMessage } from '@gantry/messaging'
import type { Dependencies } from '@gantry/service-runtime'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Notifier, openNotifier, uuid } from '../testing/notifier-host.ts'
import { delayedReply, eventOf, openReceiver, type Receiver } from '../testing/receiver.ts'
import { type RecoveryCommand, recoveryDecider } from './recovery.decide.ts'
import { recoveries } from './recovery.projection.ts'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => uuid(from + n))

let receiver: Receiver
let began: string
beforeEach(async () => {
  began = new Date().toISOString()
  receiver = await openReceiver()
})

const happen = async (host: Notifier, events: string[], time = new Date().toISOString()) => {
  for (const id of events) await host.happen({ id, type: 'API_CREATED', time })
}
const arrivedAt = (path: string) => receiver.on(path).map(arrival => eventOf(arrival).id)
const recover = async (host: Notifier, id: string, range: object = { from: began }) =>
  (await host.call('POST', `/webhooks/${id}/recover`, range)).body as RecoveryRecord
const planned = async (host: Notifier, id: string) =>
  (await host.call('POST', `/webhooks/${id}/recover?dryRun=true`, { from: began })).body
const read = async (host: Notifier, { webhook, id }: Pick<RecoveryRecord, 'webhook' | 'id'>) =>
  (await host.call('GET', `/webhooks/${webhook}/recoveries/${id}`)).body as RecoveryRecord
const completed = (host: Notifier, recovery: Pick<RecoveryRecord, 'webhook' | 'id'>) =>
  vi.waitFor(async () => {
    const record = await read(host, recovery)
    expect(record.status).toBe('COMPLETED')
    return record
  })

/** A webhook that was inactive while `count` events were published, numbered from 1. */
const skipped = async (host: Notifier, count: number) => {
  const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
  // All events are handled once a webhook that was active all along has received them.
  await host.subscribe(receiver.url('/witness'), ['API_CREATED'])
  await happen(host, ids(1, count))
  await receiver.arrivals('/witness', count)
  await host.update(webhook, { active: true })
  return webhook
}

/** @returns a function that requests a recovery without events */
const requesting = ({ dependencies: { eventStore } }: Notifier) => {
  const decider = recoveryDecider({ retentionMs: 86_400_000 })
  const recovery = aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>({
    eventStore,
    category: 'recovery',
    decider,
  })
  const metadata = { ...storyMetadata, now: began }
  const range = { from: began, to: began, after: 0, through: 0, end: null }
  return (id: string, webhook: string) =>
    recovery.execute(id, { type: 'RequestRecovery', metadata, id, webhook, ...range })
}

describe('a recovery', () => {
  test('delivers and counts each skipped event once, although the process dies twice', async () => {
    const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '5ms' })
    const { id } = await skipped(host, 60)
    await host.happen({ id: uuid(100), type: 'API_DELETED', time: new Date().toISOString() })
    expect(await planned(host, id)).toEqual({ examined: 60, toSend: 60 })
    const asked = await recover(host, id)
    for (const count of [1, 30]) {
      await receiver.arrivals('/a', count)
      await host.kill()
    }
    expect(await completed(host, asked)).toMatchObject({
      progress: 1,
      total: 60,
      examined: 60,
      recovered: 60,
    })
    const records = (await host.having('SUCCESS', 120)).filter(({ webhook }) => webhook === id)
    expect(new Set(records.map(({ attemptLog }) => attemptLog[0]?.trigger))).toEqual(new Set(['RECOVERY']))
    expect([...new Set(arrivedAt('/a'))].toSorted()).toEqual(ids(1, 60))
    const traces = new Set(receiver.on('/a').map(({ headers }) => String(headers.traceparent).slice(3, 35)))
    expect(traces.size).toBe(60)

    expect(await planned(host, id)).toEqual({ examined: 60, toSend: 0 })
    const again = await recover(host, id)
    expect(await completed(host, again)).toMatchObject({ examined: 60, recovered: 0 })
  })

  test('is refused while another one of its webhook runs, also when both are requested at once', async () => {
    const host = await openNotifier({}, { start: false })
    const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const other = await host.subscribe(receiver.url('/b'), ['API_CREATED'])
    const request = async (webhook: string) =>
      (await host.call('POST', `/webhooks/${webhook}/recover`, { from: began })).status
    expect((await Promise.all([request(id), request(id)])).toSorted()).toEqual([202, 409])
    expect(await recover(host, id)).toMatchObject({ code: 'recovery-running' })
    expect(await request(other.id)).toBe(202)
    const { content } = (await host.call('GET', `/webhooks/${id}/recoveries`)).body
    await host.call('POST', `/webhooks/${id}/recoveries/${content[0].id}/cancel`)
    expect(await request(id)).toBe(202)
  })

  test('continues on a bus that was lost and that relays have filled again', async () => {
    let [own, current]: (Bus | undefined)[] = []
    const around = (dependencies: Dependencies): Dependencies => {
      own = dependencies.bus
      const { read, last, head, removedThrough } = own
      const bus: Bus = {
        ...own,
        read: options => (current?.read ?? read)(options),
        last: subjects => (current?.last ?? last)(subjects),
        head: () => (current?.head ?? head)(),
        removedThrough: subjects => (current?.removedThrough ?? removedThrough)(subjects),
      }
      return { ...dependencies, bus }
    }
    const host = await openNotifier({}, { around })
    const bus = own as unknown as Bus
    for (const id of ids(1_001, 1_060)) await host.happen({ id, type: 'API_DELETED' })
    const webhook = await skipped(host, 60)
    const filled = sqliteBus({ path: join(host.folder, 'filled.db') })
    onTestFinished(() => filled.close())
    /** As the relays of two services do: the events of one come before those of the other. */
    const fill = async () => {
      const { signal } = new AbortController()
      const subjects = ['events.catalog.API_CREATED', 'events.notifier.*']
      const messages: StoredMessage[] = []
      for await (const message of bus.read({ subjects, after: 0, live: false, signal }))
        messages.push(message)
      const others = new Set(ids(31, 60))
      for (const first of [true, false])
        await filled.publish(messages.filter(({ id }) => others.has(id) === first))
    }
    const asked = await recover(host, webhook.id)
    await receiver.arrivals('/a', 1)
    current = filled
    await fill()
    expect(await completed(host, asked)).toMatchObject({ progress: 1, recovered: 60 })
    await vi.waitFor(() => expect([...new Set(arrivedAt('/a'))].toSorted()).toEqual(ids(1, 60)))
  })

  test('delivers only events of its range', async () => {
    let clockIsBehindMs = 5 * 3_600_000
    const host = await openNotifier({}, { now: () => new Date(Date.now() - clockIsBehindMs) })
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    await host.subscribe(receiver.url('/witness'), ['API_CREATED'])
    clockIsBehindMs = 0
    const hour = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    for (const n of [1, 2, 3, 4]) await happen(host, [uuid(n)], hour(5 - n))
    await receiver.arrivals('/witness', 4)
    await host.update(webhook, { active: true })
    const asked = await recover(host, webhook.id, { from: hour(3.5), to: hour(1.5) })
    expect(await completed(host, asked)).toMatchObject({ examined: 2, recovered: 2 })
    await receiver.arrivals('/a', 2)
    expect(arrivedAt('/a').toSorted()).toEqual(ids(2, 3))
  })

  test('leaves slots for new events', async () => {
    const host = await openNotifier()
    const { id } = await skipped(host, 40)
    const { respond, letGo } = delayedReply()
    const old = new Set(ids(1, 40))
    receiver.respond = (arrival, number) =>
      old.has(eventOf(arrival).id) ? respond(arrival, number) : { status: 200 }
    await completed(host, await recover(host, id))
    await receiver.arrivals('/a', 12)
    await happen(host, ids(41, 44))
    await vi.waitFor(() => expect(arrivedAt('/a')).toEqual(expect.arrayContaining(ids(41, 44))))
    // Recovered deliveries never hold all slots that one webhook may have.
    expect(arrivedAt('/a').filter(event => old.has(event)).length).toBeLessThan(28)
    letGo()
    await receiver.arrivals('/a', 44)
  })

  test('runs although a hundred earlier ones are paused because their webhook is inactive, and ends with its webhook', async () => {
    const host = await openNotifier()
    const inactive = await host.subscribe(receiver.url('/a'), ['API_CREATED'], { active: false })
    const active = await host.subscribe(receiver.url('/b'), ['API_CREATED'])
    const request = requesting(host)
    for (const id of ids(1, 100)) await request(id, inactive.id)
    await request(uuid(101), active.id)
    await completed(host, { webhook: active.id, id: uuid(101) })
    expect((await read(host, { webhook: inactive.id, id: uuid(1) })).status).toBe('RUNNING')

    await host.call('DELETE', `/webhooks/${inactive.id}`)
    await vi.waitFor(async () =>
      expect(await host.dependencies.readModels.collection(recoveries).get(uuid(1))).toMatchObject({
        doc: { status: 'CANCELLED' },
      }),
    )
  })
})

test('many recoveries of one owner, or for one webhook, let those of another owner proceed', async () => {
  const host = await openNotifier({}, { start: false })
  const hooks = []
  for (let n = 1; n <= 10; n++) hooks.push(await host.subscribe(receiver.url(`/${n}`), ['API_CREATED']))
  const other = uuid(1_000)
  await host.append(`webhook-${hooks[0]?.id}`, 'WebhookTransferred', { owner: other, transferredAt: began })
  const [others, ...own] = hooks.map(({ id }) => id)
  const request = requesting(host)
  await request(uuid(1), own[0] as string)
  for (const [n, webhook] of own.entries()) await request(uuid(n + 2), webhook)
  await request(other, others as string)
  await host.service.start()
  const endOf = (id: string) =>
    vi.waitFor(async () => {
      const [, , end] = await host.dependencies.eventStore.readStream(`recovery-${id}`)
      return end?.position ?? expect.fail('still runs')
    })
  const end = await endOf(other)
  // The second recovery for the first webhook, and that for the ninth webhook.
  for (const id of [uuid(2), uuid(10)]) expect((await endOf(id)) > end).toBe(true)
})

test('a recovery logs once which messages were removed before it read them', async () => {
  const warned: [object, string][] = []
  const host = await openNotifier(
    {},
    {
      start: false,
      around(dependencies) {
        const warn = (...line: [object, string]) => void warned.push(line)
        const log = { ...dependencies.process.log, info() {}, error() {}, warn }
        return { ...dependencies, process: { ...dependencies.process, log } }
      },
    },
  )
  const { bus } = host.dependencies
  const { id } = await host.subscribe(receiver.url('/b'), ['API_CREATED'])
  await happen(host, ids(1, 3))
  const asked = await recover(host, id)
  const removing = sqliteBus({
    path: join(host.folder, 'messages.db'),
    now: () => new Date(Date.now() + 3_600_000),
    retentionMs: 60_000,
  })
  await vi.waitFor(async () => expect(await bus.removedThrough([subjects.allEvents])).toBe(2))
  await removing.close()

  await host.service.start()
  expect(await completed(host, asked)).toMatchObject({ examined: 1 })
  const line = 'messages were removed because of their age: a recovery may miss events'
  expect(warned).toEqual([[{ recovery: asked.id, after: 0, through: 2 }, line]])
  await completed(host, await recover(host, id))
  expect(warned).toHaveLength(1)
})
