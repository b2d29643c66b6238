import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { EVENT_TYPES, type EventType } from '../events/public-events.ts'
import { WebhookHeaders, WebhookPayload, webhookExample } from '../events/webhook-payload.ts'

/** The requests that webhooks with the format STANDARD get, by event type. */
export const webhookPaths = (): ZodOpenApiPathsObject =>
  Object.fromEntries(
    (Object.keys(EVENT_TYPES) as EventType[]).map(type => [
      type,
      {
        post: {
          operationId: `on${pascalCase(type)}`,
          // A tag of their own: a generator that makes a class of each tag writes this one over that of the operations.
          tags: ['Webhook requests'],
          summary: EVENT_TYPES[type].description,
          security: [],
          requestParams: { header: WebhookHeaders },
          requestBody: {
            description: 'The event. A webhook may also choose CloudEvents: see /asyncapi.json',
            required: true,
            content: {
              'application/json': { schema: payloadOf(type), example: webhookExample(type) },
            },
          },
          responses: { '2XX': { description: 'The receiver has the event. Other responses are retried' } },
        },
      },
    ]),
  )

const payloadOf = (type: EventType) =>
  WebhookPayload.extend({ type: z.literal(type), data: EVENT_TYPES[type].data }).meta({
    id: `${pascalCase(type)}Payload`,
    description: EVENT_TYPES[type].description,
  })

/** E.g. ApiCreated for API_CREATED. */
export const pascalCase = (type: string) =>
  type.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())
