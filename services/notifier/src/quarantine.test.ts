import { beforeEach, expect, test, vi } from 'vitest'
import { deliveryId } from './delivery/deliveries.ts'
import { openNotifier, uuid } from './testing/notifier-host.ts'
import { failing, ok, openReceiver, type Receiver } from './testing/receiver.ts'
import { webhooks } from './webhook/webhook.projection.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})

test('a quarantined webhook without a document does not block the deliveries of other webhooks', async () => {
  const host = await openNotifier({ WEBHOOK_RETRY_SCHEDULE: Array(50).fill('100ms').join() })
  receiver.respond = failing
  const one = await host.subscribe(receiver.url('/one'), ['API_CREATED'])
  const other = await host.subscribe(receiver.url('/other'), ['API_DELETED'])
  // The scheduler scans webhooks in the order of their ids.
  const [broken, healthy] = one.id < other.id ? [one, other] : [other, one]
  await host.happen({ id: uuid(1), type: 'API_CREATED' })
  await host.happen({ id: uuid(2), type: 'API_DELETED' })
  await receiver.arrivals(new URL(healthy.url).pathname, 2)
  await host.append(`webhook-${broken.id}`, 'WebhookUpdated', null)
  await host.dependencies.readModels.collection(webhooks).remove(broken.id, 99)
  receiver.respond = ok
  await host.kill()
  await vi.waitFor(async () =>
    expect(await host.history('status=SUCCESS')).toContainEqual(
      expect.objectContaining({ webhook: healthy.id }),
    ),
  )
})

test('a quarantined delivery blocks neither its event at other webhooks nor later events', async () => {
  const host = await openNotifier()
  const broken = await host.subscribe(receiver.url('/broken'), ['API_CREATED'])
  await host.subscribe(receiver.url('/healthy'), ['API_CREATED'])
  await host.append(`delivery-${deliveryId(uuid(1), broken.id)}`, 'DeliveryCreated', null)
  for (const n of [1, 2]) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await receiver.arrivals('/healthy', 2)
  await receiver.arrivals('/broken', 1)
})
