import {
  type Change,
  isPublicEventType,
  PublicEvent,
  type PublicEventData,
  type PublicEventType,
  Refusal,
  requests,
  subjects,
} from '@gantry/contracts'
import { type CommandMetadata, type Fact, streamId } from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'
import { z } from 'zod'
import type { Peers } from './peers.ts'
import type { Dependencies } from './service.ts'

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
 * The content of a message or of an event. @throws Refusal when it does not match the schema, so that the reactor skips the
 * message
 */
export function contentOf<Schema extends z.ZodType>(
  schema: Schema,
  { data }: { data: unknown },
): z.infer<Schema> {
  const parsed = schema.safeParse(data)
  if (!parsed.success) throw new Refusal('invalid-request', { detail: z.prettifyError(parsed.error) })
  return parsed.data
}

/** The event of a message, and the metadata of the command that reacts to it. @throws Refusal */
export function reactionTo(
  message: Message,
  { now, newId }: Pick<Dependencies, 'now' | 'newId'>,
): { event: PublicEvent; metadata: CommandMetadata } {
  const event = contentOf(PublicEvent, message)
  const { actor, requestId, id: causationId } = event
  const { traceparent } = message.headers ?? {}
  const metadata = { commandId: newId(), now: now().toISOString(), actor, requestId, causationId }
  return { event, metadata: { ...metadata, ...(traceparent && { traceparent }) } }
}

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
