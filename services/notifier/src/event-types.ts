import { EVENT_TYPES, type EventType, type EventTypeRecord, jsonSchemaOf } from '@gantry/contracts'
import { z } from 'zod'

const payloadOf = (type: EventType) =>
  z.object({
    id: z.uuid().meta({ description: 'Id of the event' }),
    type: z.literal(type),
    timestamp: z.iso.datetime().meta({ description: 'When it happened', format: 'date-time' }),
    data: EVENT_TYPES[type].data,
  })

/** The catalog of event types, each with a JSON Schema and an example of the payload. */
export const eventTypes: z.infer<typeof EventTypeRecord>[] = (Object.keys(EVENT_TYPES) as EventType[]).map(
  name => ({
    name,
    description: EVENT_TYPES[name].description,
    scope: EVENT_TYPES[name].scope,
    schema: jsonSchemaOf(payloadOf(name)),
    example: {
      id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
      type: name,
      timestamp: '2026-11-21T09:30:00.000Z',
      data: EVENT_TYPES[name].example,
    },
  }),
)
