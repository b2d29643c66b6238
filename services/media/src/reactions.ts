import { PublicEvent, Refusal, subjects } from '@gantry/contracts'
import type { Message } from '@gantry/messaging'
import type { ImageAggregate } from './image/image.decide.ts'

/** The subjects that media consumes. */
export const reactsTo = [subjects.events('catalog', 'API_DELETED')]

export interface ReactionOptions {
  image: ImageAggregate
  now(): Date
  newId(): string
}

/**
 * Discards the image of a deleted API and prevents further uploads for it. Repeating a message changes nothing.
 * @throws Refusal when the message does not match the schema, so that the reactor skips it instead of trying again
 */
export function reactionsOf({ image, now, newId }: ReactionOptions): (message: Message) => Promise<void> {
  return async ({ subject, data, headers }) => {
    if (!reactsTo.includes(subject)) return
    const parsed = PublicEvent.safeParse(data)
    if (!parsed.success) throw new Refusal('invalid-request', { detail: parsed.error.message })
    const event = parsed.data
    await image.execute(event.subject, {
      type: 'DiscardImage',
      metadata: {
        commandId: newId(),
        now: now().toISOString(),
        actor: event.actor,
        requestId: event.requestId,
        causationId: event.id,
        ...(headers?.traceparent && { traceparent: headers.traceparent }),
      },
    })
  }
}
