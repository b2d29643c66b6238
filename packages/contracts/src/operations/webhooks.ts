import { z } from 'zod'
import { operation } from './operation.ts'
import {
  flag,
  Instant,
  label,
  listOf,
  optional,
  pageOf,
  paging,
  pastTime,
  secretWithheld,
  Timestamp,
  text,
  Uuid,
} from './primitives.ts'
import { Scope } from './scopes.ts'

/**
 * Pauses between the attempts of a delivery, as the default of WEBHOOK_RETRY_SCHEDULE: Standard Webhooks, "Deliverability and
 * reliability", then daily until the tenth day.
 */
export const RETRY_SCHEDULE = '5s,5m,30m,2h,5h,10h,14h,20h,24h,24h,24h,24h,24h,24h,24h'

/**
 * The circuit breaker of a webhook: consecutive failures that open it, and its first and longest pause. Each failed probe
 * doubles the pause.
 */
export const CIRCUIT = { failures: 10, firstPauseMs: 1_000, longestPauseMs: 60_000 } as const

/** A webhook is disabled after this time without a success, in milliseconds, if so many deliveries have failed. */
export const DISABLED_AFTER = { ms: 5 * 86_400_000, deliveries: 20 } as const

const HOURS: Readonly<Record<string, number>> = { s: 1 / 3_600, m: 1 / 60, h: 1 }
const pauses = RETRY_SCHEDULE.split(',')
const shorter = pauses.filter(pause => pause !== pauses.at(-1))
const hours = pauses.reduce(
  (sum, pause) => sum + Number.parseInt(pause, 10) * (HOURS[pause.slice(-1)] ?? 0),
  0,
)

/** What follows a failed attempt, for the documentation. */
export const RETRIES = `After a failed attempt a delivery is RETRYING. The next attempts follow after ${shorter.join(', ')} and ${pauses.length - shorter.length} times ${pauses.at(-1)}, each pause up to a fifth shorter or longer: ${pauses.length + 1} attempts in about ${Math.round(hours / 24)} days. The setting WEBHOOK_RETRY_SCHEDULE changes these pauses. \`Retry-After\` of a 429 or 503 makes a pause longer, up to 24h. After the last attempt the delivery is GIVE_UP. An answer of 410 makes it GIVE_UP at once, and disables the webhook.

After ${CIRCUIT.failures} failures in a row the circuit of a webhook opens: no attempt is made for ${CIRCUIT.firstPauseMs / 1_000}s, then one attempt decides. Each further failure doubles the pause, up to ${CIRCUIT.longestPauseMs / 1_000}s. Deliveries that wait for it use up no attempts. Tests and retries by hand are sent regardless. While a webhook is inactive, its pending deliveries wait, except tests.`

const url = text(2048, 1)
  .refine(
    value => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined
      return (
        parsed !== undefined &&
        ['http:', 'https:'].includes(parsed.protocol) &&
        !parsed.username &&
        !parsed.password
      )
    },
    { error: 'must be an http or https URL without credentials' },
  )
  .meta({
    description:
      'http or https, without credentials. A host that is an IP address must be public or in WEBHOOK_ALLOWED_CIDRS; so must the loopback addresses for localhost. Another host name is resolved and checked at each attempt',
  })

/** Names of event types. The notifier checks that they exist, so that the refusal can list the unknown ones. */
const eventTypes = z
  .array(z.string().max(100))
  .min(1)
  .max(100)
  .transform(types => [...new Set(types)])

const ORDERED = 'Whether the events of a resource are delivered one after another.'

export const WEBHOOK_FORMATS = ['STANDARD', 'CLOUDEVENTS_STRUCTURED', 'CLOUDEVENTS_BATCHED'] as const
/** How a webhook gets an event as the body of a request. */
export const WebhookFormat = z.enum(WEBHOOK_FORMATS).meta({ id: 'WebhookFormat' })
export type WebhookFormat = z.infer<typeof WebhookFormat>

const FORMAT =
  'The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event.'

