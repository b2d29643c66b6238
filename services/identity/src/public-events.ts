import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** What identity tells others: the public record of users. Facts not named here stay inside. */
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
