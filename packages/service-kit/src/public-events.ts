import { type PublicEvent, subjects } from '@gantry/contracts'
import type { Change, Fact } from '@gantry/event-sourcing'
import type { Bus, Json, Message } from '@gantry/messaging'

/** How long an answer waits for another service to take in what it needs, in milliseconds. */
const BOUND_MS = 5_000

/** A fact as other services see it, on its subject. */
export function publicMessage(
  service: string,
  event: Fact,
  type: string,
  subject: string,
  data: object,
): Message {
  const { actor, requestId, at, traceparent } = event.metadata
  const published: PublicEvent = {
    id: event.id,
    type,
    source: service,
    subject,
    revision: event.revision,
    time: at,
    data: data as Record<string, unknown>,
    actor: { id: actor.id, name: actor.name },
    requestId,
  }
  return {
    id: event.id,
    subject: subjects.events(service, type),
    data: published as unknown as Json,
    ...(traceparent && { headers: { traceparent } }),
  }
}

/** What a change amounts to outside: the resource after it, or what it was when it is gone. */
export const changed = ({ before, after }: Change) => after ?? before ?? {}

/**
 * Tells a service of a fact at once and waits, bounded, until it has taken it in, so that the next read sees it. When
 * it does not answer in time, the relay brings the fact all the same.
 * @returns whether it was taken in
 */
export async function tell(bus: Bus, service: string, message: Message): Promise<boolean> {
  try {
    await bus.request(subjects.react(service), message as unknown as Json, { timeoutMs: BOUND_MS })
    return true
  } catch {
    return false
  }
}