export const WebhookInput = z
  .object({
    name: optional(label(255)).meta({ description: 'Default: a slug of displayName' }),
    displayName: label(255),
    url,
    active: z.boolean(),
    eventTypes,
    ordered: optional(z.boolean()).meta({ description: `${ORDERED} Default: false` }),
    format: optional(WebhookFormat).meta({ description: `${FORMAT} Default: STANDARD` }),
  })
  .meta({ id: 'WebhookInput' })
export type WebhookInput = z.infer<typeof WebhookInput>

export const WebhookUpdate = z
  .object({
    name: optional(label(255)).meta({ description: 'Unchanged when absent' }),
    displayName: label(255),
    url,
    active: z.boolean().nullish().meta({ description: 'Unchanged when absent' }),
    events: eventTypes.nullish(),
    eventTypes: eventTypes.nullish().meta({ description: 'Alias of events' }),
    ordered: z
      .boolean()
      .nullish()
      .meta({ description: `${ORDERED} Unchanged when absent` }),
    format: WebhookFormat.nullish().meta({
      description: `${FORMAT} Applies to deliveries that are created later. Unchanged when absent`,
    }),
    owner: Uuid.nullish().meta({
      description:
        'Id of an active user. Only administrators may change it, to transfer the webhook. Unchanged when absent',
    }),
  })
  .refine(input => input.events ?? input.eventTypes, { path: ['events'], error: 'is required' })
  .meta({ id: 'WebhookUpdate' })
export type WebhookUpdate = z.infer<typeof WebhookUpdate>

/** A webhook as events, the audit log and earlier states have it. */
const ShownUrl = z.string().meta({
  description:
    'Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log',
})

