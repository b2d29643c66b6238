import { z } from 'zod'
import { EVENT_SCOPES } from './event-scopes.ts'
import { FreeForm } from './free-form.ts'
import { operation } from './operation.ts'
import { Timestamp, text } from './primitives.ts'
import { PLATFORM_EVENTS, PublicEvent } from './public-events.ts'

const PLATFORM_TYPES = Object.keys(PLATFORM_EVENTS) as [
  keyof typeof PLATFORM_EVENTS,
  ...(keyof typeof PLATFORM_EVENTS)[],
]

/** CloudEvents 1.0, "Required attributes", of the types that the platform produces; extensions are ignored. */
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
        description: 'Not before 1970 nor more than 24 hours ahead',
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
  summary: 'Take in an event of the platform',
  description:
    'A CloudEvents 1.0 event in structured JSON. It is stored and delivered to webhooks once per source and id, however often it is sent.',
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
  answers: {
    202: {
      description: 'Taken in',
      schema: z
        .object({
          id: z.uuid().meta({ description: 'Id of the public event' }),
          source: z.string(),
          type: z.string(),
          receivedAt: Timestamp,
          duplicate: z.boolean().meta({ description: 'It was taken in before' }),
        })
        .meta({ id: 'EventReceipt' }),
    },
  },
})

export const StreamedEvent = PublicEvent.extend({
  position: z.string().meta({ description: 'Resume after it with ?after=' }),
}).meta({ id: 'StreamedEvent' })

/** The event types of each scope, in words. */
const SCOPES_OF_TYPES = [...Map.groupBy(Object.entries(EVENT_SCOPES), ([, scope]) => scope)]
  .map(([scope, types]) => `${scope}: ${types.map(([type]) => type).join(', ')}.`)
  .join(' ')

export const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/events',
  service: 'gateway',
  tag: 'Events',
  summary: 'Read the public events from a position on',
  description: `Newline-delimited JSON, or server-sent events when asked for with Accept: text/event-stream (Last-Event-ID resumes). Stays open for what comes unless follow=false. A position after which events have been removed because of their age is refused with 410; oldestPosition is the smallest one that is not. A stream that breaks off is resumed after its last position. Events of a type whose scope the caller lacks are left out; positions are the same for all readers. Only so many streams read events of the past at once; a further one gets its answer when another has read them all, or 503 with Retry-After after 10 seconds. The scopes: ${SCOPES_OF_TYPES}`,
  scope: 'AUDIT_LOG_READ',
  query: z.object({
    after: z
      .string()
      .regex(/^[0-9]{1,15}$/, { error: 'must be a position' })
      .optional()
      .meta({ description: 'Exclusive; from the oldest event that is there when absent' }),
    follow: z
      .enum(['true', 'false'])
      .transform(value => value === 'true')
      .default(true)
      .meta({
        description: 'Wait for what comes',
        override: { type: 'boolean', enum: undefined, default: true },
      }),
  }),
  answers: {
    200: {
      description: 'A StreamedEvent a line, or as the data of a server-sent event',
      schema: StreamedEvent,
      mediaTypes: ['application/x-ndjson', 'text/event-stream'],
    },
  },
  problems: ['position-gone', 'too-many-replays'],
})
