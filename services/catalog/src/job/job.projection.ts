import { type JobRecord, type JobResult, PROBLEMS } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import {
  failuresIn,
  type ItemResult,
  isActive,
  type Job,
  type JobEvent,
  type JobFailure,
  type JobState,
} from './job.ts'

/** A job for the REST API, the runner and the removal of inputs. */
export interface JobDocument extends JobRecord {
  /** Sort key among the jobs that have not ended: the time of the request, then the id; null after the end. */
  activeSince: string | null
  /** The end of a job that still has its input; null for others. */
  inputUntil: string | null
}

export const jobs = defineCollection<JobDocument>({
  name: 'catalog.jobs',
  version: 2,
  fields: {
    createdBy: 'string',
    type: 'string',
    status: 'string',
    createdAt: 'string',
    finishedAt: 'string',
    activeSince: 'string',
    inputUntil: 'string',
  },
})

/** The results of consecutive items of a job, as they were recorded together. */
export interface JobResultsDocument {
  id: string
  job: string
  /** Number of the first item, and of the item after the last one, counted from 0. */
  from: number
  to: number
  /** Number of items that failed before the first one, and up to the last one. */
  failedFrom: number
  failedTo: number
  results: ItemResult[]
}

export const jobResults = defineCollection<JobResultsDocument>({
  name: 'catalog.job-results',
  version: 1,
  fields: { job: 'string', from: 'number', to: 'number', failedFrom: 'number', failedTo: 'number' },
})

export const projectJob: Project<JobState, JobEvent> = (id, { state, revision }, events) => {
  if (state.status === 'Absent') return []
  if (state.status === 'Removed')
    return [
      { collection: jobs, id, doc: null, revision },
      ...state.batches.map(from => ({ collection: jobResults, id: batchId(id, from), doc: null, revision })),
    ]
  const { createdAt, finishedAt, hasInput } = state
  const doc: JobDocument = {
    ...recordOf(state),
    activeSince: isActive(state) ? `${createdAt}/${id}` : null,
    inputUntil: hasInput ? finishedAt : null,
  }
  const results = events.flatMap(event =>
    event.type === 'JobAdvanced' ? resultsOf(id, event, revision) : [],
  )
  return [{ collection: jobs, id, doc, revision }, ...results]
}

const batchId = (job: string, from: number) => `${job}/${from}`

function resultsOf(
  job: string,
  { data: { from, failedFrom, results } }: Extract<JobEvent, { type: 'JobAdvanced' }>,
  revision: number,
): Write {
  const id = batchId(job, from)
  const to = from + results.length
  const doc: JobResultsDocument = {
    ...{ id, job, from, to, failedFrom, results },
    failedTo: failedFrom + failuresIn(results),
  }
  return { collection: jobResults, id, doc, revision }
}

/** The record as the REST API returns it. */
export function recordOf({ task, position, failed, actor, problem, ...job }: Job): JobRecord {
  const { id, status, total, createdAt, startedAt, finishedAt } = job
  return {
    id,
    type: task.type,
    status,
    total,
    done: position - failed,
    failed,
    createdAt,
    startedAt,
    finishedAt,
    createdBy: actor.id ?? actor.name,
    problem: problem && problemOf(problem),
    change: task.type === 'BULK' ? task.change : null,
  }
}

export const resultOf = ({ problem, ...result }: ItemResult): JobResult => ({
  ...result,
  problem: problem && problemOf(problem),
})

const problemOf = (failure: JobFailure) => ({ ...failure, title: PROBLEMS[failure.code].title })

export const jobRecord = ({ activeSince, inputUntil, ...record }: JobDocument): JobRecord => record