export const RecordedWebhook = z
  .object({
    id: z.uuid(),
    name: z.string(),
    displayName: z.string(),
    url: ShownUrl,
    active: z.boolean(),
    eventTypes: z.array(z.string()),
    ordered: z.boolean().meta({
      description: `${ORDERED} A delivery waits until the previous one has a final status`,
    }),
    format: WebhookFormat.meta({ description: FORMAT }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    disabledReason: z
      .string()
      .nullable()
      .meta({
        description: `Why the service disabled the webhook: owner-lacks-scope if the owner was deleted, is inactive, or has a role without the scope of an event type; otherwise a text: the endpoint answered 410, or in ${DISABLED_AFTER.ms / 86_400_000} days no delivery succeeded and at least ${DISABLED_AFTER.deliveries} failed`,
      }),
    owner: z
      .uuid()
      .nullable()
      .meta({ description: 'Id of the user who created it, or to whom an administrator has transferred it' }),
  })
  .meta({ id: 'RecordedWebhook' })
export type RecordedWebhook = z.infer<typeof RecordedWebhook>

export const WebhookHealth = z
  .object({
    attempts: z.int().meta({
      description:
        'How many attempts the figures cover: the latest 100 to the current url, from the 50 deliveries that were attempted last. Attempts that failed by a fault of the service do not count, except resolver-failed',
    }),
    successRate: z.number().min(0).max(1).nullable().meta({ description: 'Null without an attempt' }),
    p95LatencyMs: z.number().nullable().meta({
      description: '95 % of the attempts took at most this time, in milliseconds; null without an attempt',
    }),
    consecutiveFailures: z.int().meta({ description: 'Failed attempts since the last success' }),
    failingSince: Timestamp.nullable().meta({
      description: 'Time of the first of them, as far as known; null if the last attempt has succeeded',
    }),
    circuit: z.enum(['CLOSED', 'OPEN', 'HALF_OPEN']).meta({
      id: 'CircuitState',
      description: `OPEN: after ${CIRCUIT.failures} failures in a row no attempts are made until pausedUntil. HALF_OPEN: the next attempt decides. As it follows from the attempts; a restarted service begins with CLOSED`,
    }),
    pausedUntil: Timestamp.nullable().meta({
      description:
        'End of the pause that begins when the circuit opens, also if it has passed: until then only attempts that a user requests are made. Null while CLOSED',
    }),
  })
  .meta({ id: 'WebhookHealth' })
export type WebhookHealth = z.infer<typeof WebhookHealth>

export const WebhookRecord = RecordedWebhook.extend({
  health: WebhookHealth.nullable().meta({
    description:
      'Null for an earlier time (`at`), and in the response to a change if it cannot be read at the moment',
  }),
  oldSecretValidUntil: Timestamp.nullable().meta({
    description:
      'After a rotation: until when deliveries also have a signature of an old secret; null if they have none, and for an earlier time (`at`)',
  }),
}).meta({ id: 'Webhook' })
export type WebhookRecord = z.infer<typeof WebhookRecord>

const secret = z
  .string()
  .nullable()
  .meta({ description: 'Standard Webhooks signing secret. Shown only in this response', example: 'whsec_…' })
export const NewWebhook = WebhookRecord.extend({ secret, secretWithheld }).meta({ id: 'NewWebhook' })

export const DELIVERY_STATUSES = ['CREATED', 'SUCCESS', 'RETRYING', 'GIVE_UP', 'CANCELLED'] as const
export const DeliveryStatus = z.enum(DELIVERY_STATUSES).meta({
  id: 'DeliveryStatus',
  description:
    'CREATED: no attempt has ended yet. RETRYING: an attempt failed, or a user requested a retry, and an attempt follows. SUCCESS: the endpoint answered 2xx. GIVE_UP: no attempt follows, because the last one of the schedule or the only one of a test failed, or the endpoint answered 410. CANCELLED: no attempt follows, because a user cancelled the delivery or the webhook was deleted',
})
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

const Headers = z.record(z.string(), z.string())

export const Attempt = z
  .object({
    number: z.int(),
    trigger: z.enum(['AUTOMATIC', 'MANUAL', 'RECOVERY', 'TEST']).meta({ id: 'AttemptTrigger' }),
    url: ShownUrl,
    startedAt: Timestamp,
    durationMs: z.number().nullable(),
    responseStatus: z.int().nullable(),
    responseBody: z.string().nullable().meta({
      description:
        'The beginning of the body, decompressed; at most 4 KiB of UTF-8. Null for a caller who may not read the payload, because the endpoint may repeat it',
    }),
    requestHeaders: Headers.nullable().meta({
      description: 'The headers that the service has set; signatures are masked. Null if none were sent',
    }),
    responseHeaders: Headers.nullable().meta({
      description:
        'The headers of the response, by names in lower case; at most 2 KiB, long values truncated. Values of headers that carry credentials are masked, and URLs end before their query. Null without a response, and for a caller who may not read the payload',
    }),
    error: z.string().nullable().meta({ description: 'Stable code, kebab-case; null after success' }),
    fault: z.enum(['RECEIVER', 'SERVICE']).meta({ id: 'FaultSide' }).nullable().meta({
      description:
        'Whose fault the error is. A fault of the service does not count against the webhook, and never disables it',
    }),
  })
  .meta({ id: 'Attempt' })
export type Attempt = z.infer<typeof Attempt>

export const DeliveryRecord = z
  .object({
    id: z.uuid(),
    webhook: z.uuid(),
    url: ShownUrl,
    eventId: z.uuid(),
    eventType: z.string(),
    api: z.uuid().nullable().meta({
      description: 'The API that the data of the event name; null for a caller who may not read the payload',
    }),
    traceId: z.string().nullable().meta({
      description:
        'W3C trace id of the request that caused the event, or of the work of the service itself; null if there is none',
    }),
    status: DeliveryStatus,
    payload: z
      .union([z.record(z.string(), z.unknown()), z.array(z.record(z.string(), z.unknown()))])
      .nullable()
      .meta({
        description:
          'The body of the request to the endpoint, in the format that the webhook had when the delivery was created: an object, or for CLOUDEVENTS_BATCHED an array of one. Null for a caller without the scope of the event type, as is each responseBody',
      }),
    attempts: z.int().meta({ description: 'Attempts so far' }),
    createdAt: Timestamp,
    lastAttemptAt: Timestamp.nullable(),
    nextAttemptAt: Timestamp.nullable().meta({
      description:
        'Time of the next attempt. Null if none is planned, during an attempt, and while the webhook is inactive',
    }),
    waitsFor: z
      .uuid()
      .nullable()
      .meta({ description: 'For an ordered webhook: the previous delivery, until it has a final status' }),
    responseStatus: z.int().nullable(),
    failureMessage: z.string().nullable().meta({
      description:
        'The error code and a description of the cause; only the code for a caller who may not read the payload',
    }),
    attemptLog: z.array(Attempt),
  })
  .meta({
    id: 'Delivery',
    example: {
      id: '3d9f2b1a-6c5e-4f7d-8a9b-0c1d2e3f4a5b',
      webhook: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d',
      url: 'https://example.com/hook',
      eventId: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
      eventType: 'API_DEPLOYED',
      api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      status: 'RETRYING',
      payload: null,
      attempts: 1,
      createdAt: '2026-11-21T09:30:00.000Z',
      lastAttemptAt: '2026-11-21T09:30:00.100Z',
      nextAttemptAt: '2026-11-21T09:30:10.100Z',
      waitsFor: null,
      responseStatus: 503,
      failureMessage: 'http-status: answered 503',
      attemptLog: [],
    },
  })
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

const part = { service: 'notifier', tag: 'Webhooks' } as const
const NEEDS_SCOPES = 'The caller needs the scope of each event type of the webhook.'
const NEEDS_SCOPES_OF_EVENT =
  'The caller needs the scope of each event type of the webhook, and that of the event of the delivery.'
const deliveries = { service: 'notifier', tag: 'Deliveries' } as const
export const WebhookPath = z.object({ webhook_id: Uuid })
const RequestPath = z.object({ request_id: Uuid })
const sortable = ['createdAt', 'status', 'eventType', 'lastAttemptAt', 'nextAttemptAt'] as const
const DeliveryPage = pageOf(DeliveryRecord, 'DeliveryPage')

const deliveryQuery = z.object({
  ...paging(sortable, 'createdAt,desc'),
  status: DeliveryStatus.optional(),
  eventType: text(100, 1)
    .optional()
    .meta({ description: 'Deliveries of events of this type; TEST for tests' }),
  eventId: Uuid.optional().meta({ description: 'Deliveries of this event' }),
  api: listOf(
    100,
    'Deliveries of events whose data name one of these APIs; only of event types whose scope the caller has. Repeated or comma-separated',
    Uuid,
  ),
  from: Instant.optional().meta({ description: 'Earliest time of creation, inclusive' }),
  to: Instant.optional().meta({ description: 'Latest time of creation, exclusive' }),
  lastAttemptFrom: Instant.optional().meta({
    description: 'Earliest time of the last attempt, inclusive: a daily job finds what has failed since',
  }),
  lastAttemptTo: Instant.optional().meta({ description: 'Latest time of the last attempt, exclusive' }),
})

const example = {
  displayName: 'Deployments',
  url: 'https://example.com/hook',
  active: true,
  eventTypes: ['API_DEPLOYED'],
}
const record = {
  id: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d',
  name: 'deployments',
  ...example,
  ordered: false,
  format: 'STANDARD',
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  disabledReason: null,
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
  health: {
    attempts: 100,
    successRate: 0.99,
    p95LatencyMs: 84.2,
    consecutiveFailures: 0,
    failingSince: null,
    circuit: 'CLOSED',
    pausedUntil: null,
  },
  oldSecretValidUntil: null,
}
const secretExample = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }

