import { z } from 'zod'
import { filters, MAX_TAGS } from './apis.ts'
import { operation } from './operation.ts'
import { ActiveStatus, Instant, label, listOf, pageOf, paging, Timestamp, Uuid } from './primitives.ts'

export const MAX_JOB_ITEMS = 10_000
/** Maximum jobs of a user that have not ended. */
export const MAX_JOBS_PER_USER = 20

/** Days after its end in which a job is kept. */
export const JOB_KEPT_DAYS = 30

const JobStatus = z.enum(['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']).meta({ id: 'JobStatus' })

/** Why an item or a job has failed: the problem that a request for it alone would be answered with. */
const JobProblem = z
  .object({
    code: z.string().meta({ description: 'Stable, kebab-case' }),
    title: z.string(),
    detail: z.string(),
    errors: z.array(z.looseObject({ message: z.string() }).meta({ id: 'JobFault' })).optional(),
  })
  .meta({ id: 'JobProblem' })

/** What a bulk change does to each API, as it was requested. */
const JobChange = z
  .object({
    tags: z
      .object({ add: z.array(z.string()), remove: z.array(z.string()) })
      .meta({ id: 'JobTagChange' })
      .optional()
      .meta({ description: 'Tags that are added, and tags that are removed first' }),
    status: ActiveStatus.optional(),
    owner: z.uuid().optional().meta({ description: 'User id of the new owner' }),
    delete: z
      .object({
        undeploy: z.boolean().meta({ description: 'Whether APIs are undeployed before deletion' }),
        unchangedSince: Timestamp.optional().meta({
          description: 'An API that was changed later is not deleted',
        }),
      })
      .meta({ id: 'JobDeletion' })
      .optional()
      .meta({ description: 'The APIs are deleted' }),
  })
  .meta({ id: 'JobChange' })

export const JobRecord = z
  .object({
    id: z.uuid(),
    type: z.enum(['BULK', 'IMPORT']).meta({ id: 'JobType' }),
    status: JobStatus,
    total: z.int().meta({ description: 'Number of items' }),
    done: z.int().meta({ description: 'Number of items that succeeded' }),
    failed: z.int().meta({ description: 'Number of items that failed' }),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    createdBy: z.string().meta({ description: 'Id of the user' }),
    problem: JobProblem.nullable().meta({ description: 'Why the job has failed; null unless it is FAILED' }),
    change: JobChange.nullable().meta({ description: 'What is done to each API; null for an import' }),
  })
  .meta({ id: 'Job' })
export type JobRecord = z.infer<typeof JobRecord>

export const JobResult = z
  .object({
    item: z.string().meta({
      description:
        'Id of the API; in an import its name, or the number of the line if it failed, without empty lines',
    }),
    status: z.enum(['CREATED', 'UPDATED', 'DELETED', 'UNCHANGED', 'FAILED']).meta({ id: 'JobResultStatus' }),
    api: z.uuid().nullable().meta({ description: 'Id of the API, if it is known' }),
    problem: JobProblem.nullable(),
  })
  .meta({
    id: 'JobResult',
    example: {
      item: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      status: 'UPDATED',
      api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      problem: null,
    },
  })
export type JobResult = z.infer<typeof JobResult>

const TagList = z
  .array(label(100))
  .max(MAX_TAGS)
  .default([])
  .transform(tags => [...new Set(tags)])

/** What a bulk change does to each API. */
export const BulkChange = z
  .strictObject({
    tags: z
      .strictObject({ add: TagList, remove: TagList })
      .meta({ id: 'TagChange' })
      .optional()
      .meta({ description: 'Tags to add, and tags to remove first' }),
    status: ActiveStatus.optional(),
    owner: Uuid.optional().meta({ description: 'User id of the new owner' }),
    delete: z
      .strictObject({
        undeploy: z.boolean().default(false).meta({ description: 'Undeploy before deletion' }),
        unchangedSince: z
          .union([Instant, z.array(Instant).max(MAX_JOB_ITEMS)])
          .optional()
          .meta({
            description:
              'An API that was changed later is not deleted. A list has a time for each of the `ids`, in their order. Default: the time of the request',
          }),
      })
      .meta({ id: 'BulkDeletion' })
      .optional(),
  })
  .refine(change => Object.values(change).some(part => part !== undefined), {
    error: 'must have at least one of tags, status, owner and delete',
  })
  .refine(change => !change.delete || Object.values(change).filter(part => part !== undefined).length === 1, {
    error: 'must have nothing else with delete',
  })
  .meta({ id: 'BulkChange' })
export type BulkChange = z.infer<typeof BulkChange>

const { text, q, name, owner, platformType, status, environment, product } = filters

