import type { z } from 'zod'
import {
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
  EmittedCloudEvent,
  toCloudEvent,
} from '../events/cloud-events.ts'
import { jsonSchemaOf } from '../events/event-schemas.ts'
import { CloudEvent, publishEvent, StreamedEvent, streamEvents } from '../events/events.ts'
import {
  EVENT_TYPES,
  PUBLIC_EVENTS,
  PublicEvent,
  type PublicEventType,
  readScopesOf,
  versionsOf,
} from '../events/public-events.ts'
import { DeploymentReport, EVENT_SERVICES, subjects } from '../events/subjects.ts'
import { WebhookHeaders, WebhookPayload, webhookExample } from '../events/webhook-payload.ts'
import { type AsyncApiSchemas, asyncApiSchemas } from './asyncapi-schemas.ts'

const DESCRIPTION = `The events of Gantry, for programs that receive them: over HTTP, as webhooks and on NATS.

Every change is recorded as an event with a unique id. A receiver may get an event more than once, and processes each id
once. \`data\` may get further optional members in a later release: ignore unknown members. A type may also get a new
version, whose schema has an address of its own (\`GET /events/schemas\`).

The same event exists in these forms: as Gantry's own (\`PublicEvent\`, with a position in \`GET /events\`), as the payload of
a webhook, and as a CloudEvents 1.0 event.`

export interface AsyncApiOptions {
  /** The address of the service for its clients, if it is known. */
  publicUrl?: string | undefined
  /** Empty, or a path such as /gantry. */
  basePath: string
  /** Version of the product. */
  version: string
}

/** All events and channels as an AsyncAPI 3.0 document, from the point of view of the service: it sends events. */
export function asyncApiDocument({ publicUrl, basePath, version }: AsyncApiOptions): object {
  const schemas = asyncApiSchemas()
  const messages = messagesOf(schemas, publicUrl)
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Gantry events',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: serversOf(publicUrl, basePath),
    channels: channelsOf(messages),
    operations: OPERATIONS,
    components: {
      messages: Object.fromEntries(Object.values(messages).flatMap(Object.entries)),
      schemas: schemas.all(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A login token, a personal access token or a JWT of the platform',
        },
        natsUser: { type: 'userPassword', description: 'A user of the NATS server' },
      },
    },
  }
}

const ref = (path: string) => ({ $ref: `#/${path}` })
const schemaRef = (name: string) => ref(`components/schemas/${name}`)

function serversOf(publicUrl: string | undefined, basePath: string): object {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl)
  const path = url ? url.pathname.replace(/\/$/, '') : basePath
  return {
    http: {
      host: url?.host ?? '{host}',
      protocol: url?.protocol.replace(':', '') ?? 'https',
      ...(path && { pathname: path }),
      description: 'The REST interface',
      security: [ref('components/securitySchemes/bearer')],
      ...(!url && { variables: { host: { default: 'localhost:8080', description: 'Host and port' } } }),
    },
    receiver: {
      host: '{host}',
      protocol: 'https',
      description: 'The endpoint of a webhook: the host of its url',
      variables: { host: { default: 'example.com', description: 'Host of the url of the webhook' } },
    },
    nats: {
      host: '{host}',
      protocol: 'nats',
      description: 'NATS JetStream, in installations with a server of it',
      security: [ref('components/securitySchemes/natsUser')],
      variables: { host: { default: 'localhost:4222', description: 'Host and port' } },
    },
  }
}

type Messages = Record<string, object>
interface MessageFamilies {
  feed: Messages
  cloudEvents: Messages
  webhooks: Messages
  bus: Messages
  received: typeof RECEIVED
}

/** Event types that are on the bus and in the feed. A test delivery is only sent to its webhook. */
const PUBLISHED = (Object.keys(PUBLIC_EVENTS) as PublicEventType[]).filter(type => type !== 'TEST')
const DELIVERED = Object.keys(EVENT_TYPES) as PublicEventType[]
const ALL_TYPES = Object.keys(PUBLIC_EVENTS) as PublicEventType[]

