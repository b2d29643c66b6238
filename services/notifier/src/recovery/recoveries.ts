import { aggregate } from '@gantry/event-sourcing'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type RecoveryCommand, type RecoveryRules, recoveryDecider } from './recovery.decide.ts'
import { projectRecovery, type RecoveryDocument, recoveries } from './recovery.projection.ts'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

/** The recoveries with their documents. */
export class Recoveries extends Repository<RecoveryState, RecoveryCommand, RecoveryEvent, RecoveryDocument> {
  constructor(options: RepositoryOptions, rules: RecoveryRules) {
    const { eventStore, readModels, projector, unknownEvent } = options
    const view = { projector, project: projectRecovery }
    super(
      aggregate({ eventStore, unknownEvent, category: 'recovery', decider: recoveryDecider(rules), view }),
      readModels.collection(recoveries),
      options,
    )
  }
}