export const listWebhooks = operation('listWebhooks', 'GET /webhooks', {
  ...part,
  summary: 'List webhooks',
  description: 'Those of all owners, whoever the caller is.',
  scope: 'WEBHOOKS_READ',
  query: z.object({
    ...paging(['name', 'displayName', 'active', 'createdAt', 'updatedAt'], 'name,asc'),
    at: pastTime,
  }),
  responses: { 200: { description: 'A page of webhooks', schema: pageOf(WebhookRecord, 'WebhookPage') } },
})

export const createWebhook = operation('createWebhook', 'POST /webhooks', {
  ...part,
  summary: 'Create a webhook',
  description:
    'The caller needs the scope of each of its event types; the list of event types names the scopes. To try it with a receiver on the same machine, start the service with the setting WEBHOOK_ALLOWED_CIDRS=127.0.0.0/8,::1/128.',
  scope: 'WEBHOOKS_WRITE',
  body: WebhookInput,
  bodyExample: example,
  responses: {
    201: {
      description: 'The new webhook with its signing secret',
      schema: NewWebhook,
      headers: { Location: 'Path of the webhook' },
      example: { ...record, ...secretExample },
    },
  },
  problems: ['unknown-event-types', 'too-many-webhooks'],
  idempotent: true,
  secretFields: ['secret'],
  conditional: true,
})

