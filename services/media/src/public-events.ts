import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** What media tells others: changes of images. That one went with its API, the API's deletion says. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  return change ? [publicMessage('media', event, change.action, change.resourceId, changed(change))] : []
}
