import { z } from 'zod'
import { ApiPath, apiExample } from './apis.ts'
import { operation } from './operation.ts'
import { flag, Instant, pageOf, paging, Timestamp } from './primitives.ts'
import { VersionPath } from './versions.ts'
import { WebhookPath } from './webhooks.ts'

/** An operation of a JSON Patch (RFC 6902). Appliers ignore the additional member `before` (§4). */
export const PatchOperation = z
  .object({
    op: z.enum(['add', 'replace', 'remove']).meta({ id: 'PatchOperator' }),
    path: z.string().meta({ description: 'JSON Pointer (RFC 6901) of the field' }),
    value: z.unknown().optional().meta({ description: 'The new value; absent for remove' }),
    before: z.unknown().optional().meta({ description: 'The previous value; absent for add' }),
  })
  .meta({ id: 'PatchOperation' })
export type PatchOperation = z.infer<typeof PatchOperation>

/** The cause of a change: a user, or a part of the service, which has no id. */
export const Who = z
  .object({
    id: z.string().nullable().meta({ description: 'User id; null if the service itself made the change' }),
    username: z
      .string()
      .nullable()
      .meta({ description: 'Current username, or the part of the service. Null if the user is unknown' }),
    displayName: z.string().nullable(),
  })
  .meta({ id: 'Who' })
export type Who = z.infer<typeof Who>

export const HistoryEntry = z
  .object({
    id: z.uuid().meta({ description: 'Id of the event, as in the audit log' }),
    timestamp: Timestamp,
    who: Who.nullable().meta({ description: 'Null for a caller without AUDIT_LOG_READ' }),
    operation: z.string().meta({
      description: 'The action of the audit log, or API_IMAGE_UPDATED and API_IMAGE_DELETED for hasImage',
      example: 'API_UPDATED',
    }),
    resourceType: z.string().meta({ example: 'API' }),
    resourceId: z.string(),
    revision: z.int().nullable().meta({
      description:
        'Revision of the record after the change, with which its ETag begins; null if it was deleted',
    }),
    restoredTo: Timestamp.nullable().meta({
      description: 'For API_RESTORED: the time of the restored state',
    }),
    environment: z.string().nullable().meta({
      description: 'Id of the environment of a deployment or an undeployment; null for other changes',
    }),
    requestId: z.string(),
    changes: z.array(PatchOperation).meta({
      description:
        'JSON Patch (RFC 6902) from the record before the change to the record after it. A resource that does not exist is the empty object',
    }),
  })
  .meta({ id: 'HistoryEntry' })
export type HistoryEntry = z.infer<typeof HistoryEntry>

const query = {
  ...paging(['timestamp'], 'timestamp,desc'),
  from: Instant.optional().meta({ description: 'Earliest timestamp, inclusive' }),
  to: Instant.optional().meta({ description: 'Latest timestamp, exclusive' }),
}

const example: HistoryEntry = {
  id: 'c0a8f9d2-4b5e-5f6a-8c7d-1e2f3a4b5c6d',
  timestamp: '2026-11-21T09:45:00.000Z',
  who: { id: apiExample.owner, username: 'admin', displayName: 'Administrator' },
  operation: 'API_UPDATED',
  resourceType: 'API',
  resourceId: apiExample.id,
  revision: 1,
  restoredTo: null,
  environment: null,
  requestId: '1f6d9a3e-7f0b-4a7e-9d52-0a4c2b8e6f31',
  changes: [
    { op: 'replace', path: '/url', value: '/pay', before: '/payments' },
    { op: 'replace', path: '/updatedAt', value: '2026-11-21T09:45:00.000Z', before: apiExample.updatedAt },
  ],
}

const responses = {
  200: {
    description: 'A page of changes',
    schema: pageOf(HistoryEntry, 'HistoryPage'),
    example: { content: [example], size: 10, number: 1, totalPages: 1, totalElements: 1, last: true },
  },
}

const DELETED = 'Newest first, unless sorted otherwise. Also available after the deletion.'

export const getApiHistory = operation('getApiHistory', 'GET /apis/{api_id}/history', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'List the changes of an API',
  description: DELETED,
  scope: 'API_READ',
  params: ApiPath,
  query: z.object({ ...query, includeVersions: flag('Include the changes of its versions') }),
  responses,
  problems: ['api-not-found'],
})

export const getVersionHistory = operation(
  'getVersionHistory',
  'GET /apis/{api_id}/versions/{version_id}/history',
  {
    service: 'catalog',
    tag: 'Versions',
    summary: 'List the changes of a version',
    description: `${DELETED} A name means the version that had it last.`,
    scope: 'API_READ',
    params: VersionPath,
    query: z.object(query),
    responses,
    problems: ['api-not-found', 'version-not-found'],
  },
)

export const getWebhookHistory = operation('getWebhookHistory', 'GET /webhooks/{webhook_id}/history', {
  service: 'notifier',
  tag: 'Webhooks',
  summary: 'List the changes of a webhook',
  description: DELETED,
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  query: z.object(query),
  responses,
  problems: ['webhook-not-found'],
})
