import type { RecoveryRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

export const recoveries = defineCollection<RecoveryRecord>({
  name: 'notifier.recoveries',
  version: 1,
  fields: { webhook: 'string', status: 'string', createdAt: 'string' },
})

export const projectRecovery: Project<RecoveryState, RecoveryEvent> = (id, { state, revision }) =>
  state.status === 'Absent' ? [] : [{ collection: recoveries, id, doc: recordOf(state), revision }]

/** The record as the interface shows it. */
export function recordOf(state: Exclude<RecoveryState, { status: 'Absent' }>): RecoveryRecord {
  const { id, webhook, from, to, status, after, through, position, examined, recovered, requestedAt } = state
  return {
    id,
    webhook,
    from,
    to,
    status,
    progress: through === after ? Number(status === 'COMPLETED') : (position - after) / (through - after),
    examined,
    recovered,
    createdAt: requestedAt,
    finishedAt: 'finishedAt' in state ? state.finishedAt : null,
  }
}
