import type { Fact } from '@gantry/event-sourcing'
import { streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage, resourceMessages } from '@gantry/service-runtime'

/** Known of uploads only, and only by releases that compare documents. */
const breakingIn = ({ data }: Fact) => (data as { breaking?: boolean }).breaking ?? null

/** The public events of a recorded event. None when an image or documents are discarded with their API or version. */
export const publicEvents = (event: Fact): Message[] => {
  const { change } = event.metadata
  switch (change?.action) {
    case 'API_VERSION_DOCUMENT_UPDATED':
    case 'API_VERSION_DOCUMENT_DELETED':
      return [
        publicMessage('media', event, change.action, streamId(event.stream), {
          ...changed(change),
          breaking: breakingIn(event),
        }),
      ]
    default:
      return resourceMessages('media', event)
  }
}
