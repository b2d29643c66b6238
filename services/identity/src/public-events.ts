import type { Change } from '@gantry/contracts'
import type { Fact } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { resourceMessages } from '@gantry/service-kit'

type UserChange = Extract<Change, { resourceType: 'USER' }>

/** The public events of a recorded event, with the user by id; none for internal event types. */
export const publicEvents = (event: Fact): Message[] => {
  const { change } = event.metadata
  if (change?.resourceType !== 'USER') return []
  const published = { ...change, before: withoutNames(change.before), after: withoutNames(change.after) }
  return resourceMessages('identity', {
    ...event,
    metadata: { ...event.metadata, change: published as typeof change },
  })
}

/** Events of earlier releases have personal fields in clear text, and may be published again. */
const withoutNames = (user: UserChange['after']) => {
  if (user === null) return null
  const { username, displayName, email, ...published } = user
  return published
}
