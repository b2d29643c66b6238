import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** The public events of a recorded event, with the public record of the user; none for internal event types. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  if (!change) return []
  switch (event.type) {
    case 'UserCreated':
    case 'UserUpdated':
    case 'UserDeleted':
      return [publicMessage('identity', event, change.action, streamId(event.stream), changed(change))]
    default:
      return []
  }
}
