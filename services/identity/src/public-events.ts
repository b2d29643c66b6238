import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** The public events of a recorded event, with the public record of the user; none for internal event types. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  switch (change?.action) {
    case 'USER_CREATED':
    case 'USER_UPDATED':
    case 'USER_DELETED':
      return [publicMessage('identity', event, change.action, streamId(event.stream), changed(change))]
    default:
      return []
  }
}
