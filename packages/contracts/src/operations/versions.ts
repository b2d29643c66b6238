import { z } from 'zod'
import { ApiPath } from './apis.ts'
import { operation } from './operation.ts'
import { label, optional, pageOf, paging, pastTime, Timestamp, text } from './primitives.ts'

export const VersionStatus = z
  .enum(['DEVELOPMENT', 'ACTIVE', 'DEPRECATED', 'RETIRED', 'INACTIVE'])
  .meta({ id: 'VersionStatus' })

export const VersionInput = z
  .object({
    name: label(100)
      .refine(name => name !== '.' && name !== '..', {
        error: 'must not be . or .., which no path can contain',
      })
      .meta({ description: 'Version label, unique in its API; not . or ..' }),
    displayName: optional(label(255)).meta({ description: 'Default: the name' }),
    description: optional(text(1000)),
    status: VersionStatus.nullish()
      .transform(value => value ?? 'ACTIVE')
      .meta({ description: 'Default: ACTIVE' }),
  })
  .meta({ id: 'VersionInput' })
export type VersionInput = z.infer<typeof VersionInput>

export const VersionRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    displayName: z.string(),
    description: z.string().nullable(),
    status: VersionStatus,
    api: z.uuid(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Version' })
export type VersionRecord = z.infer<typeof VersionRecord>

export const VersionPath = ApiPath.extend({
  version_id: text(255, 1).meta({ description: "The version's id or its name" }),
})

const example = { name: '1.2.0', displayName: 'Spring release', status: 'ACTIVE' }
const record = {
  id: '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01',
  ...example,
  description: null,
  api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
}
const part = { service: 'catalog', tag: 'Versions' } as const

export const listVersions = operation('listVersions', 'GET /apis/{api_id}/versions', {
  ...part,
  summary: 'List the versions of an API',
  scope: 'API_READ',
  params: ApiPath,
  query: z.object({ ...paging(['name', 'displayName', 'status', 'createdAt'], 'name,asc'), at: pastTime }),
  responses: { 200: { description: 'A page of versions', schema: pageOf(VersionRecord, 'VersionPage') } },
  problems: ['api-not-found'],
})

export const createVersion = operation('createVersion', 'POST /apis/{api_id}/versions', {
  ...part,
  summary: 'Create a version',
  scope: 'API_WRITE',
  params: ApiPath,
  body: VersionInput,
  bodyExample: example,
  responses: {
    201: {
      description: 'The new version',
      schema: VersionRecord,
      headers: { Location: 'Path of the version' },
      example: record,
    },
  },
  problems: ['api-not-found', 'version-name-taken', 'too-many-versions'],
  idempotent: true,
  conditional: true,
})

export const getVersion = operation('getVersion', 'GET /apis/{api_id}/versions/{version_id}', {
  ...part,
  summary: 'Get a version',
  scope: 'API_READ',
  params: VersionPath,
  query: z.object({ at: pastTime }),
  responses: {
    200: {
      description: 'The version',
      schema: VersionRecord,
      headers: { Link: '`service-desc` and `service-doc`: its documents (RFC 8631)' },
      example: record,
    },
  },
  problems: ['api-not-found', 'version-not-found'],
  conditional: true,
})

export const updateVersion = operation('updateVersion', 'PUT /apis/{api_id}/versions/{version_id}', {
  ...part,
  summary: 'Replace a version',
  scope: 'API_WRITE',
  params: VersionPath,
  body: VersionInput,
  bodyExample: example,
  responses: { 200: { description: 'The version', schema: VersionRecord, example: record } },
  problems: ['api-not-found', 'version-not-found', 'version-name-taken', 'precondition-failed'],
  conditional: true,
})

export const deleteVersion = operation('deleteVersion', 'DELETE /apis/{api_id}/versions/{version_id}', {
  ...part,
  summary: 'Delete a version',
  scope: 'API_WRITE',
  params: VersionPath,
  responses: { 204: { description: 'Deleted' } },
  problems: ['api-not-found', 'version-not-found', 'precondition-failed'],
  conditional: true,
})
