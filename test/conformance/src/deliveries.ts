import { admin, platformEvent, publish, unique } from './gantry.ts'
import { heldReply, type Inbox, type Respond } from './receiver.ts'
import type { Delivery, Webhook } from './records.ts'
import { changeWebhook, delivered, deliveryAbout, subscribe } from './webhooks.ts'

export const failing: Respond = () => ({ status: 500, body: 'out of order' })
export const working: Respond = () => ({ status: 200 })

/** A platform event that tells of the story, and the delivery that it makes. */
export const happen = async (type: string, about: string) =>
  (await publish(platformEvent(type, { about }))).is(202)

/** A webhook of one event type, and an event for it that the receiver answers as told. */
export const delivery = async (type: string, respond: Respond) => {
  const about = unique('event')
  const { webhook, secret, inbox } = await subscribe([type], { about, respond })
  await happen(type, about)
  await inbox.arrival(1)
  const { id } = await deliveryAbout(webhook, about)
  return { webhook, secret, inbox, about, id }
}

/**
 * A delivery that stays RETRYING for as long as the story likes: its webhook was made inactive while the first
 * attempt was under way, so that what is pending waits.
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

/** Ids of attempts: the same over all of them. */
export const messageIds = (inbox: Inbox) =>
  new Set(inbox.received.map(({ headers }) => headers['webhook-id']))
