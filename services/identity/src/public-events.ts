import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { resourceMessages } from '@gantry/service-kit'

/** The public events of a recorded event, with the public record of the user; none for internal event types. */
export const publicEvents = (event: Fact): Message[] => resourceMessages('identity', event)
