import type { RecoveryRecord } from '@gantry/contracts'
import { aggregate, type Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type RecoveryCommand, type RecoveryRules, recoveryDecider } from './recovery.decide.ts'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

/** The document of a recovery, for the REST API and the recoverer. */
export interface RecoveryDocument extends RecoveryRecord {
  /** Sort key among the running recoveries: the time of the request, then the id. Null when the recovery has ended. */
  runningSince: string | null
}

export const recoveries = defineCollection<RecoveryDocument>({
  name: 'notifier.recoveries',
  version: 2,
  fields: { webhook: 'string', status: 'string', createdAt: 'string', runningSince: 'string' },
})

export const projectRecovery: Project<RecoveryState, RecoveryEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const runningSince = state.status === 'RUNNING' ? `${state.requestedAt}/${id}` : null
  return [{ collection: recoveries, id, doc: { ...recordOf(state), runningSince }, revision }]
}

export const recoveryRecord = ({ runningSince, ...record }: RecoveryDocument): RecoveryRecord => record

/** The record as the REST API returns it. */
export function recordOf(state: Exclude<RecoveryState, { status: 'Absent' }>): RecoveryRecord {
  const { id, webhook, from, to, status, after, through, position, examined, recovered, requestedAt } = state
  return {
    id,
    webhook,
    from,
    to,
    status,
    progress:
      through === after
        ? Number(status === 'COMPLETED')
        : Math.min(1, Math.max(0, (position - after) / (through - after))),
    examined,
    recovered,
    createdAt: requestedAt,
    finishedAt: 'finishedAt' in state ? state.finishedAt : null,
  }
}

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