export const getWebhook = operation('getWebhook', 'GET /webhooks/{webhook_id}', {
  ...part,
  summary: 'Get a webhook',
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  query: z.object({ at: pastTime }),
  responses: { 200: { description: 'The webhook', schema: WebhookRecord, example: record } },
  problems: ['webhook-not-found'],
  conditional: true,
})

export const updateWebhook = operation('updateWebhook', 'PUT /webhooks/{webhook_id}', {
  ...part,
  summary: 'Replace a webhook',
  description:
    'The next attempt of each delivery uses the new url. Setting active to true clears disabledReason. The caller needs the scopes of all event types of the webhook, before and after the change. For a new url the caller also needs the scopes of the event types of all pending deliveries. The change is refused if the webhook would be active and the role of its owner lacks the scope of one of its event types.',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  body: WebhookUpdate,
  bodyExample: {
    name: 'deployments',
    displayName: 'Deployments',
    url: 'https://example.com/hook',
    events: ['API_DEPLOYED'],
  },
  responses: { 200: { description: 'The webhook', schema: WebhookRecord, example: record } },
  problems: [
    'webhook-not-found',
    'unknown-event-types',
    'role-missing',
    'too-many-webhooks',
    'owner-lacks-scope',
    'precondition-failed',
  ],
  conditional: true,
})

export const deleteWebhook = operation('deleteWebhook', 'DELETE /webhooks/{webhook_id}', {
  ...part,
  summary: 'Delete a webhook and cancel its pending deliveries',
  description: NEEDS_SCOPES,
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  responses: { 204: { description: 'Deleted' } },
  problems: ['webhook-not-found', 'precondition-failed'],
  conditional: true,
})

export const rotateWebhookSecret = operation(
  'rotateWebhookSecret',
  'POST /webhooks/{webhook_id}/rotateSecret',
  {
    ...part,
    summary: 'Rotate the signing secret',
    description: `For 24 hours deliveries carry signatures of both the old and the new secret. ${NEEDS_SCOPES}`,
    scope: 'WEBHOOKS_WRITE',
    params: WebhookPath,
    responses: {
      200: {
        description: 'The webhook with its new secret',
        schema: NewWebhook,
        example: { ...record, ...secretExample },
      },
    },
    problems: ['webhook-not-found'],
    idempotent: true,
    secretFields: ['secret'],
  },
)

export const RecoveryInput = z
  .object({
    from: Instant.meta({
      description: 'Start of the time range; at most as long ago as deliveries are kept',
    }),
    to: Instant.nullish().meta({ description: 'End of the time range, in the past. Default: now' }),
  })
  .meta({ id: 'RecoveryInput' })
export type RecoveryInput = z.infer<typeof RecoveryInput>

