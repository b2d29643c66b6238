import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import type { KnownUserEvent, KnownUserState } from './known-user.ts'
import type { Standing } from './standing.ts'

/** The document of a user. Deleted users keep theirs; a user without a document is unknown. */
export interface KnownUserDocument {
  id: string
  standing: Standing
}

export const knownUsers = defineCollection<KnownUserDocument>({
  name: 'notifier.users',
  version: 1,
  fields: {},
})

export const projectKnownUser: Project<KnownUserState, KnownUserEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const standing: Standing =
    state.status === 'Live'
      ? { user: id, status: state.userStatus, role: state.role }
      : { user: id, status: 'GONE' }
  return [{ collection: knownUsers, id, doc: { id, standing }, revision }]
}
