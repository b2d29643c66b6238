import { aggregate, requestRebuild } from '@gantry/event-sourcing'
import { storyMetadata, withoutProjector } from '@gantry/event-sourcing/testing'
import type { Dependencies } from '@gantry/service-kit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Deliveries } from './delivery/deliveries.ts'
import { type DeliveryCommand, deliveryDecider } from './delivery/delivery.decide.ts'
import { deliveries } from './delivery/delivery.projection.ts'
import type { DeliveryEvent, DeliveryState } from './delivery/delivery.ts'
import { removeFinished } from './dispatch/expiry.ts'
import { DELIVERY, hostNotifier } from './testing/notifier-host.ts'
import { openReceiver, type Receiver } from './testing/receiver.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const MONTH_MS = 31 * 86_400_000

let receiver: Receiver
let ahead: number
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  ahead = 0
  receiver = await openReceiver()
})
afterEach(async () => {
  receiver.close()
  for (const close of closing.splice(0).reverse()) await close()
})
const now = () => new Date(Date.now() + ahead)
const open = async (around?: (dependencies: Dependencies) => Dependencies) => {
  const host = await hostNotifier({}, { now, ...(around && { around }) })
  closing.push(() => host.close())
  return host
}
type Host = Awaited<ReturnType<typeof open>>
const happen = (host: Host, id: string, more: { time?: string; data?: Record<string, unknown> } = {}) =>
  host.happen({ id, type: 'API_CREATED', time: now().toISOString(), ...more }, `${id} ${ahead}`)
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 20 })
const eventTypes = async (host: Host, id: string) =>
  (await host.dependencies.eventStore.readStream(`delivery-${id}`)).map(({ type }) => type)
const rebuild = async ({ dependencies }: Host) => {
  const rebuilt = await requestRebuild('notifier.projector', dependencies.readModels, uuid(9))
  await eventually(async () => expect(await rebuilt()).toBe(true))
}

describe('after the retention', () => {
  test('a delivery is removed from read models and log, and its event is not delivered again when it is republished', async () => {
    const host = await open()
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const time = now().toISOString()
    await happen(host, uuid(1), { time, data: { name: 'to be erased' } })
    const { id } = await host.only('SUCCESS')
    expect(JSON.stringify(await host.dependencies.eventStore.readStream(`delivery-${id}`))).toContain(
      'to be erased',
    )

    ahead = MONTH_MS
    await host.restart()
    await eventually(async () => expect(await host.history()).toEqual([]))
    expect(await eventTypes(host, id)).toEqual([])

    await happen(host, uuid(1), { time })
    await happen(host, uuid(2))
    expect(await host.only('SUCCESS')).toMatchObject({ eventId: uuid(2) })
    expect(receiver.on('/a')).toHaveLength(2)
    await rebuild(host)
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('the age of an event of the platform counts from its receipt, even on another bus', async () => {
    // The bus uses the clock of the machine.
    ahead = -MONTH_MS
    const host = await open()
    await host.subscribe(receiver.url('/a'), ['SUBSCRIPTION_CREATED'])
    const event = { source: '/platform', specversion: '1.0', type: 'SUBSCRIPTION_CREATED', data: {} }
    const produced = (id: string) =>
      host.call('POST', '/events', { ...event, id, time: '2020-01-01T00:00:00.000Z' })
    expect((await produced('one')).status).toBe(202)
    const delivered = await host.only('SUCCESS')

    ahead = 0
    await host.restart()
    await eventually(async () => expect(await host.history()).toEqual([]))
    // As when the log is published again from the beginning.
    const { bus } = host.dependencies
    const subjects = ['events.platform.>']
    const told = bus.read({ subjects, after: 0, live: false, signal: new AbortController().signal })
    for await (const { subject, data, headers } of told)
      await bus.publish([{ id: 'again', subject, data, ...(headers && { headers }) }])
    expect((await produced('two')).status).toBe(202)

    const next = await host.only('SUCCESS')
    expect(next.eventId).not.toBe(delivered.eventId)
    expect(receiver.on('/a')).toHaveLength(2)
  })

  test('a delivery with changes by a user stays in the log for the audit log, but not in the read models', async () => {
    const host = await open()
    const webhook = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const { body: tested } = await host.call('POST', `/webhooks/${webhook.id}/test`)
    await host.only('SUCCESS')

    ahead = MONTH_MS
    await host.restart()
    await eventually(async () => expect(await host.history()).toEqual([]))
    await rebuild(host)

    expect(await host.history()).toEqual([])
    const [created] = await host.dependencies.eventStore.readStream(`delivery-${tested.id}`)
    expect(created?.metadata.change).toMatchObject({ action: 'WEBHOOK_TESTED', resourceId: tested.id })
  })

  test('a document whose stream was removed before the process died is removed later', async () => {
    let dying = true
    let refused = 0
    const host = await open(dependencies => {
      const { readModels } = dependencies
      const collection: typeof readModels.collection = definition => {
        const opened = readModels.collection(definition)
        const remove: typeof opened.remove = async (id, revision) => {
          if (dying && definition.name === deliveries.name) throw new Error(`died, ${++refused}`)
          return opened.remove(id, revision)
        }
        return { ...opened, remove }
      }
      return { ...dependencies, readModels: { ...readModels, collection } }
    })
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await happen(host, uuid(1))
    const { id } = await host.only('SUCCESS')
    ahead = MONTH_MS
    await host.restart()
    await eventually(() => expect(refused).toBeGreaterThan(0))
    expect(await eventTypes(host, id)).toEqual([])
    expect((await host.only('SUCCESS')).id).toBe(id)
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).body.code).toBe('delivery-not-found')

    dying = false
    await host.kill()
    await eventually(async () => expect(await host.history()).toEqual([]))
  })

  test('a stream whose document is missing is removed after a rebuild', async () => {
    const host = await open()
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    await happen(host, uuid(1))
    const { id } = await host.only('SUCCESS')
    ahead = MONTH_MS
    const { readModels } = host.dependencies
    const stored = await readModels.collection(deliveries).get(id)
    await readModels.collection(deliveries).remove(id, stored?.revision ?? -1)
    await rebuild(host)
    await host.restart()
    await eventually(async () => expect(await eventTypes(host, id)).toEqual([]))
    await eventually(async () => expect(await host.history()).toEqual([]))
  })
})