function channelsOf({ feed, cloudEvents, webhooks, bus, received }: MessageFamilies): object {
  const of = (...families: Messages[]) =>
    Object.fromEntries(families.flatMap(Object.keys).map(name => [name, ref(`components/messages/${name}`)]))
  const asCloudEvents = (types: readonly PublicEventType[]) =>
    Object.fromEntries(types.map(type => [`${type}.cloudevent`, cloudEvents[`${type}.cloudevent`] ?? {}]))
  return {
    feed: {
      address: streamEvents.path,
      title: 'Event feed',
      description: `${streamEvents.summary}: GET. Needs the scope ${streamEvents.scope}, and the scope of each event type; other events are left out. The Accept header chooses server-sent events, newline-delimited JSON, or a page; ${CLOUDEVENTS_JSON}, ${CLOUDEVENTS_BATCH} and format=cloudevents give CloudEvents.`,
      servers: [ref('servers/http')],
      messages: of(feed, asCloudEvents(PUBLISHED)),
    },
    webhook: {
      address: null,
      title: 'Webhooks',
      description: `Signed POST requests to the url of a webhook (POST /webhooks). Its format chooses the payload: STANDARD, or CloudEvents as ${CLOUDEVENTS_JSON} or, as a batch of one, ${CLOUDEVENTS_BATCH}. The receiver answers 2xx; other answers are retried.`,
      servers: [ref('servers/receiver')],
      messages: of(webhooks, asCloudEvents(DELIVERED)),
    },
    bus: {
      address: subjects.events('{service}', '{type}'),
      title: 'Subjects of NATS JetStream',
      description:
        'Durable, in the stream GANTRY, in the order of the log of each service. Published at least once: JetStream drops a repetition within its window by Nats-Msg-Id, and a consumer drops later ones by id.',
      parameters: {
        service: {
          enum: [...EVENT_SERVICES],
          description: 'The service that recorded the event; platform for events of other systems',
        },
        type: { enum: PUBLISHED, description: 'The event type' },
      },
      servers: [ref('servers/nats')],
      messages: of(bus),
    },
    publish: {
      address: publishEvent.path,
      title: 'Publication over HTTP',
      description: `${publishEvent.summary}: POST. Needs the scope ${publishEvent.scope}.`,
      servers: [ref('servers/http')],
      messages: of({ PlatformEvent: received.PlatformEvent }),
    },
    platformEvents: {
      address: subjects.platformEvents,
      title: 'Publication on NATS',
      description: 'Events of the platform, as CloudEvents.',
      servers: [ref('servers/nats')],
      messages: of({ PlatformEvent: received.PlatformEvent }),
    },
    deploymentReports: {
      address: subjects.deploymentReported,
      title: 'Deployment reports',
      description: 'Reports of deployment agents on the jobs of DEPLOYMENT_REQUESTED.',
      servers: [ref('servers/nats')],
      messages: of({ DeploymentReport: received.DeploymentReport }),
    },
  }
}

const sends = (channel: string, summary: string, more: object = {}) => ({
  action: 'send',
  channel: ref(`channels/${channel}`),
  summary,
  ...more,
})
const receives = (channel: string, summary: string, more: object = {}) => ({
  ...sends(channel, summary, more),
  action: 'receive',
})
const http = (method: string, query?: z.ZodType) => ({
  bindings: {
    http: { method, ...(query && { query: jsonSchemaOf(query, 'draft-7') }), bindingVersion: '0.3.0' },
  },
})

const OPERATIONS = {
  streamEvents: sends('feed', 'Answer a request for events', http('GET', streamEvents.query)),
  deliverEvent: sends('webhook', 'Deliver an event to a webhook', http('POST')),
  publishOnBus: sends('bus', 'Publish an event on NATS'),
  receivePublishedEvent: receives('publish', 'Accept an event of the platform over HTTP', http('POST')),
  receivePlatformEvent: receives('platformEvents', 'Accept an event of the platform on NATS'),
  receiveDeploymentReport: receives('deploymentReports', 'Accept the report of a deployment agent'),
}

