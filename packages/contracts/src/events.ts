import { z } from 'zod'
import { FreeForm } from './free-form.ts'
import { operation } from './operation.ts'
import { Timestamp, text } from './primitives.ts'
import { PLATFORM_EVENTS, PUBLIC_EVENTS, PublicEvent } from './public-events.ts'

const PLATFORM_TYPES = Object.keys(PLATFORM_EVENTS) as [
  keyof typeof PLATFORM_EVENTS,
  ...(keyof typeof PLATFORM_EVENTS)[],
]

/** CloudEvents 1.0, "Required attributes", with the event types of the platform. Extension attributes are ignored. */
export const CloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: text(255, 1),
    source: text(2048, 1),
    type: z.enum(PLATFORM_TYPES),
    time: z.iso
      .datetime({ offset: true })
      .nullish()
      .meta({
        description: 'Not before 1970, and not more than 24 hours in the future',
        override: { pattern: undefined },
      }),
    subject: text(2048).nullish(),
    datacontenttype: z.string().nullish(),
    data: FreeForm,
  })
  .superRefine((event, context) => {
    const parsed = PLATFORM_EVENTS[event.type]?.data.safeParse(event.data)
    for (const issue of parsed?.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: ['data', ...issue.path], message: issue.message })
    }
  })
  .meta({ id: 'CloudEvent' })
export type CloudEvent = z.infer<typeof CloudEvent>

export const publishEvent = operation({
  id: 'publishEvent',
  method: 'POST',
  path: '/events',
  service: 'notifier',
  tag: 'Events',
  summary: 'Publish an event of the platform',
  description:
    'Accepts a CloudEvents 1.0 event in structured JSON. An event that is sent again with the same source and id is stored and delivered to webhooks only once.',
  scope: 'CONFIGURATION_WRITE',
  body: CloudEvent,
  bodyMediaType: 'application/cloudevents+json',
  bodyLimit: 1_048_576,
  bodyExample: {
    specversion: '1.0',
    id: 'a-41',
    source: '/subscriptions',
    type: 'SUBSCRIPTION_CREATED',
    data: { application: 'shop', plan: 'gold' },
  },
  responses: {
    202: {
      description: 'Accepted',
      schema: z
        .object({
          id: z.uuid().meta({ description: 'Id of the public event' }),
          source: z.string(),
          type: z.string(),
          receivedAt: Timestamp,
          duplicate: z.boolean().meta({ description: 'Whether the event had been accepted before' }),
        })
        .meta({ id: 'EventReceipt' }),
    },
  },
})

export const StreamedEvent = PublicEvent.extend({
  position: z.string().meta({ description: 'Value of ?after= to resume after this event' }),
}).meta({ id: 'StreamedEvent' })

/** The event types of each scope, as text. */
const SCOPES_OF_TYPES = [...Map.groupBy(Object.entries(PUBLIC_EVENTS), ([, { scope }]) => scope)]
  .map(([scope, types]) => `${scope}: ${types.map(([type]) => type).join(', ')}.`)
  .join(' ')

export const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/events',
  service: 'gateway',
  tag: 'Events',
  summary: 'Stream public events after a position',
  description: `Newline-delimited JSON, or server-sent events with Accept: text/event-stream (Last-Event-ID resumes). The stream stays open for new events unless follow=false. If events after the given position have been removed because of their age, the request is refused with 410, and oldestPosition is the smallest position that is accepted. After a lost connection, resume after the last position received. Events of a type whose scope the caller lacks are left out; positions are the same for all readers. The number of streams that read past events at the same time is limited. A further stream waits until another one has read them all; after 10 seconds it is answered with 503 and Retry-After. The scopes: ${SCOPES_OF_TYPES}`,
  scope: 'AUDIT_LOG_READ',
  query: z.object({
    after: z
      .string()
      .regex(/^[0-9]{1,15}$/, { error: 'must be a position' })
      .optional()
      .meta({ description: 'Position, exclusive. If absent: from the oldest event' }),
    follow: z
      .enum(['true', 'false'])
      .transform(value => value === 'true')
      .default(true)
      .meta({
        description: 'Whether the stream stays open for new events',
        override: { type: 'boolean', enum: undefined, default: true },
      }),
  }),
  responses: {
    200: {
      description: 'One StreamedEvent per line, or per server-sent event as its data',
      schema: StreamedEvent,
      mediaTypes: ['application/x-ndjson', 'text/event-stream'],
    },
  },
  problems: ['position-gone', 'too-many-replays'],
})
