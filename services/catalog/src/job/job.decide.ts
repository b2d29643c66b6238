import { type Change, type ChangeAction, Refusal } from '@gantry/contracts'
import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'
import {
  evolveJob,
  type ItemResult,
  initialJob,
  isActive,
  isPresent,
  type JobEvent,
  type JobFailure,
  type JobState,
  type JobTask,
  jobEvents,
} from './job.ts'

interface Commanded {
  metadata: CommandMetadata
}

export type JobCommand =
  | ({ type: 'RequestJob'; id: string; task: JobTask; total: number; pieces: number } & Commanded)
  | ({ type: 'StartJob' } & Commanded)
  /** The items after the first `from` have these results. */
  | ({ type: 'AdvanceJob'; from: number; results: ItemResult[] } & Commanded)
  | ({ type: 'FailJob'; problem: JobFailure } & Commanded)
  | ({ type: 'CancelJob' } & Commanded)
  | ({ type: 'RemoveInput' } & Commanded)
  /** Removes a job whose input was removed. */
  | ({ type: 'RemoveJob' } & Commanded)

export type JobAggregate = Aggregate<JobState, JobCommand, JobEvent>

export const jobDecider: Decider<JobState, JobCommand, JobEvent> = {
  initial: initialJob,
  events: jobEvents,
  evolve: evolveJob,
  describe,
  decide(state, command) {
    const { now: at, requestId } = command.metadata
    if (command.type === 'RequestJob') {
      if (state.status !== 'Absent') return []
      const { id, task, total, pieces } = command
      return [{ type: 'JobRequested', data: { id, task, total, pieces, requestId, requestedAt: at } }]
    }
    if (!isPresent(state)) throw new Refusal('job-not-found')
    const completed = (position: number): JobEvent[] =>
      isActive(state) && position === state.total ? [{ type: 'JobCompleted', data: { at } }] : []
    switch (command.type) {
      case 'StartJob':
        return state.status === 'QUEUED' ? [{ type: 'JobStarted', data: { at } }, ...completed(0)] : []
      case 'AdvanceJob': {
        const { from, results } = command
        // Another process has recorded these items. After a cancellation, the last items are still recorded.
        if (state.position !== from || results.length === 0) return []
        const data = { from, failedFrom: state.failed, results, at }
        return [{ type: 'JobAdvanced', data }, ...completed(from + results.length)]
      }
      case 'FailJob':
        return isActive(state) ? [{ type: 'JobFailed', data: { problem: command.problem, at } }] : []
      case 'CancelJob':
        if (!isActive(state)) throw new Refusal('job-not-running', { detail: `the job is ${state.status}` })
        return [{ type: 'JobCancelled', data: { at } }]
      case 'RemoveInput':
        return state.hasInput && !isActive(state) ? [{ type: 'JobInputRemoved', data: { at } }] : []
      case 'RemoveJob':
        return state.hasInput || isActive(state) ? [] : [{ type: 'JobRemoved', data: { at } }]
      default:
        return command satisfies never
    }
  },
}

const ACTIONS: Partial<Record<JobEvent['type'], ChangeAction<'JOB'>>> = {
  JobRequested: 'JOB_REQUESTED',
  JobCancelled: 'JOB_CANCELLED',
  JobCompleted: 'JOB_COMPLETED',
  JobFailed: 'JOB_FAILED',
}

/** Describes changes of the job itself. The events of the APIs describe what the job changes in them. */
function describe(before: JobState, { type }: JobEvent, after: JobState): Change | null {
  const action = ACTIONS[type]
  if (!action || !isPresent(after)) return null
  const shown = (state: JobState) => {
    if (!isPresent(state)) return null
    const { task, status, total, position, failed } = state
    const change = task.type === 'BULK' && { change: task.change }
    return { type: task.type, status, total, done: position - failed, failed, ...change }
  }
  return {
    action,
    resourceType: 'JOB',
    resourceId: after.id,
    before: shown(before),
    after: shown(after),
  }
}
