import { z } from 'zod'
import { operation } from './operation.ts'
import { Timestamp, text } from './primitives.ts'

const part = { service: 'identity', tag: 'Read models' } as const

export const ReadModelState = z
  .object({
    name: z.string().meta({ description: 'The name of its projector, e.g. `catalog.projector`' }),
    service: z.string(),
    collections: z.array(z.string()).meta({ description: 'Collections with their versions' }),
    generation: z.int().meta({ description: 'The generation that is read; it grows with each rebuild' }),
    position: z
      .string()
      .meta({ description: 'Position in the event log up to which it is projected; opaque' }),
    lagSeconds: z
      .number()
      .meta({ description: 'Age of the oldest event that is not projected yet; 0 without one' }),
    status: z.enum(['LIVE', 'WAITING', 'BUILDING']).meta({
      id: 'ReadModelStatus',
      description: 'WAITING: a rebuild is requested and has not begun. BUILDING: a rebuild runs',
    }),
    rebuild: z
      .object({
        startedAt: Timestamp,
        updatedAt: Timestamp,
        events: z.int().meta({ description: 'Events that were projected since the builder last started' }),
        eventsPerSecond: z.int(),
        progress: z.number().min(0).max(1).meta({ description: 'Part of the event log that is projected' }),
        estimatedEnd: Timestamp.nullable(),
      })
      .meta({ id: 'Rebuild' })
      .nullable(),
    lastRebuild: z
      .object({
        outcome: z.enum(['COMPLETED', 'CANCELLED', 'FAILED']).meta({ id: 'RebuildOutcome' }),
        reason: z.string().nullable().meta({ description: 'Why it failed' }),
        startedAt: Timestamp,
        endedAt: Timestamp,
      })
      .meta({ id: 'LastRebuild' })
      .nullable(),
    quarantinedStreams: z.int().meta({ description: 'Streams with an event that cannot be processed' }),
    incompleteStreams: z.int().meta({ description: 'Streams with events that this release does not know' }),
    error: z
      .object({ message: z.string(), at: Timestamp })
      .meta({ id: 'ProjectorFailure' })
      .nullable()
      .meta({ description: 'The last failure of the projector, until it runs again' }),
  })
  .meta({ id: 'ReadModel' })
export type ReadModelState = z.infer<typeof ReadModelState>

/** What the audit log shows of a request for a rebuild. */
export const ReadModelSnapshot = z.object({
  name: z.string(),
  rebuild: z.object({ id: z.string(), status: z.enum(['REQUESTED', 'CANCELLED']) }),
})

const example = {
  name: 'catalog.projector',
  service: 'catalog',
  collections: ['catalog.apis@3', 'catalog.versions@1'],
  generation: 0,
  position: '0000000000004711',
  lagSeconds: 0,
  status: 'WAITING',
  rebuild: null,
  lastRebuild: null,
  quarantinedStreams: 0,
  incompleteStreams: 0,
  error: null,
} as const

const params = z.object({ name: text(100, 1).meta({ description: 'The name of a read model' }) })

export const listReadModels = operation('listReadModels', 'GET /readModels', {
  ...part,
  summary: 'List the read models of all services',
  description: 'Documents that are computed from the event log, by the projector that computes them.',
  scope: 'CONFIGURATION_READ',
  responses: {
    200: {
      description: 'All read models, by name',
      schema: z.array(ReadModelState),
      example: [{ ...example, status: 'LIVE' }],
    },
  },
})

export const rebuildReadModel = operation('rebuildReadModel', 'POST /readModels/{name}/rebuild', {
  ...part,
  summary: 'Rebuild a read model from the event log',
  description:
    'A new generation is built while the live one is read. Then all readers switch to it. While a rebuild is requested or runs, a further request starts no other one.',
  scope: 'CONFIGURATION_WRITE',
  params,
  responses: {
    202: {
      description: 'The read model. The rebuild begins within seconds',
      schema: ReadModelState,
      example,
    },
  },
  problems: ['read-model-not-found'],
})

export const cancelRebuild = operation('cancelRebuild', 'POST /readModels/{name}/cancel', {
  ...part,
  summary: 'Cancel the rebuild of a read model',
  description: 'The live generation stays. What was built is deleted.',
  scope: 'CONFIGURATION_WRITE',
  params,
  responses: {
    202: {
      description: 'The read model. The rebuild ends within seconds',
      schema: ReadModelState,
      example: { ...example, status: 'LIVE' },
    },
  },
  problems: ['read-model-not-found', 'rebuild-not-running'],
})
