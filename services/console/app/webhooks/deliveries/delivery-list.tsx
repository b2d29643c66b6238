import { Empty } from '../../parts/states.tsx'

/** The deliveries of a webhook, or of all webhooks. */
export function DeliveryList({ webhookId }: { webhookId?: string }) {
  return <Empty title={webhookId ? 'Deliveries of this webhook' : 'Deliveries of all webhooks'} />
}
