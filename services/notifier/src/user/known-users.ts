import { aggregate } from '@gantry/event-sourcing'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type KnownUserDocument, knownUsers, projectKnownUser } from './known-user.projection.ts'
import {
  type KnownUserCommand,
  type KnownUserEvent,
  type KnownUserState,
  knownUserDecider,
} from './known-user.ts'

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
