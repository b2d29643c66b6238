import type { BulkChange, JobRecord, JobResult, ProblemCode } from '@gantry/contracts'
import type { Actor, EventSchemas } from '@gantry/event-sourcing'

/** What is done to all APIs of a bulk change. Times of single ones are in their items. */
export type StoredChange = Omit<BulkChange, 'delete'> & {
  delete?: { undeploy: boolean; unchangedSince?: string | undefined } | undefined
}

/** What a job does to each of its items. */
export type JobTask =
  | { type: 'BULK'; change: StoredChange }
  /** With `dryRun` the results say what an import would do. */
  | { type: 'IMPORT'; dryRun: boolean }

/** Why an item or a job has failed. The title follows from the code. */
export interface JobFailure {
  code: ProblemCode
  detail: string
  errors?: { message: string }[]
}

export type ItemResult = Omit<JobResult, 'problem'> & { problem: JobFailure | null }

/** The items of a job are in a stream of their own, which is removed after its end: see `jobInputs`. */
export type JobEvent =
  | {
      type: 'JobRequested'
      data: {
        id: string
        task: JobTask
        /** Number of items, and of the pieces that store them. */
        total: number
        pieces: number
        requestId: string
        requestedAt: string
      }
    }
  | { type: 'JobStarted'; data: { at: string } }
  /** The results of the items from number `from` on, counted from 0. `failedFrom` items before them have failed. */
  | { type: 'JobAdvanced'; data: { from: number; failedFrom: number; results: ItemResult[]; at: string } }
  | { type: 'JobCompleted'; data: { at: string } }
  | { type: 'JobFailed'; data: { problem: JobFailure; at: string } }
  | { type: 'JobCancelled'; data: { at: string } }
  | { type: 'JobInputRemoved'; data: { at: string } }
  /** Some time after its end. The events stay, for the audit log. */
  | { type: 'JobRemoved'; data: { at: string } }

export interface Job {
  status: JobRecord['status']
  id: string
  task: JobTask
  total: number
  pieces: number
  /** Who requested it. The job acts in their name. */
  actor: Actor
  requestId: string
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** Number of items that have results. */
  position: number
  failed: number
  problem: JobFailure | null
  hasInput: boolean
  /** The position before each recorded batch of results. */
  batches: readonly number[]
}

export type JobState = { status: 'Absent' } | Job | ({ status: 'Removed' } & Pick<Job, 'id' | 'batches'>)

/** Every event type that this release knows, with its upcasters. */
export const jobEvents: EventSchemas<JobEvent> = {
  JobRequested: [],
  JobStarted: [],
  JobAdvanced: [],
  JobCompleted: [],
  JobFailed: [],
  JobCancelled: [],
  JobInputRemoved: [],
  JobRemoved: [],
}

export const initialJob: JobState = { status: 'Absent' }

export const isPresent = (state: JobState): state is Job =>
  state.status !== 'Absent' && state.status !== 'Removed'

export const isActive = ({ status }: JobState): boolean => status === 'QUEUED' || status === 'RUNNING'

export const failuresIn = (results: readonly ItemResult[]): number =>
  results.filter(({ status }) => status === 'FAILED').length

export function evolveJob(state: JobState, event: JobEvent, _revision: number, actor: Actor): JobState {
  if (event.type === 'JobRequested') {
    const { requestedAt, ...data } = event.data
    return {
      ...data,
      status: 'QUEUED',
      actor,
      createdAt: requestedAt,
      startedAt: null,
      finishedAt: null,
      position: 0,
      failed: 0,
      problem: null,
      hasInput: true,
      batches: [],
    }
  }
  if (!isPresent(state)) return state
  switch (event.type) {
    case 'JobStarted':
      return { ...state, status: 'RUNNING', startedAt: event.data.at }
    case 'JobAdvanced': {
      const { from, results } = event.data
      const failed = state.failed + failuresIn(results)
      return { ...state, position: from + results.length, failed, batches: [...state.batches, from] }
    }
    case 'JobCompleted':
      return { ...state, status: 'COMPLETED', finishedAt: event.data.at }
    case 'JobFailed':
      return { ...state, status: 'FAILED', finishedAt: event.data.at, problem: event.data.problem }
    case 'JobCancelled':
      return { ...state, status: 'CANCELLED', finishedAt: event.data.at }
    case 'JobInputRemoved':
      return { ...state, hasInput: false }
    case 'JobRemoved':
      return { status: 'Removed', id: state.id, batches: state.batches }
    default:
      event satisfies never
      return state
  }
}