test('a log that still contains removed streams, like EventStoreDB before a scavenge, restores no delivery', async () => {
  const removed = new Set<string>()
  const host = await open(dependencies => {
    const { eventStore } = dependencies
    const readStream: typeof eventStore.readStream = async (stream, from) =>
      removed.has(stream) ? [] : eventStore.readStream(stream, from)
    const remove = async (stream: string) => void removed.add(stream)
    return { ...dependencies, eventStore: { ...eventStore, readStream, remove } }
  })
  receiver.respond = (_, number) => ({ status: number === 1 ? 503 : 200 })
  await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  for (const n of [1, 2, 3]) await happen(host, uuid(n))
  await eventually(async () => expect(await host.history('status=SUCCESS')).toHaveLength(3))
  ahead = MONTH_MS
  await host.restart()
  await eventually(async () => expect(await host.history()).toEqual([]))
  expect(removed.size).toBe(3)

  await host.dependencies.readModels.drop(deliveries)
  await rebuild(host)
  await host.restart()
  await eventually(async () => expect(await host.history()).toEqual([]))
  expect(receiver.on('/a')).toHaveLength(4)
})

test('a retried delivery is not removed, even if its document does not show the retry yet', async () => {
  const host = await hostNotifier({}, { start: false })
  closing.push(() => host.close())
  const { eventStore, newId, process } = host.dependencies
  const { log } = process
  const rules = { schedule: [], retentionMs: 60_000 }
  const projector = withoutProjector(host.dependencies.readModels)
  const records = new Deliveries({ ...host.dependencies, projector }, rules)
  const withoutDocuments = aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>({
    eventStore,
    category: 'delivery',
    decider: deliveryDecider(rules),
  })
  const metadata = () => ({ ...storyMetadata, commandId: newId() })
  const [again, over] = [uuid(3), uuid(4)]
  for (const id of [again, over]) {
    await records.execute(id, { type: 'CreateDelivery', metadata: metadata(), id, ...DELIVERY })
    await records.execute(id, { type: 'AbandonDelivery', metadata: metadata() })
  }
  await withoutDocuments.execute(again, {
    type: 'RetryDelivery',
    metadata: metadata(),
    webhookDeleted: false,
  })

  const { signal } = new AbortController()
  await removeFinished({ deliveries: records, before: '2099-01-01T00:00:00.000Z', signal, log })

  expect((await records.load(again)).state.status).toBe('RETRYING')
  expect(await records.documents.get(again)).toBeDefined()
  expect((await records.load(over)).state.status).toBe('Absent')
  expect(await records.documents.get(over)).toBeUndefined()
})
