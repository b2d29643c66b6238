import { type PublicEvent, readableData } from '@gantry/contracts'
import type { Fact } from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'
import { publicMessage, resourceMessages } from '@gantry/service-runtime'
import type { Received } from './platform-event/platform-event.ts'

/**
 * Message header with the time at which the notifier stored an event of the platform, ISO 8601 UTC. The `time` of such an
 * event comes from its producer.
 */
export const COMMITTED_AT = 'committed-at'

/** The public events of a stored event. Events without a change, and WEBHOOK_TESTED, are internal. */
export function publicEvents(fact: Fact): Message[] {
  const { change } = fact.metadata
  if (!change) return []
  return change.resourceType === 'PLATFORM_EVENT'
    ? [platformMessage(fact)]
    : resourceMessages('notifier', fact)
}

/** An event of the platform is published with the source, subject and time of its producer. Secrets are masked. */
function platformMessage(fact: Fact): Message {
  const { source, id, type, subject, time, data } = fact.data as unknown as Received
  const message = publicMessage('platform', fact, type, subject ?? id, readableData(type, data))
  const event: PublicEvent = { ...(message.data as unknown as PublicEvent), source, time }
  const headers = { ...message.headers, [COMMITTED_AT]: fact.metadata.at }
  return { ...message, headers, data: event as unknown as Json }
}
