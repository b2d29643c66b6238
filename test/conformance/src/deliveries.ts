import { admin, unique } from './gantry.ts'
import { happen } from './platform-events.ts'
import { heldReply, type Inbox, type Respond } from './receiver.ts'
import type { Delivery, Webhook } from './records.ts'
import { changeWebhook, delivered, deliveryAbout, subscribe } from './webhooks.ts'

export const failing: Respond = () => ({ status: 500, body: 'out of order' })
export const working: Respond = () => ({ status: 200 })

/** A delivery to a new webhook of one event type, whose receiver responds with `respond`. */
export const delivery = async (type: string, respond: Respond) => {
  const about = unique('event')
  const { webhook, secret, inbox } = await subscribe([type], { about, respond })
  await happen(type, about)
  await inbox.arrival(1)
  const { id } = await deliveryAbout(webhook, about)
  return { webhook, secret, inbox, about, id }
}

/**
 * A delivery that stays RETRYING: its webhook was made inactive during the first attempt, so that pending deliveries wait.
 */
export const retrying = async (type: string) => {
  const { respond, letGo } = heldReply()
  const pending = await delivery(type, respond)
  await changeWebhook(pending.webhook, { active: false })
  letGo({ status: 500, body: 'out of order' })
  await delivered(pending.webhook, pending.id, 'RETRYING')
  return pending
}

export const givenUp = async (type: string) => {
  const pending = await delivery(type, failing)
  await delivered(pending.webhook, pending.id, 'GIVE_UP')
  return pending
}

export const retry = (id: string) => admin.post(`/webhooks/requests/${id}/retry`)
export const cancel = (id: string) => admin.post(`/webhooks/requests/${id}/cancel`)
export const testWebhook = async ({ id }: Webhook) =>
  (await admin.post(`/webhooks/${id}/test`)).as<Delivery>(202)

/** The values of webhook-id in all attempts. They have to be equal. */
export const messageIds = (inbox: Inbox) =>
  new Set(inbox.received.map(({ headers }) => headers['webhook-id']))