/** The filters of GET /apis. An unknown one is refused: it would select APIs that nobody meant. */
const ApiFilter = z
  .strictObject({
    ...{ text, name, owner, platformType, status, environment, product },
    q: q.refine(words => words === undefined || words.trim() !== '', { error: 'must have a word' }),
    tags: listOf(MAX_TAGS, 'Has all of these tags'),
    deployed: z.boolean().optional().meta({ description: 'true: only deployed APIs; false: no filter' }),
    notDeployed: z.boolean().optional().meta({ description: 'As in GET /apis' }),
  })
  .meta({
    id: 'ApiFilter',
    description: 'The filters of GET /apis, combined with AND. Without any: all APIs',
  })

const BulkInput = z
  .strictObject({
    ids: z.array(Uuid).max(MAX_JOB_ITEMS).optional().meta({ description: 'Ids of APIs' }),
    filter: ApiFilter.optional(),
    change: BulkChange,
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    error: 'must have either ids or filter',
  })
  .refine(
    ({ ids, change: { delete: { unchangedSince } = {} } }) =>
      !Array.isArray(unchangedSince) || unchangedSince.length === ids?.length,
    {
      path: ['change', 'delete', 'unchangedSince'],
      error: 'must have as many times as there are ids',
    },
  )
  .meta({ id: 'BulkInput' })

export const jobExample: JobRecord = {
  id: '3c9f0b52-1f64-4b0b-9f4e-6a2d5c8b7e21',
  type: 'BULK',
  status: 'RUNNING',
  total: 74,
  done: 25,
  failed: 1,
  createdAt: '2026-11-21T09:30:00.000Z',
  startedAt: '2026-11-21T09:30:00.120Z',
  finishedAt: null,
  createdBy: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
  problem: null,
  change: { tags: { add: ['finance'], remove: ['draft'] }, status: 'ACTIVE' },
}

const part = { service: 'catalog', tag: 'Jobs' } as const
const JobPath = z.object({ job_id: Uuid })

export const changeApis = operation('changeApis', 'POST /apis/bulk', {
  ...part,
  summary: 'Change many APIs',
  description: `Starts a job that changes each API of \`ids\`, or each that the filter selects at the time of the request, at most ${MAX_JOB_ITEMS}. It acts with the rights that its creator has while it runs. An API whose change is refused does not stop the job: its result says why.`,
  scope: 'API_WRITE',
  body: BulkInput,
  bodyExample: {
    ids: ['5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'],
    change: { tags: { add: ['finance'], remove: ['draft'] }, status: 'ACTIVE' },
  },
  bodyLimit: 1_048_576,
  responses: {
    202: {
      description: 'The job',
      schema: JobRecord,
      headers: { Location: 'Path of the job' },
      example: { ...jobExample, status: 'QUEUED', done: 0, failed: 0, startedAt: null },
    },
  },
  problems: ['too-many-jobs'],
  idempotent: true,
})

export const listJobs = operation('listJobs', 'GET /jobs', {
  ...part,
  summary: 'List jobs',
  description: `Those of the caller; for administrators those of all users. A job is removed ${JOB_KEPT_DAYS} days after its end.`,
  scope: 'JOBS_READ',
  query: z.object({
    ...paging(['createdAt', 'finishedAt', 'status', 'type'], 'createdAt,desc'),
    status: JobStatus.optional(),
  }),
  responses: { 200: { description: 'A page of jobs', schema: pageOf(JobRecord, 'JobPage') } },
})

export const getJob = operation('getJob', 'GET /jobs/{job_id}', {
  ...part,
  summary: 'Get a job',
  scope: 'JOBS_READ',
  params: JobPath,
  responses: { 200: { description: 'The job', schema: JobRecord, example: jobExample } },
  problems: ['job-not-found'],
})

export const cancelJob = operation('cancelJob', 'POST /jobs/{job_id}/cancel', {
  ...part,
  summary: 'Cancel a job',
  description: 'Items that are in progress are completed. What the job has changed stays.',
  scope: 'API_WRITE',
  params: JobPath,
  responses: {
    200: {
      description: 'The job',
      schema: JobRecord,
      example: { ...jobExample, status: 'CANCELLED', finishedAt: '2026-11-21T09:30:01.000Z' },
    },
  },
  problems: ['job-not-found', 'job-not-running'],
})

export const listJobResults = operation('listJobResults', 'GET /jobs/{job_id}/results', {
  ...part,
  summary: 'List the results of the items of a job',
  description: 'In the order of the items. Items that were not begun have none.',
  scope: 'JOBS_READ',
  params: JobPath,
  query: z.object({
    page: paging([], '').page,
    size: paging([], '').size,
    status: z.literal('FAILED').optional().meta({ description: 'Only the items that failed' }),
  }),
  responses: { 200: { description: 'A page of results', schema: pageOf(JobResult, 'JobResultPage') } },
  problems: ['job-not-found'],
})
