import { z } from 'zod'
import { operation } from './operation.ts'
import { label, optional, pageOf, paging, Timestamp, Uuid } from './primitives.ts'

const MAX_POSITION = 1_000_000

export const EnvironmentInput = z
  .object({
    name: label(100)
      .refine(name => !Uuid.safeParse(name).success, { error: 'must not be a UUID' })
      .meta({
        description: 'Unique name; not a UUID, so that filters can tell it from an id',
        override: { type: 'string', minLength: 1, maxLength: 100 },
      }),
    displayName: optional(label(255)).meta({ description: 'Default: the name' }),
    position: optional(z.int().min(0).max(MAX_POSITION)).meta({
      description: 'Place in the order of environments; those without one are the last',
    }),
  })
  .meta({ id: 'EnvironmentInput' })
export type EnvironmentInput = z.infer<typeof EnvironmentInput>

/** An environment as it appears in the audit log. */
export const EnvironmentSnapshot = z.object({
  id: z.uuid(),
  name: z.string().nullable().meta({ description: 'Null until it is set' }),
  displayName: z.string().nullable(),
  position: z.int().nullable().meta({ description: 'Place in the order; null for the end' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type EnvironmentSnapshot = z.infer<typeof EnvironmentSnapshot>

export const EnvironmentRecord = EnvironmentSnapshot.extend({
  apis: z.int().meta({ description: 'Number of APIs that are deployed in it' }),
}).meta({ id: 'Environment' })
export type EnvironmentRecord = z.infer<typeof EnvironmentRecord>

const EnvironmentPath = z.object({ environment_id: Uuid })
const bodyExample = { name: 'production', displayName: 'Production', position: 3 }
const example: EnvironmentRecord = {
  id: '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21',
  ...bodyExample,
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  apis: 120,
}
const part = { service: 'catalog', tag: 'Environments' } as const

export const listEnvironments = operation('listEnvironments', 'GET /environments', {
  ...part,
  summary: 'List environments',
  scope: 'ENVIRONMENT_READ',
  query: z.object(paging(['position', 'name', 'displayName', 'createdAt', 'updatedAt'], 'position,asc')),
  responses: {
    200: { description: 'A page of environments', schema: pageOf(EnvironmentRecord, 'EnvironmentPage') },
  },
})

export const getEnvironment = operation('getEnvironment', 'GET /environments/{environment_id}', {
  ...part,
  summary: 'Get an environment',
  scope: 'ENVIRONMENT_READ',
  params: EnvironmentPath,
  responses: { 200: { description: 'The environment', schema: EnvironmentRecord, example } },
  problems: ['environment-not-found'],
  conditional: true,
})

export const updateEnvironment = operation('updateEnvironment', 'PUT /environments/{environment_id}', {
  ...part,
  summary: 'Name an environment',
  description:
    'The first deployment to an id registers it as an environment without a name. The first name of an unknown id registers it, too.',
  scope: 'ENVIRONMENT_WRITE',
  params: EnvironmentPath,
  body: EnvironmentInput,
  bodyExample,
  responses: { 200: { description: 'The environment', schema: EnvironmentRecord, example } },
  problems: ['environment-name-taken', 'precondition-failed'],
  conditional: true,
})
