import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** The public events of a recorded event. None when an image is discarded with its API: API_DELETED implies that. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  if (change?.resourceType !== 'API_IMAGE') return []
  return [publicMessage('media', event, change.action, change.resourceId, changed(change))]
}
