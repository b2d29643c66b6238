import {
  cancelDelivery,
  getDelivery,
  listDeliveries,
  listWebhookDeliveries,
  type Principal,
  Refusal,
  retryDelivery,
  testWebhook,
} from '@gantry/contracts'
import type { Aggregate } from '@gantry/event-sourcing'
import type { Collection, Condition } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { requireReadScopes } from '../read-scopes.ts'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import type { DeliveryCommand } from './delivery.decide.ts'
import { type DeliveryDocument, deliveryRecord, recordOf } from './delivery.projection.ts'
import type { DeliveryEvent, DeliveryState } from './delivery.ts'
import { bodyOf } from './payload.ts'

export interface DeliveryRoutes {
  delivery: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>
  deliveries: Collection<DeliveryDocument>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  webhooks: Collection<WebhookDocument>
  dispatcher: Dispatcher
}

export function deliveryRoutes(route: AddRoute, options: DeliveryRoutes): void {
  const { delivery, deliveries, webhook, webhooks, dispatcher } = options

  route(testWebhook, async ({ params, metadata, principal, newId }) => {
    const target = await existing(params.webhook_id)
    const occasion = {
      id: newId(),
      type: 'TEST',
      timestamp: metadata.now,
      data: { webhook: target.id, message: 'A test of this webhook' },
    }
    const made = { id: newId(), eventId: occasion.id, eventType: occasion.type, body: bodyOf(occasion) }
    return answer(202, await dispatcher.deliver(target, made, metadata), principal)
  })

  route(listWebhookDeliveries, async ({ params, query, principal }) => {
    await existing(params.webhook_id)
    return list({ webhook: params.webhook_id }, query, principal)
  })

  route(listDeliveries, async ({ query, principal }) => list({}, query, principal))

  route(getDelivery, async ({ params, principal }) => {
    await existing(params.webhook_id)
    const stored = await deliveries.get(params.request_id)
    if (stored?.doc.webhook !== params.webhook_id) throw new Refusal('delivery-not-found')
    return { status: 200, body: deliveryRecord(stored.doc, principal) }
  })

  route(retryDelivery, async ({ params, metadata, principal }) => {
    const id = params.request_id
    const { state } = await delivery.load(id)
    // The webhook may have another URL by now, which the caller chose.
    if (state.status !== 'Absent') requireReadScopes(principal, [state.eventType])
    const owner = state.status === 'Absent' ? undefined : await webhook.load(state.webhook)
    const webhookDeleted = owner?.state.status === 'Deleted'
    const executed = await delivery.execute(id, { type: 'RetryDelivery', metadata, webhookDeleted })
    dispatcher.changed(executed.state)
    return answer(200, executed, principal)
  })

  route(cancelDelivery, async ({ params, metadata, principal }) => {
    const executed = await delivery.execute(params.request_id, { type: 'CancelDelivery', metadata })
    dispatcher.changed(executed.state)
    return answer(200, executed, principal)
  })

  const existing = async (id: string): Promise<WebhookDocument> => {
    const stored = await webhooks.get(id)
    if (!stored) throw new Refusal('webhook-not-found')
    return stored.doc
  }

  const list = async (where: Record<string, Condition>, query: Paging, caller: Principal) => {
    const { items, total } = await deliveries.find(listing(query, { ...where, status: query.status }))
    const content = items.map(({ doc }) => deliveryRecord(doc, caller))
    return { status: 200, body: page(content, total, query) }
  }

  const answer = (status: number, { state }: { state: DeliveryState }, caller: Principal) => {
    if (state.status === 'Absent') throw new Refusal('delivery-not-found')
    return { status, body: recordOf(state, caller) }
  }
}

interface Paging {
  page: number
  size: number
  sort: { field: string; direction: 'asc' | 'desc' }[]
  status?: string | undefined
}
