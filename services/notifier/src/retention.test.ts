import { storyMetadata, withoutProjector } from '@gantry/event-sourcing/testing'
import type { Dependencies } from '@gantry/service-runtime'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Deliveries } from './delivery/deliveries.ts'
import { deliveries } from './delivery/delivery.projection.ts'
import { removeFinished } from './dispatch/expiry.ts'
import { DELIVERY, type Notifier, openNotifier, uuid } from './testing/notifier-host.ts'
import { openReceiver, type Receiver } from './testing/receiver.ts'

const MONTH_MS = 31 * 86_400_000

let receiver: Receiver
let ahead: number
beforeEach(async () => {
  ahead = 0
  receiver = await openReceiver()
})
const now = () => new Date(Date.now() + ahead)
const open = (around = (dependencies: Dependencies) => dependencies) => openNotifier({}, { now, around })
const happen = (host: Notifier, id: string, more: { time?: string; data?: Record<string, unknown> } = {}) =>
  host.happen({ id, type: 'API_CREATED', time: now().toISOString(), ...more }, `${id} ${ahead}`)
const emptied = (host: Notifier) => vi.waitFor(async () => expect(await host.history()).toEqual([]))

describe('after the retention', () => {
  test('a delivery is removed from read models and log, and its event is not delivered again when it is republished', async () => {
    const host = await open()
    await host.subscribe(receiver.url('/a'), ['API_CREATED'])
    const time = now().toISOString()
    await happen(host, uuid(1), { time })
    const { id } = await host.only('SUCCESS')

    ahead = MONTH_MS
    await host.restart()
    await emptied(host)
    expect(await host.typesIn(`delivery-${id}`)).toEqual([])

    await happen(host, uuid(1), { time })
    await happen(host, uuid(2))
    expect(await host.only('SUCCESS')).toMatchObject({ eventId: uuid(2) })
    expect(receiver.on('/a')).toHaveLength(2)
    await host.rebuild()
    expect((await host.history()).map(({ eventId }) => eventId)).toEqual([uuid(2)])
  })

  test('the payload of an event is stored once for a format, and removed with the last delivery of the event', async () => {
    const host = await open()
    const formats = ['STANDARD', 'STANDARD', 'STANDARD', 'CLOUDEVENTS_STRUCTURED']
    for (const format of formats) await host.subscribe(receiver.url('/a'), ['API_CREATED'], { format })
    receiver.respond = (_, number) => ({ status: number === 1 ? 429 : 204, headers: { 'retry-after': '60' } })
    const payloads = async () => {
      const stored: string[] = []
      for await (const { stream, data } of host.dependencies.eventStore.readAll({ after: '' }))
        if (JSON.stringify(data).includes('to be erased')) stored.push(stream)
      return stored
    }
    await happen(host, uuid(1), { data: { name: 'to be erased' } })
    await host.having('SUCCESS', 3)
    expect(await payloads()).toHaveLength(2)

    ahead = MONTH_MS
    await host.restart()
    const [last] = await host.having('SUCCESS', 1)
    expect(last?.payload).toMatchObject({ data: { name: 'to be erased' } })
    expect(receiver.on('/a')).toHaveLength(5)
    ahead = 2 * MONTH_MS
    await host.restart()
    await emptied(host)
    expect(await payloads()).toEqual([])
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
    await emptied(host)
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
    await emptied(host)
    await host.rebuild()

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
    await vi.waitFor(() => expect(refused).toBeGreaterThan(0))
    expect(await host.typesIn(`delivery-${id}`)).toEqual([])
    expect((await host.only('SUCCESS')).id).toBe(id)
    expect((await host.call('POST', `/webhooks/requests/${id}/retry`)).body.code).toBe('delivery-not-found')

    dying = false
    await host.kill()
    await emptied(host)
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
    await host.rebuild()
    await host.restart()
    await vi.waitFor(async () => expect(await host.typesIn(`delivery-${id}`)).toEqual([]))
    await emptied(host)
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
  await host.having('SUCCESS', 3)
  ahead = MONTH_MS
  await host.restart()
  await emptied(host)
  expect(removed.size).toBe(6)

  await host.dependencies.readModels.drop(deliveries)
  await host.rebuild()
  await host.restart()
  await emptied(host)
  expect(receiver.on('/a')).toHaveLength(4)
})

test('neither a delivery that is retried, which its document does not show yet, nor a quarantined one is removed', async () => {
  const host = await openNotifier({}, { start: false })
  const { newId, process, readModels } = host.dependencies
  const projector = withoutProjector(readModels)
  const records = new Deliveries({ ...host.dependencies, projector }, { schedule: [], retentionMs: 60_000 })
  const [retried, broken, over] = [uuid(3), uuid(4), uuid(5)]
  for (const id of [retried, broken, over]) {
    const metadata = () => ({ ...storyMetadata, commandId: newId() })
    await records.execute(id, { type: 'CreateDelivery', metadata: metadata(), id, ...DELIVERY })
    await records.execute(id, { type: 'AbandonDelivery', metadata: metadata() })
  }
  await host.append(`delivery-${retried}`, 'RetryRequested', { at: storyMetadata.now })
  await host.append(`delivery-${broken}`, 'AttemptLost', null)

  const { signal } = new AbortController()
  const before = '2099-01-01T00:00:00.000Z'
  await removeFinished({ deliveries: records, before, signal, log: process.log })

  expect((await records.load(retried)).state.status).toBe('RETRYING')
  for (const id of [retried, broken]) expect(await records.documents.get(id)).toBeDefined()
  expect((await records.load(over)).state.status).toBe('Absent')
  expect(await records.documents.get(over)).toBeUndefined()
})
