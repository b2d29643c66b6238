import {
  eventSchema,
  eventSchemas,
  getEventSchema,
  listEventSchemas,
  type Operation,
  type Parsed,
  Refusal,
  SCHEMA_MEDIA_TYPE,
} from '@gantry/contracts'
import { type Admit, checkParams, checkQuery, routeOf } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export interface EventSchemaOptions {
  admit: Admit
  /** Prefix of the URLs of the schemas. */
  root: string
}

/** Serves the JSON Schemas of the data of all event types in all versions, without credentials. */
export function eventSchemaRoutes(app: FastifyInstance, { admit, root }: EventSchemaOptions): void {
  const serve = (
    operation: Operation,
    mediaType: string,
    bodyOf: (request: FastifyRequest) => Buffer,
  ): void => {
    app.route({
      ...routeOf(operation, admit),
      async handler(request, reply) {
        checkQuery(operation.query, request.query)
        const body = bodyOf(request)
        return reply
          .header('content-type', mediaType)
          .header('cache-control', 'public, max-age=3600')
          .send(body)
      },
    })
  }

  serve(listEventSchemas, 'application/json; charset=utf-8', () => jsonOf(eventSchemas(root)))

  const made = new Map<string, Buffer>()
  serve(getEventSchema, SCHEMA_MEDIA_TYPE, request => {
    type Params = Parsed<NonNullable<typeof getEventSchema.params>>
    const { type, version } = checkParams(getEventSchema.params, request.params) as Params
    const name = `${type}/${version}`
    const known = made.get(name)
    if (known) return known
    const schema = eventSchema(type, version, root)
    if (!schema) throw new Refusal('event-schema-not-found')
    const body = jsonOf(schema)
    made.set(name, body)
    return body
  })
}

/** A buffer, because Fastify adds a charset to the media type of a text. */
const jsonOf = (value: object) => Buffer.from(JSON.stringify(value))
