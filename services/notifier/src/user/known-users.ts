import { aggregate, type Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { Repository, type RepositoryOptions } from '../repository.ts'
import {
  type KnownUserCommand,
  type KnownUserEvent,
  type KnownUserState,
  knownUserDecider,
} from './known-user.ts'
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

/** The users that the notifier knows, with their documents. */
export class KnownUsers extends Repository<
  KnownUserState,
  KnownUserCommand,
  KnownUserEvent,
  KnownUserDocument
> {
  constructor(options: RepositoryOptions) {
    const { eventStore, readModels, projector, unknownEvent } = options
    const view = { projector, project: projectKnownUser }
    super(
      aggregate({ eventStore, unknownEvent, category: 'knownuser', decider: knownUserDecider, view }),
      readModels.collection(knownUsers),
      options,
    )
  }
}