export const RecoveryRecord = z
  .object({
    id: z.uuid(),
    webhook: z.uuid(),
    from: Timestamp,
    to: Timestamp,
    status: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED']).meta({ id: 'RecoveryStatus' }),
    progress: z.number().min(0).max(1).meta({ description: 'Examined share of `total`, from 0 to 1' }),
    total: z.int().nullable().meta({
      description: 'Events in the range that the webhook subscribes to; null until they are counted',
    }),
    examined: z.int().meta({ description: 'Those of them that the recovery has handled so far' }),
    recovered: z.int().meta({ description: 'Handled events that had not arrived and are now delivered' }),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Recovery' })
export type RecoveryRecord = z.infer<typeof RecoveryRecord>

export const RecoveryPlan = z
  .object({
    examined: z.int().meta({ description: 'Events in the range that the webhook subscribes to' }),
    toSend: z.int().meta({ description: 'Those of them that a recovery would deliver' }),
  })
  .meta({ id: 'RecoveryPlan' })
export type RecoveryPlan = z.infer<typeof RecoveryPlan>

const RecoveryPath = z.object({ webhook_id: Uuid, recovery_id: Uuid })
const recovery = {
  id: '3c9e1b7a-5d2f-4e80-9a61-7b0c4d8e2f15',
  webhook: record.id,
  from: '2026-11-20T09:30:00.000Z',
  to: '2026-11-21T09:30:00.000Z',
  status: 'RUNNING',
  progress: 0.25,
  total: 480,
  examined: 120,
  recovered: 31,
  createdAt: '2026-11-21T09:30:00.000Z',
  finishedAt: null,
}

export const recoverWebhook = operation('recoverWebhook', 'POST /webhooks/{webhook_id}/recover', {
  ...deliveries,
  summary: 'Deliver events that did not arrive',
  description: `Creates deliveries for the events in a time range that the webhook now subscribes to and that have no delivery, because the webhook was inactive or did not exist, and retries deliveries that were given up. Deliveries that have succeeded, are pending or were cancelled stay unchanged. One recovery of a webhook runs at a time. ${NEEDS_SCOPES}`,
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  query: z.object({ dryRun: flag('true: change nothing, and answer with what the recovery would do') }),
  body: RecoveryInput,
  bodyExample: { from: recovery.from, to: recovery.to },
  responses: {
    200: {
      description: 'With dryRun: how many events the recovery would examine and deliver',
      schema: RecoveryPlan,
      example: { examined: 480, toSend: 31 },
    },
    202: {
      description: 'The recovery, which continues in the background',
      schema: RecoveryRecord,
      headers: { Location: 'Path of the recovery' },
      example: { ...recovery, progress: 0, total: null, examined: 0, recovered: 0 },
    },
  },
  problems: ['webhook-not-found', 'webhook-inactive', 'recovery-running'],
  idempotent: true,
})

export const listRecoveries = operation('listRecoveries', 'GET /webhooks/{webhook_id}/recoveries', {
  ...deliveries,
  summary: 'List the recoveries of a webhook',
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  query: z.object(paging(['createdAt', 'status'], 'createdAt,desc')),
  responses: { 200: { description: 'A page of recoveries', schema: pageOf(RecoveryRecord, 'RecoveryPage') } },
  problems: ['webhook-not-found'],
})

export const getRecovery = operation('getRecovery', 'GET /webhooks/{webhook_id}/recoveries/{recovery_id}', {
  ...deliveries,
  summary: 'Get a recovery',
  scope: 'WEBHOOKS_READ',
  params: RecoveryPath,
  responses: { 200: { description: 'The recovery', schema: RecoveryRecord, example: recovery } },
  problems: ['webhook-not-found', 'recovery-not-found'],
})

export const cancelRecovery = operation(
  'cancelRecovery',
  'POST /webhooks/{webhook_id}/recoveries/{recovery_id}/cancel',
  {
    ...deliveries,
    summary: 'Cancel a recovery',
    description: `Deliveries that it has already created or retried are not cancelled. ${NEEDS_SCOPES}`,
    scope: 'WEBHOOKS_WRITE',
    params: RecoveryPath,
    responses: {
      200: {
        description: 'The recovery',
        schema: RecoveryRecord,
        example: { ...recovery, status: 'CANCELLED' },
      },
    },
    problems: ['webhook-not-found', 'recovery-not-found', 'recovery-not-running'],
  },
)

export const EventTypeRecord = z
  .object({
    name: z.string(),
    description: z.string(),
    scope: Scope.meta({ description: 'The scope that a reader of the payload needs' }),
    schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of the payload' }),
    example: z.record(z.string(), z.unknown()).meta({ description: 'An example of a payload' }),
  })
  .meta({
    id: 'EventType',
    example: {
      name: 'TEST',
      description: 'A test delivery was requested',
      scope: 'WEBHOOKS_READ',
      schema: { type: 'object' },
      example: { message: 'A test of this webhook' },
    },
  })

export const listEventTypes = operation('listEventTypes', 'GET /webhooks/eventTypes', {
  ...part,
  summary: 'List the event types that webhooks can subscribe to',
  description: 'Each with the scope that a reader of its payload needs.',
  scope: 'WEBHOOKS_READ',
  responses: { 200: { description: 'All event types', schema: z.array(EventTypeRecord) } },
})

export const testWebhook = operation('testWebhook', 'POST /webhooks/{webhook_id}/test', {
  ...deliveries,
  summary: 'Send a test delivery',
  description: `Makes a single attempt, even if the webhook is inactive. If it fails, the delivery is GIVE_UP at once. Each retry of a test makes a single attempt too. ${NEEDS_SCOPES}`,
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  responses: { 202: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['webhook-not-found'],
})

export const listWebhookDeliveries = operation(
  'listWebhookDeliveries',
  'GET /webhooks/{webhook_id}/requests',
  {
    ...deliveries,
    summary: 'List the deliveries of a webhook',
    scope: 'WEBHOOKS_READ',
    params: WebhookPath,
    query: deliveryQuery,
    responses: { 200: { description: 'A page of deliveries', schema: DeliveryPage } },
    problems: ['webhook-not-found'],
  },
)

export const getDelivery = operation('getDelivery', 'GET /webhooks/{webhook_id}/requests/{request_id}', {
  ...deliveries,
  summary: 'Get a delivery',
  scope: 'WEBHOOKS_READ',
  params: z.object({ webhook_id: Uuid, request_id: Uuid }),
  responses: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['webhook-not-found', 'delivery-not-found'],
})

export const listDeliveries = operation('listDeliveries', 'GET /webhooks/requests', {
  ...deliveries,
  summary: 'List the deliveries of all webhooks, deleted ones included',
  description: 'Those of the webhooks of all owners, whoever the caller is.',
  scope: 'WEBHOOKS_READ',
  query: deliveryQuery.extend({
    webhook: Uuid.optional().meta({ description: 'Deliveries to this webhook' }),
  }),
  responses: { 200: { description: 'A page of deliveries', schema: DeliveryPage } },
})

export const retryDelivery = operation('retryDelivery', 'POST /webhooks/requests/{request_id}/retry', {
  ...deliveries,
  summary: 'Retry a failed delivery now',
  description: `Makes an attempt now, and after a failure starts the schedule of pauses from the beginning, also for a delivery that is RETRYING. CREATED and SUCCESS are refused with \`delivery-not-failed\`. If the webhook is inactive, the delivery is RETRYING without \`nextAttemptAt\`, and is sent when the webhook is active again. If it is deleted, the code is \`webhook-deleted\`. ${NEEDS_SCOPES_OF_EVENT}`,
  scope: 'WEBHOOKS_WRITE',
  params: RequestPath,
  responses: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['delivery-not-found', 'delivery-not-failed', 'webhook-deleted'],
})

export const cancelDelivery = operation('cancelDelivery', 'POST /webhooks/requests/{request_id}/cancel', {
  ...deliveries,
  summary: 'Cancel a pending delivery',
  description: NEEDS_SCOPES_OF_EVENT,
  scope: 'WEBHOOKS_WRITE',
  params: RequestPath,
  responses: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['delivery-not-found', 'delivery-not-pending'],
})
