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
import { type DeliveryDocument, deliveryRecord, documentOf } from './delivery.projection.ts'
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
    return {
      status: 202,
      body: await current(executed, principal, target.eventTypes),
    }
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
    const { eventTypes } = await webhooks.existing(params.webhook_id)
    const stored = await deliveries.documents.get(params.request_id)
    if (stored?.doc.webhook !== params.webhook_id) throw new Refusal('delivery-not-found')
    return { status: 200, body: await record(stored.doc, principal, eventTypes) }
  })

  route(retryDelivery, async ({ params, metadata, principal }) => {
    const id = params.request_id
    const eventTypes = await typesForChange(options, id, principal)
    const webhookDeleted = eventTypes === undefined
    const executed = await deliveries.execute(id, { type: 'RetryDelivery', metadata, webhookDeleted })
    dispatcher.changed(executed.state)
    return { status: 200, body: await current(executed, principal, eventTypes) }
  })

  route(cancelDelivery, async ({ params, metadata, principal }) => {
    const id = params.request_id
    const eventTypes = await typesForChange(options, id, principal)
    const executed = await deliveries.execute(id, { type: 'CancelDelivery', metadata })
    dispatcher.changed(executed.state)
    return { status: 200, body: await current(executed, principal, eventTypes) }
  })

  const record = (doc: DeliveryDocument, caller: Principal, ofWebhook: readonly string[] | undefined) =>
    deliveryRecord(doc, deliveries.payloads, caller, ofWebhook)

  const list = async (where: Record<string, Condition | undefined>, query: Paging, caller: Principal) => {
    const { items, total } = await deliveries.documents.find(
      listing(query, { ...where, ...conditions(query, caller) }),
    )
    const ids = [...new Set(items.map(({ doc }) => doc.webhook))]
    const found = await webhooks.documents.list({
      where: { id: { in: ids } },
      limit: Math.max(1, ids.length),
    })
    const types = new Map(found.map(({ doc }) => [doc.id, doc.eventTypes]))
    const content = await Promise.all(items.map(({ doc }) => record(doc, caller, types.get(doc.webhook))))
    return page(content, total, query)
  }

  const current = (
    { state }: { state: DeliveryState },
    caller: Principal,
    eventTypes: readonly string[] | undefined,
  ) => {
    if (state.status === 'Absent') throw new Refusal('delivery-not-found')
    return record(documentOf(state), caller, eventTypes)
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
 * The event types of the webhook of a delivery; undefined if the webhook is deleted.
 * @throws Refusal delivery-not-found; scope-missing when the caller may not read one of them, or the event
 */
async function typesForChange(
  { deliveries, webhooks }: DeliveryRoutes,
  id: string,
  caller: Principal,
): Promise<readonly string[] | undefined> {
  const { state } = await deliveries.load(id)
  if (state.status === 'Absent') throw new Refusal('delivery-not-found')
  const { state: webhook } = await webhooks.load(state.webhook)
  const eventTypes = webhook.status === 'Live' ? webhook.record.eventTypes : undefined
  requireReadScopes(caller, [state.eventType, ...(eventTypes ?? [])])
  return eventTypes
}

function conditions({ status, eventType, eventId, api = [], from, to }: Paging, caller: Principal) {
  const ofType = api.length === 0 ? eventType : readableTypes(caller, eventType)
  const ofApi = api.length === 0 ? undefined : { in: api }
  return { status, eventId, api: ofApi, eventType: ofType, createdAt: range(from, to) }
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
}
