import type { RecoveryRecord } from '@gantry/contracts'
import { aggregate, type Project, reservations } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type RecoveryCommand, type RecoveryRules, recoveryDecider } from './recovery.decide.ts'
import { evolveRecovery, initialRecovery, type RecoveryEvent, type RecoveryState } from './recovery.ts'

/** The document of a recovery, for the REST API and the recoverer. */
export interface RecoveryDocument extends RecoveryRecord {
  /** Sort key among the running recoveries: the time of the request, then the id. Null when the recovery has ended. */
  runningSince: string | null
}

export const recoveries = defineCollection<RecoveryDocument>({
  name: 'notifier.recoveries',
  version: 3,
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
  const { id, webhook, from, to, status, total, examined, recovered, requestedAt } = state
  return {
    id,
    webhook,
    from,
    to,
    status,
    progress: status === 'COMPLETED' ? 1 : total ? Math.min(1, examined / total) : 0,
    total,
    examined,
    recovered,
    createdAt: requestedAt,
    finishedAt: 'finishedAt' in state ? state.finishedAt : null,
  }
}

export class Recoveries extends Repository<RecoveryState, RecoveryCommand, RecoveryEvent, RecoveryDocument> {
  readonly #decider: ReturnType<typeof recoveryDecider>

  constructor(options: RepositoryOptions, rules: RecoveryRules) {
    const { eventStore, readModels, projector, unknownEvent, now } = options
    const category = 'recovery'
    const decider = recoveryDecider(rules)
    const recovery = aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>({
      eventStore,
      unknownEvent,
      category,
      decider,
      view: { projector, project: projectRecovery },
      async reserve(id, { revision }, [event], { metadata }) {
        if (event?.type === 'RecoveryRequested')
          await running.reserve(event.data.webhook, id, revision, metadata)
      },
    })
    /** A running recovery holds its webhook, so that there is no other one. */
    const running = reservations({
      eventStore,
      category,
      takenCode: 'recovery-running',
      async holding(holder) {
        const { state, ...at } = await recovery.load(holder)
        return { name: state.status === 'RUNNING' ? state.webhook : undefined, ...at }
      },
      now,
    })
    super(recovery, readModels.collection(recoveries), options)
    this.#decider = decider
  }

  /** The recovery that a command would request. @throws Refusal as the command */
  requested(command: Extract<RecoveryCommand, { type: 'RequestRecovery' }>): RecoveryState {
    return this.#decider.decide(initialRecovery, command).reduce(evolveRecovery, initialRecovery)
  }
}
