import {
  type Change,
  isPublicEventType,
  type PublicEvent,
  type PublicEventData,
  type PublicEventType,
  requests,
  subjects,
} from '@gantry/contracts'
import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'
import type { Peers } from './peers.ts'

/** The message that publishes an event to other services. */
export function publicMessage<Type extends PublicEventType>(
  service: string,
  event: Fact,
  type: Type,
  subject: string,
  data: PublicEventData<Type>,
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

/**
 * The public event of a change, with the changed resource as its data. None for an internal change. A service makes the
 * messages of `ComposedEventType` itself.
 */
export function resourceMessages(service: string, event: Fact): Message[] {
  const { change } = event.metadata
  if (!change || !isPublicEventType(change.action)) return []
  const data = changed(change) as PublicEventData<typeof change.action>
  return [publicMessage(service, event, change.action, streamId(event.stream), data)]
}

/** The data of a public event: the resource after the change; for a deletion the resource before it. */
export const changed = <Of extends Change>({ before, after }: Of) =>
  (after ?? before ?? {}) as NonNullable<Of['after']>

/**
 * Sends an event to a service directly and waits until the service has handled it, so that the next read sees its effect.
 * Fails silently after a timeout: the relay delivers the event later in any case.
 * @returns whether the service has handled the event
 */
export async function sendDirectly(
  peers: Pick<Peers, 'ask'>,
  service: 'catalog' | 'media',
  message: Message,
): Promise<boolean> {
  try {
    await peers.ask(requests.react(service), message)
    return true
  } catch {
    return false
  }
}
