import { z } from 'zod'
import { DocumentCounts, DocumentKind } from './document-kinds.ts'
import { operation } from './operation.ts'
import {
  ActiveStatus,
  flag,
  Instant,
  label,
  listOf,
  optional,
  pageOf,
  paging,
  pastTime,
  Timestamp,
  text,
  Uuid,
} from './primitives.ts'

export const DeploymentStatus = z
  .enum(['CREATED', 'DEPLOYMENT_IN_PROGRESS', 'DEPLOYED', 'DEPLOYMENT_FAILED', 'UNDEPLOYED'])
  .meta({ id: 'DeploymentStatus' })
export type DeploymentStatus = z.infer<typeof DeploymentStatus>

/** Matches a user in a URL that browsers read as http or https, also without slashes or with backslashes. */
const HTTP_USER = /^(?:(?:[a-z\d.-]+\+)?https?:[\\/]*|[\\/]{2})[^\\/?#]*@/i
/** Matches a password in any other URL, or in a repository address as git and scp write it. */
const PASSWORD = /^(?:[a-z][a-z\d+.-]*:\/\/)?[^/?#@:]*:[^/?#]*@/i

/** A URL, path or address of a repository. Credentials would stay in the log, which nothing removes. */
const location = text(2048).refine(
  value => {
    // Parsers of URLs ignore these characters.
    const read = value.replace(/^[\p{Cc}\s]+|[\t\n\r]/gu, '')
    return !HTTP_USER.test(read) && !PASSWORD.test(read)
  },
  { error: 'must have no password, and no user in an http or https URL' },
)

/** Maximum tags of an API. */
export const MAX_TAGS = 50

export const ApiInput = z
  .object({
    name: label(255).meta({ description: 'Unique technical name' }),
    displayName: label(255),
    description: optional(text(1000)),
    url: optional(location).meta({ description: 'Base URL path, without credentials' }),
    status: ActiveStatus,
    tags: z
      .array(label(100))
      .max(MAX_TAGS)
      .transform(tags => [...new Set(tags)]),
    owner: optional(Uuid).meta({
      description: 'User id of the owner. If absent: the caller on create, unchanged on update',
    }),
    platformType: optional(text(100)),
    gitUrl: optional(location).meta({
      description: 'Without password, and as http or https URL without user',
    }),
    gitCredential: optional(Uuid),
  })
  .meta({ id: 'ApiInput' })
export type ApiInput = z.infer<typeof ApiInput>

export const Job = z
  .object({
    id: z.uuid(),
    type: z.enum(['DEPLOY', 'UNDEPLOY']).meta({ id: 'DeploymentJobType' }),
    api: z.uuid(),
    environment: z.uuid(),
    status: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED']).meta({ id: 'DeploymentJobStatus' }),
    startedAt: Timestamp,
  })
  .meta({ id: 'DeploymentJob' })
export type Job = z.infer<typeof Job>

/** An API as it appears in events and in the audit log. */
export const ApiSnapshot = z
  .object({
    id: z.uuid(),
    name: z.string(),
    displayName: z.string(),
    description: z.string().nullable(),
    url: z.string().nullable(),
    status: ActiveStatus,
    tags: z.array(z.string()),
    owner: z.string().nullable().meta({ description: 'Id of the owner' }),
    platformType: z.string().nullable(),
    gitUrl: z.string().nullable(),
    gitCredential: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    hasImage: z.boolean(),
    deploymentStatus: DeploymentStatus,
  })
  .meta({ id: 'ApiSnapshot' })
export type ApiSnapshot = z.infer<typeof ApiSnapshot>

/** A document of a version, as the API shows it. */
export const AttachedDocument = z
  .object({
    name: z.string(),
    kind: DocumentKind,
    primary: z.boolean(),
    counts: DocumentCounts,
  })
  .meta({ id: 'AttachedDocument' })
export type AttachedDocument = z.infer<typeof AttachedDocument>

/** Where a text has what a search found: ranges of UTF-16 code units, the end exclusive, in ascending order. */
const Ranges = z.array(z.array(z.int().min(0)).length(2))

const environmentName = z.string().nullable().meta({ description: 'Null while the environment has no name' })

export const ApiRecord = ApiSnapshot.extend({
  ownerDisplayName: z.string().nullable(),
  highlights: z
    .record(z.string(), Ranges)
    .optional()
    .meta({
      description:
        'In lists with q: where the fields of the record have the words of q. By field, or tags.{index} for a tag; ranges [start, end] in UTF-16 code units, the end exclusive',
      example: { displayName: [[0, 8]], 'tags.1': [[0, 6]] },
    }),
  score: z
    .int()
    .optional()
    .meta({ description: 'In lists with scoreBelow: the lowest score of its documents' }),
  deployedOn: z
    .array(
      z.object({ environment: z.uuid(), environmentName, deployedAt: Timestamp }).meta({ id: 'Deployment' }),
    )
    .optional(),
  runningJobs: z
    .array(Job.omit({ api: true }).extend({ environmentName }).meta({ id: 'RunningJob' }))
    .optional(),
  documents: z
    .array(
      AttachedDocument.extend({ version: z.uuid().meta({ description: 'Id of the version' }) }).meta({
        id: 'AttachedVersionDocument',
      }),
    )
    .optional(),
}).meta({ id: 'Api' })
export type ApiRecord = z.infer<typeof ApiRecord>

export const ApiPath = z.object({ api_id: Uuid })

const example = {
  name: 'payments',
  displayName: 'Payments',
  description: 'Card and account payments',
  url: '/payments',
  status: 'ACTIVE' as const,
  tags: ['finance', 'public'],
  platformType: 'ENVOY' as const,
}
export const apiExample: ApiSnapshot = {
  id: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
  ...example,
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
  gitUrl: null,
  gitCredential: null,
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  hasImage: false,
  deploymentStatus: 'CREATED',
}
const record: ApiRecord = { ...apiExample, ownerDisplayName: 'Administrator' }
const include = {
  includeDeployedOn: flag('Include deployment environment details'),
  includeRunningJobs: flag('Include running job details'),
  includeDocuments: flag('Include the documents of the versions'),
}

/** Maximum number of APIs that `scoreBelow` finds. */
export const MAX_SCORED = 10_000

/** The filters of lists of APIs. */
export const filters = {
  text: text(1000)
    .optional()
    .meta({ description: 'Each term is a case-insensitive substring of name or description' }),
  q: text(500).optional().meta({
    description:
      'Finds APIs by words, also in their documents, the best first unless sort is given. The last word may be a beginning; words of five letters or more may have one typo. Not together with text',
  }),
  name: z.string().optional().meta({ description: 'Exact name' }),
  owner: Uuid.optional(),
  platformType: z.string().optional(),
  status: ActiveStatus.optional(),
  environment: text(100, 1)
    .optional()
    .meta({ description: 'Deployed in the environment with this id or name' }),
  tags: listOf(50, 'Has all of these tags; repeated or comma-separated'),
  deployed: flag('true: only deployed APIs; false: no filter'),
  notDeployed: flag('true: only APIs that are deployed nowhere; false: no filter'),
  product: Uuid.optional().meta({ description: 'Member of this product' }),
}

export const listApis = operation('listApis', 'GET /apis', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'List APIs',
  description: 'Filters combine with AND.',
  scope: 'API_READ',
  query: z.object({
    ...paging(
      ['name', 'displayName', 'status', 'platformType', 'createdAt', 'updatedAt', 'deploymentStatus'],
      'name,asc',
      'relevance with q',
    ),
    ...filters,
    scoreBelow: z
      .string()
      .regex(/^([1-9]\d?|100)$/, { error: 'must be a whole number from 1 to 100' })
      .transform(Number)
      .optional()
      .meta({
        description: `Has a document with a lower score; those with the lowest score first, at most ${MAX_SCORED}. Not together with sort, q and at`,
        override: { type: 'integer', minimum: 1, maximum: 100, pattern: undefined },
      }),
    at: pastTime,
    ...include,
  }),
  responses: { 200: { description: 'A page of APIs', schema: pageOf(ApiRecord, 'ApiPage') } },
})

const valuesOf = <Value extends z.ZodType>(id: string, value: Value) =>
  z.array(z.object({ value, count: z.int().min(1) }).meta({ id }))

const texts = valuesOf('TextCount', z.string())
const ids = valuesOf('IdCount', z.uuid())

export const ApiFacets = z
  .object({
    totalElements: z.int().meta({ description: 'Number of APIs that the filters let pass' }),
    status: valuesOf('StatusCount', ActiveStatus),
    deploymentStatus: valuesOf('DeploymentStatusCount', DeploymentStatus),
    deployed: valuesOf('DeployedCount', z.boolean()),
    platformType: texts,
    tags: texts,
    owner: z.array(
      z
        .object({ value: z.string(), displayName: z.string().nullable(), count: z.int().min(1) })
        .meta({ id: 'OwnerCount' }),
    ),
    environment: ids,
    product: ids,
  })
  .meta({ id: 'ApiFacets' })
export type ApiFacets = z.infer<typeof ApiFacets>

export const getApiFacets = operation('getApiFacets', 'GET /apis/facets', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Count the APIs by the values of their fields',
  description:
    'For each filter its values among the APIs that the given filters let pass, with the number of APIs: what GET /apis finds with the value as a further filter. The most frequent values first, at most 100 of each.',
  scope: 'API_READ',
  query: z.object(filters),
  responses: {
    200: {
      description: 'The values and their counts',
      schema: ApiFacets,
      example: {
        totalElements: 3,
        status: [{ value: 'ACTIVE', count: 3 }],
        deploymentStatus: [
          { value: 'CREATED', count: 2 },
          { value: 'DEPLOYED', count: 1 },
        ],
        deployed: [
          { value: false, count: 2 },
          { value: true, count: 1 },
        ],
        platformType: [{ value: 'ENVOY', count: 2 }],
        tags: [
          { value: 'finance', count: 3 },
          { value: 'public', count: 1 },
        ],
        owner: [{ value: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', displayName: 'Administrator', count: 3 }],
        environment: [{ value: '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21', count: 1 }],
        product: [],
      } satisfies ApiFacets,
    },
  },
})

export const createApi = operation('createApi', 'POST /apis', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Create an API',
  scope: 'API_WRITE',
  body: ApiInput,
  bodyExample: example,
  responses: {
    201: {
      description: 'The new API',
      schema: ApiRecord,
      headers: { Location: 'Path of the API' },
      example: record,
    },
  },
  problems: ['api-name-taken'],
  idempotent: true,
  conditional: true,
})

export const getApi = operation('getApi', 'GET /apis/{api_id}', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Get an API',
  scope: 'API_READ',
  params: ApiPath,
  query: z.object({ at: pastTime, ...include }),
  responses: {
    200: {
      description: 'The API',
      schema: ApiRecord,
      headers: {
        Link: 'With `includeDocuments`: `service-desc` and `service-doc`, the documents (RFC 8631)',
      },
      example: record,
    },
  },
  problems: ['api-not-found'],
  conditional: true,
})

