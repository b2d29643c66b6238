import {
  cancelDelivery,
  EVENT_TYPES,
  getDelivery,
  listDeliveries,
  listWebhookDeliveries,
  mayReadEvent,
  type Principal,
  Refusal,
  retryDelivery,
  testWebhook,
} from '@gantry/contracts'
import type { CommandMetadata } from '@gantry/event-sourcing'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Condition } from '@gantry/stores'
import { requireReadScopes } from '../read-scopes.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import type { Deliveries, Dispatch } from './deliveries.ts'
import { type DeliveryDocument, deliveryRecord, documentOf, type Receiver } from './delivery.projection.ts'
import type { DeliveryState } from './delivery.ts'

export interface DeliveryRoutes {
  deliveries: Deliveries
  webhooks: Webhooks
  dispatcher: Dispatch
}

export function deliveryRoutes(route: AddRoute, options: DeliveryRoutes): void {
  const { deliveries, webhooks, dispatcher } = options

  route(testWebhook, async ({ params, metadata, principal, newId }) => {
    const target = await webhooks.existing(params.webhook_id)
    requireReadScopes(principal, target.eventTypes)
    const executed = await dispatcher.deliver(target, testEvent(target.id, newId(), metadata), { metadata })
    return { status: 202, body: await current(executed, principal, target) }
  })

  route(listWebhookDeliveries, async ({ params, query, principal }) => {
    await webhooks.existing(params.webhook_id)
    return { status: 200, body: await list({ webhook: params.webhook_id }, query, principal) }
  })

  route(listDeliveries, async ({ query: { webhook, ...query }, principal }) => ({
    status: 200,
    body: await list({ webhook }, query, principal),
  }))

  route(getDelivery, async ({ params, principal }) => {
    const webhook = await webhooks.existing(params.webhook_id)
    const stored = await deliveries.documents.get(params.request_id)
    if (stored?.doc.webhook !== params.webhook_id) throw new Refusal('delivery-not-found')
    return { status: 200, body: await record(stored.doc, principal, webhook) }
  })

  route(retryDelivery, async ({ params, metadata, principal }) => {
    const id = params.request_id
    const webhook = await webhookForChange(options, id, principal)
    const webhookDeleted = webhook === undefined
    const executed = await deliveries.execute(id, { type: 'RetryDelivery', metadata, webhookDeleted })
    dispatcher.changed(executed.state)
    return { status: 200, body: await current(executed, principal, webhook) }
  })

  route(cancelDelivery, async ({ params, metadata, principal }) => {
    const id = params.request_id
    const webhook = await webhookForChange(options, id, principal)
    const executed = await deliveries.execute(id, { type: 'CancelDelivery', metadata })
    dispatcher.changed(executed.state)
    return { status: 200, body: await current(executed, principal, webhook) }
  })

  const record = (doc: DeliveryDocument, caller: Principal, webhook: Receiver | undefined) =>
    deliveryRecord(doc, deliveries.payloads, caller, webhook)

  const list = async (where: Record<string, Condition | undefined>, query: Paging, caller: Principal) => {
    const { items, total } = await deliveries.documents.find(
      listing(query, { ...where, ...conditions(query, caller) }),
    )
    const ids = [...new Set(items.map(({ doc }) => doc.webhook))]
    const found = await webhooks.documents.list({
      where: { id: { in: ids } },
      limit: Math.max(1, ids.length),
    })
    const receivers = new Map(found.map(({ doc }) => [doc.id, doc]))
    const content = await Promise.all(items.map(({ doc }) => record(doc, caller, receivers.get(doc.webhook))))
    return page(content, total, query)
  }

  const current = ({ state }: { state: DeliveryState }, caller: Principal, webhook: Receiver | undefined) => {
    if (state.status === 'Absent') throw new Refusal('delivery-not-found')
    return record(documentOf(state), caller, webhook)
  }
}

const testEvent = (webhook: string, id: string, { now: time, actor, requestId }: CommandMetadata) => ({
  id,
  type: 'TEST',
  source: 'notifier',
  subject: webhook,
  revision: 0,
  time,
  data: { webhook, message: 'A test of this webhook' },
  actor,
  requestId,
})

/**
 * The webhook of a delivery; undefined if it is deleted.
 * @throws Refusal delivery-not-found; scope-missing when the caller may not read one of its event types, or the event
 */
async function webhookForChange(
  { deliveries, webhooks }: DeliveryRoutes,
  id: string,
  caller: Principal,
): Promise<Receiver | undefined> {
  const { state } = await deliveries.load(id)
  if (state.status === 'Absent') throw new Refusal('delivery-not-found')
  const { state: found } = await webhooks.load(state.webhook)
  const webhook = found.status === 'Live' ? found.record : undefined
  requireReadScopes(caller, [state.eventType, ...(webhook?.eventTypes ?? [])])
  return webhook
}

function conditions({ status, eventType, eventId, api = [], ...times }: Paging, caller: Principal) {
  const ofType = api.length === 0 ? eventType : readableTypes(caller, eventType)
  const ofApi = api.length === 0 ? undefined : { in: api }
  const createdAt = range(times.from, times.to)
  const lastAttemptAt = range(times.lastAttemptFrom, times.lastAttemptTo)
  return { status, eventId, api: ofApi, eventType: ofType, createdAt, lastAttemptAt }
}

/** Condition for deliveries whose payload the caller may read: a filter by its content would reveal the content. */
function readableTypes({ scopes }: Principal, eventType: string | undefined): Condition | undefined {
  const types = Object.keys(EVENT_TYPES)
  const readable = types.filter(type => mayReadEvent(scopes, type))
  if (eventType !== undefined) return { in: readable.filter(type => type === eventType) }
  return readable.length === types.length ? undefined : { in: readable }
}

/** Condition for times from one, inclusive, to another, exclusive. */
function range(from: string | undefined, to: string | undefined): Condition | undefined {
  if (from === undefined && to === undefined) return undefined
  return { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lt: to }) }
}

interface Paging {
  page: number
  size: number
  sort: { field: string; direction: 'asc' | 'desc' }[]
  status?: string | undefined
  eventType?: string | undefined
  eventId?: string | undefined
  api?: string[] | undefined
  from?: string | undefined
  to?: string | undefined
  lastAttemptFrom?: string | undefined
  lastAttemptTo?: string | undefined
}
