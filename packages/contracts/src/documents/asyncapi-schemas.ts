import type { z } from 'zod'
import { jsonSchemaOf } from '../events/event-schemas.ts'

type Json = Record<string, unknown>

/** The schemas of an AsyncAPI document, by name. */
export interface AsyncApiSchemas {
  /** Adds a schema and those that it refers to, as JSON Schema draft 7, the schema language of AsyncAPI. */
  add(name: string, schema: z.ZodType): void
  addJson(name: string, schema: Json): void
  all(): Readonly<Record<string, Json>>
}

const DEFINITIONS = '#/definitions/'

export function asyncApiSchemas(): AsyncApiSchemas {
  const schemas: Record<string, Json> = {}
  return {
    add(name, schema) {
      const { $schema: _, definitions = {}, ...own } = pointingToComponents(jsonSchemaOf(schema, 'draft-7'))
      Object.assign(schemas, definitions)
      // A schema with an id is its own definition.
      if (own.$ref !== `#/components/schemas/${name}`) schemas[name] = own
    },
    addJson(name, schema) {
      schemas[name] = schema
    },
    all: () => schemas,
  }
}

/** Moves the targets of references: schemas of a document are at one place. */
const pointingToComponents = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(DEFINITIONS, '#/components/schemas/') : value,
  )