export const updateApi = operation('updateApi', 'PUT /apis/{api_id}', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Replace an API',
  description:
    'All required fields must be present. Omitted optional fields become null, except owner, which is unchanged.',
  scope: 'API_WRITE',
  params: ApiPath,
  body: ApiInput,
  bodyExample: example,
  responses: { 200: { description: 'The API', schema: ApiRecord, example: record } },
  problems: ['api-not-found', 'api-name-taken', 'precondition-failed'],
  conditional: true,
})

export const deleteApi = operation('deleteApi', 'DELETE /apis/{api_id}', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Delete an API with its versions and its image',
  description:
    'With `undeploy=true` the API is first recorded as undeployed from each of its environments, and webhooks receive API_UNDEPLOYED for each. Without it a deployed API is deleted too, and webhooks receive API_DELETED alone.',
  scope: 'API_WRITE',
  params: ApiPath,
  query: z.object({ undeploy: flag('Undeploy from all environments before deletion') }),
  responses: { 204: { description: 'Deleted' } },
  problems: ['api-not-found', 'precondition-failed'],
  conditional: true,
})

export const RestoreInput = z
  .object({ at: Instant.meta({ description: 'A time since the creation of the API, in the past' }) })
  .meta({ id: 'RestoreInput' })

export const restoreApi = operation('restoreApi', 'POST /apis/{api_id}/restore', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Restore the fields of an API as they were at a time',
  description:
    'Sets the fields that PUT sets, the owner included, to their values at that time. Versions, image and deployments stay unchanged. The audit log records API_RESTORED; webhooks receive API_UPDATED. Without a difference nothing is recorded.',
  scope: 'API_WRITE',
  params: ApiPath,
  body: RestoreInput,
  bodyExample: { at: apiExample.createdAt },
  responses: { 200: { description: 'The API', schema: ApiRecord, example: record } },
  problems: ['api-not-found', 'api-name-taken', 'not-restorable', 'precondition-failed'],
  conditional: true,
})

