import { z } from 'zod'
import { operation } from '../operations/operation.ts'
import { FreeForm, integer, listOf, Timestamp, text, Uuid, writtenTime } from '../operations/primitives.ts'
import { CLOUDEVENTS_BATCH, CLOUDEVENTS_JSON, EmittedCloudEvent } from './cloud-events.ts'
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
    type: z.enum(PLATFORM_TYPES).meta({ id: 'PlatformEventType' }),
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
    const parsed = PLATFORM_EVENTS[event.type]?.data.safeParse(event.data, { reportInput: true })
    // Without its message, so that it is worded as the others of the body are.
    for (const { message: _, ...issue } of parsed?.error?.issues ?? [])
      context.issues.push({ ...issue, path: ['data', ...issue.path] } as z.core.$ZodRawIssue)
  })
  .meta({ id: 'CloudEvent' })
export type CloudEvent = z.infer<typeof CloudEvent>

export const publishEvent = operation('publishEvent', 'POST /events', {
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
        .meta({
          id: 'EventReceipt',
          example: {
            id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
            source: '/subscriptions',
            type: 'SUBSCRIPTION_CREATED',
            receivedAt: '2026-11-21T09:30:00.000Z',
            duplicate: false,
          },
        }),
    },
  },
})

/** Place of a reader in the event feed. Only the gateway knows what it contains. */
const FeedPosition = z.string().meta({
  description:
    'Value of ?after= to continue after this place. Opaque; the same place can have different values',
})

export const StreamedEvent = PublicEvent.extend({
  traceId: z.string().nullable().meta({
    description:
      'W3C trace id of the request that caused the event, or of the work of the service itself; null if there is none',
  }),
  position: FeedPosition,
}).meta({
  id: 'StreamedEvent',
  example: {
    id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
    type: 'API_DELETED',
    source: 'catalog',
    subject: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
    revision: 7,
    time: '2026-11-21T09:30:00.000Z',
    data: {},
    actor: { id: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', name: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55' },
    requestId: '6a1b0f0e-54a7-4a0f-9c86-3d0f3f2b7c11',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    position: 'WzEsNDcxMV0',
  },
})

/** An event of the feed, in the format of the request. */
const FeedEvent = z.union([StreamedEvent, EmittedCloudEvent]).meta({ id: 'FeedEvent' })

export const EventPage = z
  .object({
    content: z
      .array(FeedEvent)
      .meta({ description: 'Events in the order of the feed; EmittedCloudEvent with format=cloudevents' }),
    position: FeedPosition,
  })
  .meta({
    id: 'EventPage',
    example: { content: [], position: 'WzEsNDcxMV0' },
    description:
      'A page of events. The position moves on over events that the filters leave out: a page can be empty before the end of the feed. At the end, the page is empty and repeats the position of the request',
  })

/** Where a stream of filtered events has arrived, when no event has matched for a while. */
const FeedProgress = z.object({ position: FeedPosition }).meta({ id: 'FeedProgress' })

const FeedLine = z.union([StreamedEvent, FeedProgress, EmittedCloudEvent]).meta({ id: 'FeedLine' })

/** The media types of GET /events, the one for callers without a preference first. */
export const EVENT_MEDIA_TYPES = [
  'application/json',
  'application/x-ndjson',
  'text/event-stream',
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
] as const
export type EventMediaType = (typeof EVENT_MEDIA_TYPES)[number]

const SCOPES_OF_TYPES = [...Map.groupBy(Object.entries(PUBLIC_EVENTS), ([, { scope }]) => scope)]
  .map(([scope, types]) => `${scope}: ${types.map(([type]) => type).join(', ')}.`)
  .join(' ')

export const streamEvents = operation('streamEvents', 'GET /events', {
  service: 'gateway',
  tag: 'Events',
  summary: 'Read public events, optionally from a position on',
  description: `A page (application/json), or a stream as newline-delimited JSON (application/x-ndjson) or server-sent events (text/event-stream), as the Accept header prefers; application/json without a preference. Events are in the order in which each service recorded them. A stream ends after the last event, or stays open for new events with follow=true and always as server-sent events.

With format=cloudevents the events are CloudEvents 1.0 events. They are too with the media types of CloudEvents: ${CLOUDEVENTS_BATCH} is a page as a batch, with the position after it in the header Event-Position; ${CLOUDEVENTS_JSON} is a stream with one event per line.

Every event has a position. To continue after an interruption, pass the last position as \`after\`, or as Last-Event-ID. Positions follow the event log: they stay valid when the message bus is lost and built again, and each event of the log is then still read exactly once. When the log is replaced by a backup, they are refused with 409: read from a time, or from the beginning. A stream whose filters have let nothing pass for a while sends its position alone: as a line that has only \`position\`, or as a server-sent event that has only an id. A follower that does not read for 30 seconds is disconnected.

Filters can be combined. They apply to the events that the caller may read; events of a type whose scope the caller lacks are left out. A position of one reader is valid for every other reader. If events after the given position have been removed because of their age, the request is refused with 410, and \`oldestPosition\` is the first position that is accepted. The number of requests that read past events at the same time is limited. A further one waits until another one has read them all; after 10 seconds it is answered with 503 and Retry-After. The scopes: ${SCOPES_OF_TYPES}`,
  scope: 'AUDIT_LOG_READ',
  query: z.object({
    after: z.string().max(4_000).optional().meta({
      description: 'Position, exclusive. If absent: from the oldest event, or from the time `from`',
    }),
    follow: z
      .enum(['true', 'false'])
      .transform(value => value === 'true')
      .optional()
      .meta({
        description:
          'Whether a stream stays open for new events. Default: true for text/event-stream, which has no other value; false otherwise. A page cannot follow',
        override: { type: 'boolean', enum: undefined },
      }),
    format: z.enum(['cloudevents']).optional().meta({
      description: 'cloudevents: events as CloudEvents 1.0, in any media type. Default: StreamedEvent',
    }),
    size: integer(1, 1_000, 100, `Events on a page; only for application/json and ${CLOUDEVENTS_BATCH}`),
    type: listOf(100, 'Event type; repeated or comma-separated for several types'),
    api: Uuid.optional().meta({ description: 'Id of the API that the event concerns' }),
    webhook: Uuid.optional().meta({ description: 'Id of the webhook that the event concerns' }),
    user: Uuid.optional().meta({ description: 'Id of the user that caused the event or was changed by it' }),
    from: writtenTime(
      'Earliest time of the event, inclusive; not in the future. Reading begins close to it, not at the oldest event',
    ),
    to: writtenTime('Latest time of the event, exclusive'),
  }),
  responses: {
    200: {
      description:
        'One page, one StreamedEvent per line, or one per server-sent event as its data; FeedProgress as a line when no event has matched for a while',
      headers: { 'Event-Position': 'The position after a page' },
      alternatives: {
        'application/json': EventPage,
        'application/x-ndjson': FeedLine,
        'text/event-stream': FeedEvent,
        [CLOUDEVENTS_BATCH]: z.array(EmittedCloudEvent),
        [CLOUDEVENTS_JSON]: EmittedCloudEvent,
      } satisfies Record<EventMediaType, z.ZodType>,
    },
  },
  problems: [
    'unknown-event-types',
    'position-ahead',
    'log-replaced',
    'not-acceptable',
    'position-gone',
    'too-many-replays',
    'events-incomplete',
  ],
})
