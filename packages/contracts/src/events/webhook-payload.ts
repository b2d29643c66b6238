import { z } from 'zod'
import { PUBLIC_EVENTS, type PublicEventType } from './public-events.ts'

/** The request body of a webhook with the format STANDARD. */
export const WebhookPayload = z
  .object({
    id: z.uuid().meta({ description: 'Id of the event' }),
    type: z.string().meta({ description: 'The event type' }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened' }),
    data: z.object({}).meta({ description: 'The subject of the event, by its type' }),
  })
  .meta({ description: 'The request body of a webhook with the format STANDARD' })

/** The headers of a delivery (Standard Webhooks). */
export const WebhookHeaders = z
  .object({
    'webhook-id': z.uuid().meta({ description: 'Id of the delivery, the same in every attempt' }),
    'webhook-timestamp': z.string().meta({ description: 'Time of the attempt, in seconds since 1970' }),
    'webhook-signature': z.string().meta({
      description:
        'One or more of v1,BASE64, separated by spaces: HMAC-SHA256 of webhook-id.webhook-timestamp.body with the secret of the webhook',
    }),
    traceparent: z
      .string()
      .optional()
      .meta({ description: 'W3C trace context of the request that caused the event' }),
  })
  .meta({ description: 'Standard Webhooks' })

/** An example of the request body for an event of the type. */
export const webhookExample = (type: PublicEventType) => ({
  id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
  type,
  timestamp: '2026-11-21T09:30:00.000Z',
  data: PUBLIC_EVENTS[type].example,
})
