import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { resourceMessages } from '@gantry/service-runtime'

/** The public events of a recorded event. None when an image is discarded with its API: API_DELETED implies that. */
export const publicEvents = (event: Fact): Message[] => resourceMessages('media', event)
