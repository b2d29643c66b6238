import { z } from 'zod'
import { operation } from '../operations/operation.ts'
import { text } from '../operations/primitives.ts'
import { Scope } from '../operations/scopes.ts'
import { isPublicEventType, PUBLIC_EVENTS, type PublicEventType, versionsOf } from './public-events.ts'

export const SCHEMA_MEDIA_TYPE = 'application/schema+json'

/** Path of the JSON Schema of the data of an event type in a version. It never changes. */
export const schemaPath = (type: PublicEventType, version: number): string =>
  `/events/schemas/${type}/${version}`

/**
 * The JSON Schema of a payload or a part of it. It allows unknown members, because a later release may add some.
 * @param target draft-2020-12 for readers of schemas, draft-7 for AsyncAPI documents
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12',
): Record<string, unknown> {
  const { '~standard': _, ...json } = z.toJSONSchema(schema, {
    target,
    io: 'input',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      const keywords = jsonSchema as Record<string, unknown>
      Object.assign(keywords, keywords.override)
      // Keywords for the OpenAPI generator, and patterns that a format already implies.
      delete keywords.override
      delete keywords.param
      delete keywords.outputId
      if (keywords.example !== undefined) keywords.examples = [keywords.example]
      delete keywords.example
      if (keywords.format !== undefined) delete keywords.pattern
    },
  })
  return json as Record<string, unknown>
}

/** The address of the service for its clients, or the path prefix of all its paths; empty for none. */
type Root = string

/**
 * The JSON Schema of the data of an event type in a version.
 * @param root begins the `$id` of the schema
 * @returns undefined if the type or the version does not exist
 */
export function eventSchema(type: string, version: number, root: Root): object | undefined {
  if (!isPublicEventType(type)) return undefined
  const found = versionsOf(type)[version - 1]
  if (!found) return undefined
  const { $schema, ...schema } = jsonSchemaOf(found.data)
  return {
    $schema,
    $id: root + schemaPath(type, version),
    title: type,
    description: PUBLIC_EVENTS[type].description,
    ...schema,
    examples: [found.example],
  }
}

const EventSchemaRecord = z
  .object({
    type: z.string(),
    version: z.int(),
    newest: z.boolean().meta({ description: 'Whether events of the type are written in this version' }),
    schema: z.string().meta({ description: 'URL or path of the JSON Schema' }),
    description: z.string(),
    scope: Scope.meta({ description: 'The scope that a reader of the events needs' }),
  })
  .meta({
    id: 'EventSchema',
    example: {
      type: 'TEST',
      version: 1,
      newest: true,
      schema: '/events/schemas/TEST/1',
      description: 'A test delivery was requested',
      scope: 'WEBHOOKS_READ',
    },
  })

/** All event types in all versions. @param root begins the addresses of the schemas */
export const eventSchemas = (root: Root): z.infer<typeof EventSchemaRecord>[] =>
  (Object.keys(PUBLIC_EVENTS) as PublicEventType[]).flatMap(type =>
    versionsOf(type).map((_, index, versions) => ({
      type,
      version: index + 1,
      newest: index + 1 === versions.length,
      schema: root + schemaPath(type, index + 1),
      description: PUBLIC_EVENTS[type].description,
      scope: PUBLIC_EVENTS[type].scope,
    })),
  )

const part = { service: 'gateway', tag: 'Events', scope: 'public' } as const

export const listEventSchemas = operation('listEventSchemas', 'GET /events/schemas', {
  ...part,
  summary: 'List the schemas of all event types',
  description:
    'One for each version of each type. A version never changes, except that it gets optional members.',
  responses: { 200: { description: 'All schemas', schema: z.array(EventSchemaRecord) } },
})

export const getEventSchema = operation('getEventSchema', 'GET /events/schemas/{type}/{version}', {
  ...part,
  summary: 'Get the JSON Schema of the data of an event type in a version',
  description:
    'JSON Schema 2020-12. The attribute dataschema of a CloudEvents event is the URL of its schema.',
  params: z.object({
    type: text(100, 1),
    version: z
      .string()
      .regex(/^[1-9][0-9]{0,8}$/)
      .transform(Number)
      .meta({ override: { type: 'integer', minimum: 1, pattern: undefined } }),
  }),
  responses: {
    200: {
      description: 'The schema',
      schema: z.looseObject({ $id: z.string() }).meta({ id: 'JsonSchema' }),
      example: { $id: '/events/schemas/TEST/1' },
      mediaTypes: [SCHEMA_MEDIA_TYPE],
    },
  },
  problems: ['event-schema-not-found'],
})
