import { admin, cleanUp, eventually, unique } from './gantry.ts'
import { openInbox, type Respond } from './receiver.ts'
import type { Delivery, Page, Webhook } from './records.ts'

/** An event type for webhooks that only test deliveries may reach: it takes a day of failures to happen. */
export const NEVER = 'WEBHOOK_FAILING'

/** An active webhook on an inbox of its own; `about` is what the events of the story mention. */
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

/** The delivery to the webhook whose payload mentions `about`, once it is there. */
export const deliveryAbout = (webhook: Webhook, about: string) =>
  eventually(async () => {
    const { content } = await listDeliveries(webhook)
    const delivery = content.find(({ payload }) => JSON.stringify(payload).includes(about))
    if (!delivery) throw new Error(`No delivery about ${about}`)
    return delivery
  })

/** The delivery once it has the status. */
export const delivered = (webhook: Webhook, id: string, status: string) =>
  eventually(async () => {
    const delivery = await readDelivery(webhook, id)
    if (delivery.status !== status)
      throw new Error(`Delivery ${id} is ${delivery.status}, not ${status}: ${JSON.stringify(delivery)}`)
    return delivery
  })

/** PUT with everything that the webhook has, except what changes. */
export const changeWebhook = async ({ id, name, displayName, url, eventTypes }: Webhook, changes: object) =>
  (
    await admin.put(`/webhooks/${id}`, { name, displayName, url, events: eventTypes, ...changes })
  ).as<Webhook>(200)