/** The messages by family and name. The name is the event type with the form, e.g. `API_CREATED.webhook`. */
function messagesOf(schemas: AsyncApiSchemas, publicUrl: string | undefined): MessageFamilies {
  schemas.add('PublicEvent', PublicEvent)
  schemas.add('StreamedEvent', StreamedEvent)
  schemas.add('EmittedCloudEvent', EmittedCloudEvent)
  schemas.add('CloudEvent', CloudEvent)
  schemas.add('DeploymentReport', DeploymentReport)
  schemas.add('WebhookPayload', WebhookPayload)
  schemas.add('WebhookHeaders', WebhookHeaders)
  schemas.addJson('BusHeaders', BUS_HEADERS)
  for (const type of ALL_TYPES)
    for (const [index, { data }] of versionsOf(type).entries()) schemas.add(dataName(type, index + 1), data)

  const family = (types: readonly PublicEventType[], form: Form): Messages =>
    Object.fromEntries(types.map(type => [`${type}.${form.name}`, messageOf(type, form)]))
  return {
    feed: family(PUBLISHED, {
      name: 'feed',
      envelope: 'StreamedEvent',
      contentType: 'application/json',
      example: streamedExample,
    }),
    cloudEvents: family(ALL_TYPES, {
      name: 'cloudevent',
      envelope: 'EmittedCloudEvent',
      contentType: CLOUDEVENTS_JSON,
      example: type => toCloudEvent(publicExample(type), publicUrl),
    }),
    webhooks: family(DELIVERED, {
      name: 'webhook',
      envelope: 'WebhookPayload',
      contentType: 'application/json',
      headers: 'WebhookHeaders',
      example: webhookExample,
    }),
    bus: family(PUBLISHED, {
      name: 'bus',
      envelope: 'PublicEvent',
      contentType: 'application/json',
      headers: 'BusHeaders',
      example: publicExample,
    }),
    received: RECEIVED,
  }
}

interface Form {
  name: string
  /** Schema of all events in this form. */
  envelope: string
  contentType: string
  /** Schema of the headers. */
  headers?: string
  example(type: PublicEventType): object
}

const dataName = (type: PublicEventType, version: number) => `${type}.v${version}`

function messageOf(type: PublicEventType, { name, envelope, contentType, headers, example }: Form): object {
  const versions = versionsOf(type).map((_, index) => schemaRef(dataName(type, index + 1)))
  return {
    name: `${type}.${name}`,
    title: type,
    summary: PUBLIC_EVENTS[type].description,
    contentType,
    ...(headers && { headers: schemaRef(headers) }),
    payload: {
      allOf: [
        schemaRef(envelope),
        {
          type: 'object',
          properties: {
            type: { const: type },
            data: versions.length === 1 ? versions[0] : { anyOf: versions },
          },
        },
      ],
    },
    examples: [{ payload: example(type) }],
    'x-required-scope': readScopesOf(type).join(' '),
  }
}

const SOURCES: readonly [RegExp, string][] = [
  [/^(SUBSCRIPTION|APPROVAL|CONFIGURATION|PRODUCT)_/, 'platform'],
  [/^(WEBHOOK|RECOVERY|DELIVERY)_|^TEST$/, 'notifier'],
  [/^USER_/, 'identity'],
  [/^API_IMAGE_/, 'media'],
]

const publicExample = (type: PublicEventType): PublicEvent => {
  const { id, timestamp: time, data } = webhookExample(type)
  const source = SOURCES.find(([types]) => types.test(type))?.[1] ?? 'catalog'
  return {
    id,
    type,
    source: source === 'platform' ? '/subscriptions' : source,
    subject: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
    revision: 7,
    time,
    data: data as Record<string, unknown>,
    actor: { id: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', name: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55' },
    requestId: '6a1b0f0e-54a7-4a0f-9c86-3d0f3f2b7c11',
  }
}

const streamedExample = (type: PublicEventType) => ({
  ...publicExample(type),
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  position: 'WzEsNDcxMV0',
})

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })

const BUS_HEADERS = {
  type: 'object',
  properties: {
    'Nats-Msg-Id': text('Id of the event', { format: 'uuid' }),
    'log-position': text('Position of the event in the log, which grows within a service'),
    'log-identity': text(
      'Identity of the log, another one after the restore of a backup: positions of different logs cannot be compared',
      { format: 'uuid' },
    ),
    traceparent: text('W3C trace context of the request that caused the event'),
  },
}

const RECEIVED = {
  PlatformEvent: {
    name: 'PlatformEvent',
    title: 'Event of the platform',
    summary: 'A CloudEvents 1.0 event in structured mode, with an event type of the platform',
    contentType: CLOUDEVENTS_JSON,
    payload: schemaRef('CloudEvent'),
    examples: [{ payload: publishEvent.bodyExample }],
  },
  DeploymentReport: {
    name: 'DeploymentReport',
    title: 'Deployment report',
    summary: 'The outcome of a deployment job',
    contentType: 'application/json',
    payload: schemaRef('DeploymentReport'),
    examples: [
      {
        payload: {
          job: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
          api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
          environment: 'c0ffee00-1f7a-4d8e-9a35-0d8a3d3c7b10',
          outcome: 'SUCCEEDED',
        },
      },
    ],
  },
}
