import {
  ADMINISTRATOR_ROLES,
  cancelJob,
  getJob,
  listJobResults,
  listJobs,
  MAX_JOBS_PER_USER,
  type Principal,
  Refusal,
} from '@gantry/contracts'
import type { CommandMetadata } from '@gantry/event-sourcing'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { JobAggregate } from './job.decide.ts'
import { type JobInputs, packItems } from './job.input.ts'
import { type JobDocument, type JobResultsDocument, jobRecord, recordOf, resultOf } from './job.projection.ts'
import { isPresent, type JobTask } from './job.ts'

export interface JobRoutes {
  job: JobAggregate
  jobs: Collection<JobDocument>
  results: Collection<JobResultsDocument>
}

const seesAll = ({ role }: Principal) => ADMINISTRATOR_ROLES.includes(role)

export function jobRoutes(route: AddRoute, { job, jobs, results }: JobRoutes): void {
  route(listJobs, async ({ query, principal }) => {
    const createdBy = seesAll(principal) ? undefined : principal.userId
    const { items, total } = await jobs.find(listing(query, { createdBy, status: query.status }))
    const content = items.map(({ doc }) => jobRecord(doc))
    return { status: 200, body: page(content, total, query) }
  })

  route(getJob, async ({ params, principal }) => ({
    status: 200,
    body: jobRecord(await visible(params.job_id, principal)),
  }))

  route(cancelJob, async ({ params, metadata, principal }) => {
    const { id } = await visible(params.job_id, principal)
    const { state } = await job.execute(id, { type: 'CancelJob', metadata })
    if (!isPresent(state)) throw new Refusal('job-not-found')
    return { status: 200, body: recordOf(state) }
  })

  route(listJobResults, async ({ params, query, principal }) => {
    const { id, done, failed } = await visible(params.job_id, principal)
    const onlyFailed = query.status === 'FAILED'
    const total = onlyFailed ? failed : done + failed
    const first = (query.page - 1) * query.size
    const end = Math.min(first + query.size, total)
    const content = first < end ? await resultsIn(id, { first, end, onlyFailed }) : []
    return { status: 200, body: page(content.map(resultOf), total, query) }
  })

  /** The results from number `first` up to `end`, exclusive. */
  const resultsIn = async (
    id: string,
    { first, end, onlyFailed }: { first: number; end: number; onlyFailed: boolean },
  ) => {
    const [from, to] = onlyFailed ? (['failedFrom', 'failedTo'] as const) : (['from', 'to'] as const)
    const found = await results.list({
      where: { job: id, [from]: { lt: end }, [to]: { gt: first } },
      sort: [{ field: 'from', direction: 'asc' }],
      limit: end - first,
    })
    const all = found.flatMap(({ doc }) => doc.results)
    const wanted = onlyFailed ? all.filter(({ status }) => status === 'FAILED') : all
    const skipped = first - (found[0]?.doc[from] ?? first)
    return wanted.slice(skipped, skipped + end - first)
  }

  /** @throws Refusal job-not-found, also for the job of another user */
  const visible = async (id: string, principal: Principal): Promise<JobDocument> => {
    const doc = (await jobs.get(id))?.doc
    if (!doc || (doc.createdBy !== principal.userId && !seesAll(principal)))
      throw new Refusal('job-not-found')
    return doc
  }
}

interface RequestedJob {
  id: string
  task: JobTask
  items: readonly string[]
  metadata: CommandMetadata
}

/** Requests a job. @returns its record, once its items are durable */
export type RequestJob = (requested: RequestedJob) => ReturnType<typeof responseOf>

/** @throws Refusal too-many-jobs */
export function jobRequests({
  job,
  jobs,
  inputs,
}: Pick<JobRoutes, 'job' | 'jobs'> & { inputs: JobInputs }): RequestJob {
  return async ({ id, task, items, metadata }) => {
    const running = await jobs.count({ where: { createdBy: metadata.actor.id, activeSince: { gt: '' } } })
    if (running >= MAX_JOBS_PER_USER)
      throw new Refusal('too-many-jobs', {
        detail: `a user may have ${MAX_JOBS_PER_USER} jobs that have not ended`,
        limit: MAX_JOBS_PER_USER,
      })
    const packed = await packItems(items)
    const { total, pieces } = packed
    const command = { type: 'RequestJob', metadata, id, task, total, pieces: pieces.length } as const
    const { state } = await job.execute(id, command)
    await inputs.store(id, packed, metadata)
    if (!isPresent(state)) throw new Refusal('job-not-found')
    return responseOf(recordOf(state))
  }
}

const responseOf = async (body: ReturnType<typeof recordOf>) => ({
  status: 202 as const,
  body,
  location: `/jobs/${body.id}`,
})