const DeploymentPath = z.object({ environment_id: Uuid, api_id: Uuid })
const job = {
  id: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
  type: 'DEPLOY',
  api: record.id,
  environment: '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21',
  status: 'RUNNING',
  startedAt: '2026-11-21T09:31:00.000Z',
}

export const deployApi = operation('deployApi', 'PUT /environments/{environment_id}/apis/{api_id}', {
  service: 'catalog',
  tag: 'Deployments',
  summary: 'Deploy an API to an environment',
  description: 'Starts a job. A deployment agent executes it and reports its result.',
  scope: 'API_WRITE',
  params: DeploymentPath,
  responses: { 202: { description: 'The job', schema: Job, example: job } },
  problems: ['api-not-found', 'deployment-running'],
})

export const undeployApi = operation('undeployApi', 'DELETE /environments/{environment_id}/apis/{api_id}', {
  service: 'catalog',
  tag: 'Deployments',
  summary: 'Undeploy an API from an environment',
  scope: 'API_WRITE',
  params: DeploymentPath,
  responses: { 202: { description: 'The job', schema: Job, example: { ...job, type: 'UNDEPLOY' } } },
  problems: ['api-not-found', 'api-not-deployed', 'deployment-running'],
})

export const cancelDeployment = operation(
  'cancelDeployment',
  'POST /environments/{environment_id}/apis/{api_id}/cancel',
  {
    service: 'catalog',
    tag: 'Deployments',
    summary: 'Cancel the deployment job of an API and environment',
    description:
      'Marks the running job as failed, so that another job can start. The deployment agent is not stopped: it may still change the environment, but its report on the job is ignored.',
    scope: 'API_WRITE',
    params: DeploymentPath,
    responses: { 200: { description: 'The job', schema: Job, example: { ...job, status: 'FAILED' } } },
    problems: ['api-not-found', 'deployment-not-running'],
  },
)
