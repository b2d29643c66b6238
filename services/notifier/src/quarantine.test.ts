import { randomUUID } from 'node:crypto'
import { storyMetadata, withoutProjector } from '@gantry/event-sourcing/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deliveries, deliveryId } from './delivery/deliveries.ts'
import { removeFinished } from './dispatch/expiry.ts'
import { DELIVERY, openNotifier } from './testing/notifier-host.ts'
import { failing, ok, openReceiver, type Receiver } from './testing/receiver.ts'
import { webhooks } from './webhook/webhook.projection.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
type Notifier = Awaited<ReturnType<typeof openNotifier>>

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => receiver.close())
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

/** Appends an event of a known type with data that cannot be folded. */
async function damage({ dependencies }: Notifier, stream: string, type: string): Promise<void> {
  const { eventStore } = dependencies
  const revision = (await eventStore.readStream(stream)).at(-1)?.revision ?? -1
  const metadata = { actor: { id: null, name: 'test' }, requestId: 'test', at: storyMetadata.now }
  await eventStore.append(
    stream,
    [{ id: randomUUID(), type, data: null as unknown as object, metadata }],
    revision,
  )
}

test('a quarantined webhook without a document does not block the deliveries of other webhooks', async () => {
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: '10ms,100ms,100ms,100ms,100ms,100ms,100ms' })
  receiver.respond = failing
  const broken = await host.subscribe(receiver.url('/broken'), ['API_CREATED'])
  let healthy = broken
  // The scheduler scans webhooks in the order of their ids.
  while (healthy.id <= broken.id) healthy = await host.subscribe(receiver.url('/healthy'), ['API_DELETED'])
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await host.happen({ id: uuid(2), type: 'API_DELETED' })
  await eventually(() => expect(receiver.on('/healthy').length).toBeGreaterThan(1))
  await damage(host, `webhook-${broken.id}`, 'WebhookUpdated')
  await host.dependencies.readModels.collection(webhooks).remove(broken.id, 99)
  receiver.respond = ok
  await host.kill()
  await eventually(async () => {
    const records = await host.history('size=100')
    expect(records.filter(({ webhook }) => webhook === healthy.id).map(({ status }) => status)).toContain(
      'SUCCESS',
    )
  })
})

test('a quarantined delivery blocks neither its event at other webhooks nor later events', async () => {
  const host = await openNotifier()
  const broken = await host.subscribe(receiver.url('/broken'), ['API_CREATED'])
  await host.subscribe(receiver.url('/healthy'), ['API_CREATED'])
  await damage(host, `delivery-${deliveryId(uuid(1), broken.id)}`, 'DeliveryCreated')
  for (const n of [1, 2]) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await receiver.arrivals('/healthy', 2)
  await receiver.arrivals('/broken', 1)
})

test('a quarantined delivery stays when expired deliveries are removed', async () => {
  const host = await openNotifier({}, { start: false })
  const { newId, process } = host.dependencies
  const { log } = process
  const projector = withoutProjector(host.dependencies.readModels)
  const records = new Deliveries({ ...host.dependencies, projector }, { schedule: [], retentionMs: 60_000 })
  const [broken, healthy] = [uuid(3), uuid(4)]
  for (const id of [broken, healthy]) {
    const metadata = () => ({ ...storyMetadata, commandId: newId() })
    await records.execute(id, { type: 'CreateDelivery', metadata: metadata(), id, ...DELIVERY })
    await records.execute(id, { type: 'AbandonDelivery', metadata: metadata() })
  }
  await damage(host, `delivery-${broken}`, 'AttemptLost')

  const { signal } = new AbortController()
  await removeFinished({ deliveries: records, before: '2099-01-01T00:00:00.000Z', signal, log })
  expect(await records.documents.get(healthy)).toBeUndefined()
  expect(await records.documents.get(broken)).toBeDefined()
})
