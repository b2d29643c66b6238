import { admin, cleanUp, eventually, unique } from './gantry.ts'
import { openInbox, type Respond } from './receiver.ts'
import type { Delivery, Page, Webhook } from './records.ts'

/** An event type for webhooks that get test deliveries only: the event occurs after a day of failures. */
export const NEVER = 'WEBHOOK_FAILING'

/** An active webhook with its own inbox; the events of the story mention `about`. */
export const subscribe = async (
  eventTypes: string[],
  { about, respond }: { about?: string; respond?: Respond } = {},
) => {
  const inbox = openInbox(about, respond)
  const webhook = (
    await admin.post('/webhooks', { displayName: unique('hook'), url: inbox.url, active: true, eventTypes })
  ).as<Webhook & { secret: string }>(201)
  cleanUp(`/webhooks/${webhook.id}`)
  return { webhook, secret: webhook.secret, inbox }
}

export const readDelivery = async (webhook: Webhook, id: string) =>
  (await admin.get(`/webhooks/${webhook.id}/requests/${id}`)).as<Delivery>(200)

export const listDeliveries = async (webhook: Webhook, query = {}) =>
  (await admin.get(`/webhooks/${webhook.id}/requests`, { size: 100, ...query })).as<Page<Delivery>>(200)

/** Waits for the delivery to the webhook whose payload mentions `about`. */
export const deliveryAbout = (webhook: Webhook, about: string) =>
  eventually(async () => {
    const { content } = await listDeliveries(webhook)
    const delivery = content.find(({ payload }) => JSON.stringify(payload).includes(about))
    if (!delivery) throw new Error(`No delivery about ${about}`)
    return delivery
  })

/** Waits until the delivery has the status. */
export const delivered = (webhook: Webhook, id: string, status: string) =>
  eventually(async () => {
    const delivery = await readDelivery(webhook, id)
    if (delivery.status !== status)
      throw new Error(`Delivery ${id} is ${delivery.status}, not ${status}: ${JSON.stringify(delivery)}`)
    return delivery
  })

/** PUT of all fields of the webhook with the changes. */
export const changeWebhook = async ({ id, name, displayName, url, eventTypes }: Webhook, changes: object) =>
  (
    await admin.put(`/webhooks/${id}`, { name, displayName, url, events: eventTypes, ...changes })
  ).as<Webhook>(200)

export interface CataloguedType {
  name: string
  scope: string
  schema: object
  example: object
}
/** The entries of the catalog of event types, with JSON Schemas of the payloads. */
export const eventCatalogue = async () => (await admin.get('/webhooks/eventTypes')).as<CataloguedType[]>(200)
