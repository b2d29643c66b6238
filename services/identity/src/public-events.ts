import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { resourceMessages } from '@gantry/service-kit'
import { withoutNames } from './personal-data/sealed-change.ts'

/** The public events of a recorded event, with the user by id; none for internal event types. */
export const publicEvents = (event: Fact): Message[] => {
  const { change } = event.metadata
  if (change?.resourceType !== 'USER') return []
  // Events of earlier releases have personal fields in clear text, and may be published again.
  const published = {
    ...change,
    before: change.before && withoutNames(change.before),
    after: change.after && withoutNames(change.after),
  }
  return resourceMessages('identity', {
    ...event,
    metadata: { ...event.metadata, change: published as typeof change },
  })
}
