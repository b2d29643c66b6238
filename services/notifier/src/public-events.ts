import { type PublicEvent, type PublicEventData, type PublicEventType, readableData } from '@gantry/contracts'
import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'
import { changed, publicMessage, resourceMessages } from '@gantry/service-kit'
import type { Received } from './platform-event/platform-event.ts'
import { withoutSecrets } from './webhook/url.ts'
import type { WebhookEvent } from './webhook/webhook.ts'

type WebhookFailing = Extract<WebhookEvent, { type: 'WebhookFailing' }>['data']

/**
 * Message header with the time at which the notifier stored an event of the platform, ISO 8601 UTC. The `time` of such an
 * event comes from its producer.
 */
export const COMMITTED_AT = 'committed-at'

/** The public events of a stored event. Events without a change, and WEBHOOK_TESTED, are internal. */
export function publicEvents(fact: Fact): Message[] {
  const { change } = fact.metadata
  if (!change) return []
  const message = <Type extends PublicEventType>(type: Type, data: PublicEventData<Type>) => [
    publicMessage('notifier', fact, type, streamId(fact.stream), data),
  ]
  switch (change.action) {
    case 'WEBHOOK_FAILING': {
      const webhook = changed(change)
      const { since, deliveries } = fact.data as unknown as WebhookFailing
      const warning = { failingSince: since, failedDeliveries: deliveries }
      return message(change.action, { ...webhook, url: withoutSecrets(webhook.url), ...warning })
    }
    case 'WEBHOOK_DISABLED': {
      const webhook = changed(change)
      return message(change.action, { ...webhook, url: withoutSecrets(webhook.url) })
    }
    default:
      return change.resourceType === 'PLATFORM_EVENT'
        ? [platformMessage(fact)]
        : resourceMessages('notifier', fact)
  }
}

/** An event of the platform is published with the source, subject and time of its producer. Secrets are masked. */
function platformMessage(fact: Fact): Message {
  const { source, id, type, subject, time, data } = fact.data as unknown as Received
  const message = publicMessage('platform', fact, type, subject ?? id, readableData(type, data))
  const event: PublicEvent = { ...(message.data as unknown as PublicEvent), source, time }
  const headers = { ...message.headers, [COMMITTED_AT]: fact.metadata.at }
  return { ...message, headers, data: event as unknown as Json }
}
