import { z } from 'zod'
import { operation } from './operation.ts'
import { label, optional, pageOf, paging, secretWithheld, Timestamp, text, Uuid } from './primitives.ts'
import { Scope } from './scopes.ts'

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
      'http or https, without credentials. A host that is a literal IP address has to be public or in WEBHOOK_ALLOWED_CIDRS; a name is looked up at each attempt',
  })

/** Names of event types; which exist is checked by the notifier, so that the refusal can name them. */
const eventTypes = z
  .array(z.string().max(100))
  .min(1)
  .max(100)
  .transform(types => [...new Set(types)])

const ORDERED = 'Whether the events of a resource are delivered one after the other.'

export const WebhookInput = z
  .object({
    name: optional(label(255)).meta({ description: 'A slug of displayName when absent' }),
    displayName: label(255),
    url,
    active: z.boolean(),
    eventTypes,
    ordered: optional(z.boolean()).meta({ description: `${ORDERED} Not when absent` }),
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
    eventTypes: eventTypes.nullish().meta({ description: 'Another name for events' }),
    ordered: z
      .boolean()
      .nullish()
      .meta({ description: `${ORDERED} Unchanged when absent` }),
    owner: Uuid.nullish().meta({
      description:
        'Id of an active user; an administrator transfers the webhook by it. Unchanged when absent',
    }),
  })
  .refine(input => input.events ?? input.eventTypes, { path: ['events'], error: 'is required' })
  .meta({ id: 'WebhookUpdate' })
export type WebhookUpdate = z.infer<typeof WebhookUpdate>

export const WebhookRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    displayName: z.string(),
    url: z.string(),
    active: z.boolean(),
    eventTypes: z.array(z.string()),
    ordered: z.boolean().meta({
      description: `${ORDERED} The next waits until the one before arrived or was given up`,
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    disabledReason: z.string().nullable().meta({
      description:
        'Why the service made it inactive: owner-lacks-scope when the owner is deleted, inactive, or lacks by role the scope of an event type; else in words',
    }),
    owner: z
      .uuid()
      .nullable()
      .meta({ description: 'Id of the user who created it, or to whom an administrator transferred it' }),
  })
  .meta({ id: 'Webhook' })
export type WebhookRecord = z.infer<typeof WebhookRecord>

const secret = z
  .string()
  .nullable()
  .meta({ description: 'Standard Webhooks signing secret; shown this once', example: 'whsec_…' })
export const NewWebhook = WebhookRecord.extend({ secret, secretWithheld }).meta({ id: 'NewWebhook' })

export const DELIVERY_STATUSES = ['CREATED', 'SUCCESS', 'RETRYING', 'GIVE_UP', 'CANCELLED'] as const
export const DeliveryStatus = z.enum(DELIVERY_STATUSES).meta({ id: 'DeliveryStatus' })
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

export const Attempt = z
  .object({
    number: z.int(),
    trigger: z.enum(['AUTOMATIC', 'MANUAL', 'RECOVERY', 'TEST']),
    url: z.string(),
    startedAt: Timestamp,
    durationMs: z.number().nullable(),
    responseStatus: z.int().nullable(),
    responseBody: z.string().nullable().meta({
      description:
        'The beginning, decompressed; at most 4 KiB of UTF-8. Null for a caller who may not see the payload, since an endpoint may repeat it',
    }),
    error: z.string().nullable().meta({ description: 'Stable, kebab-case; null when it succeeded' }),
    fault: z.enum(['RECEIVER', 'SERVICE']).nullable().meta({
      description:
        'Whose the error is. One of this service counts neither against the webhook nor for disabling it',
    }),
  })
  .meta({ id: 'Attempt' })
export type Attempt = z.infer<typeof Attempt>

export const DeliveryRecord = z
  .object({
    id: z.uuid(),
    webhook: z.uuid(),
    url: z.string(),
    eventId: z.uuid(),
    eventType: z.string(),
    status: DeliveryStatus,
    payload: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'What is sent: id, type, timestamp, data. Null for a caller without the scope of the event type, as is each responseBody',
    }),
    attempts: z.int().meta({ description: 'Attempts so far' }),
    createdAt: Timestamp,
    lastAttemptAt: Timestamp.nullable(),
    nextAttemptAt: Timestamp.nullable(),
    waitsFor: z
      .uuid()
      .nullable()
      .meta({ description: 'The delivery before it to an ordered webhook, until that has come to an end' }),
    responseStatus: z.int().nullable(),
    failureMessage: z.string().nullable().meta({
      description:
        'The error and its cause in words; the error alone for a caller who may not see the payload',
    }),
    attemptLog: z.array(Attempt),
  })
  .meta({ id: 'Delivery' })
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

const part = { service: 'notifier', tag: 'Webhooks' } as const
const deliveries = { service: 'notifier', tag: 'Deliveries' } as const
const WebhookPath = z.object({ webhook_id: Uuid })
const RequestPath = z.object({ request_id: Uuid })
const sortable = ['createdAt', 'status', 'eventType', 'lastAttemptAt', 'nextAttemptAt'] as const
const DeliveryPage = pageOf(DeliveryRecord, 'DeliveryPage')

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
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  disabledReason: null,
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
}
const secretExample = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }

export const listWebhooks = operation({
  ...part,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  summary: 'List webhooks',
  scope: 'WEBHOOKS_READ',
  query: z.object(paging(['name', 'displayName', 'active', 'createdAt', 'updatedAt'], 'name,asc')),
  answers: { 200: { description: 'A page of webhooks', schema: pageOf(WebhookRecord, 'WebhookPage') } },
})

export const createWebhook = operation({
  ...part,
  id: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  summary: 'Create a webhook',
  description:
    'A caller without the scope of one of its event types is refused; the list of event types names the scope of each.',
  scope: 'WEBHOOKS_WRITE',
  body: WebhookInput,
  bodyExample: example,
  answers: {
    201: {
      description: 'The new webhook with its signing secret',
      schema: NewWebhook,
      headers: { Location: 'Path of the webhook' },
      example: { ...record, ...secretExample },
    },
  },
  problems: ['unknown-event-types'],
  idempotent: true,
  secretFields: ['secret'],
  conditional: true,
})

export const getWebhook = operation({
  ...part,
  id: 'getWebhook',
  method: 'GET',
  path: '/webhooks/{webhook_id}',
  summary: 'Get a webhook',
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  answers: { 200: { description: 'The webhook', schema: WebhookRecord, example: record } },
  problems: ['webhook-not-found'],
  conditional: true,
})

export const updateWebhook = operation({
  ...part,
  id: 'updateWebhook',
  method: 'PUT',
  path: '/webhooks/{webhook_id}',
  summary: 'Replace a webhook',
  description:
    'An edited url is used by the next attempt. active true takes the disabledReason away. A caller without the scope of an event type that the webhook asks for, before or after, is refused; a new url is also refused while something is pending of a type whose scope the caller lacks. A webhook is not made or left active whose owner may not read one of its event types by role.',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  body: WebhookUpdate,
  bodyExample: {
    name: 'deployments',
    displayName: 'Deployments',
    url: 'https://example.com/hook',
    events: ['API_DEPLOYED'],
  },
  answers: { 200: { description: 'The webhook', schema: WebhookRecord, example: record } },
  problems: [
    'webhook-not-found',
    'unknown-event-types',
    'role-missing',
    'owner-lacks-scope',
    'precondition-failed',
  ],
  conditional: true,
})

export const deleteWebhook = operation({
  ...part,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{webhook_id}',
  summary: 'Delete a webhook and cancel its pending deliveries',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  answers: { 204: { description: 'Deleted' } },
  problems: ['webhook-not-found', 'precondition-failed'],
  conditional: true,
})

export const rotateWebhookSecret = operation({
  ...part,
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{webhook_id}/rotateSecret',
  summary: 'Make a new signing secret',
  description: 'For 24 hours deliveries carry signatures of both the old and the new secret.',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  answers: {
    200: {
      description: 'The webhook with its new secret',
      schema: NewWebhook,
      example: { ...record, ...secretExample },
    },
  },
  problems: ['webhook-not-found'],
  idempotent: true,
  secretFields: ['secret'],
})

const time = z.iso
  .datetime({ offset: true })
  .transform(value => new Date(value).toISOString())
  .meta({ override: { type: 'string', format: 'date-time', pattern: undefined } })

export const RecoveryInput = z
  .object({
    from: time.meta({ description: 'Events from then on; not longer ago than deliveries are kept' }),
    to: time.nullish().meta({ description: 'Events until then, which has passed; now when absent' }),
  })
  .meta({ id: 'RecoveryInput' })
export type RecoveryInput = z.infer<typeof RecoveryInput>

export const RecoveryRecord = z
  .object({
    id: z.uuid(),
    webhook: z.uuid(),
    from: Timestamp,
    to: Timestamp,
    status: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED']),
    progress: z.number().min(0).max(1).meta({ description: 'How much of the events has been gone through' }),
    examined: z.int().meta({ description: 'Events so far that the webhook asks for' }),
    recovered: z.int().meta({ description: 'Those of them that had not arrived and are delivered now' }),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Recovery' })
export type RecoveryRecord = z.infer<typeof RecoveryRecord>

const RecoveryPath = z.object({ webhook_id: Uuid, recovery_id: Uuid })
const recovery = {
  id: '3c9e1b7a-5d2f-4e80-9a61-7b0c4d8e2f15',
  webhook: record.id,
  from: '2026-11-20T09:30:00.000Z',
  to: '2026-11-21T09:30:00.000Z',
  status: 'RUNNING',
  progress: 0.25,
  examined: 120,
  recovered: 31,
  createdAt: '2026-11-21T09:30:00.000Z',
  finishedAt: null,
}

export const recoverWebhook = operation({
  ...deliveries,
  id: 'recoverWebhook',
  method: 'POST',
  path: '/webhooks/{webhook_id}/recover',
  summary: 'Deliver events that did not arrive',
  description:
    'Makes deliveries of the events in a range of time that the webhook asks for now and for which it has no delivery, since it was inactive or not there, and tries those again that were given up. What arrived, is pending or was cancelled is left alone. A caller without the scope of one of the event types of the webhook is refused.',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  body: RecoveryInput,
  bodyExample: { from: recovery.from, to: recovery.to },
  answers: {
    202: {
      description: 'The recovery, which goes on by itself',
      schema: RecoveryRecord,
      headers: { Location: 'Path of the recovery' },
      example: { ...recovery, progress: 0, examined: 0, recovered: 0 },
    },
  },
  problems: ['webhook-not-found', 'webhook-inactive'],
  idempotent: true,
})

export const listRecoveries = operation({
  ...deliveries,
  id: 'listRecoveries',
  method: 'GET',
  path: '/webhooks/{webhook_id}/recoveries',
  summary: 'List the recoveries of a webhook',
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  query: z.object(paging(['createdAt', 'status'], 'createdAt,desc')),
  answers: { 200: { description: 'A page of recoveries', schema: pageOf(RecoveryRecord, 'RecoveryPage') } },
  problems: ['webhook-not-found'],
})

export const getRecovery = operation({
  ...deliveries,
  id: 'getRecovery',
  method: 'GET',
  path: '/webhooks/{webhook_id}/recoveries/{recovery_id}',
  summary: 'Get a recovery',
  scope: 'WEBHOOKS_READ',
  params: RecoveryPath,
  answers: { 200: { description: 'The recovery', schema: RecoveryRecord, example: recovery } },
  problems: ['webhook-not-found', 'recovery-not-found'],
})

export const cancelRecovery = operation({
  ...deliveries,
  id: 'cancelRecovery',
  method: 'POST',
  path: '/webhooks/{webhook_id}/recoveries/{recovery_id}/cancel',
  summary: 'Cancel a recovery',
  description: 'Deliveries that it has made stay.',
  scope: 'WEBHOOKS_WRITE',
  params: RecoveryPath,
  answers: {
    200: {
      description: 'The recovery',
      schema: RecoveryRecord,
      example: { ...recovery, status: 'CANCELLED' },
    },
  },
  problems: ['webhook-not-found', 'recovery-not-found', 'recovery-not-running'],
})

export const EventTypeRecord = z
  .object({
    name: z.string(),
    description: z.string(),
    scope: Scope.meta({ description: 'The scope that a reader of the payload needs' }),
    schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of the payload' }),
    example: z.record(z.string(), z.unknown()).meta({ description: 'A payload' }),
  })
  .meta({ id: 'EventType' })

export const listEventTypes = operation({
  ...part,
  id: 'listEventTypes',
  method: 'GET',
  path: '/webhooks/eventTypes',
  summary: 'List the event types that webhooks can ask for',
  description: 'Each with the scope that its readers need.',
  scope: 'WEBHOOKS_READ',
  answers: { 200: { description: 'All event types', schema: z.array(EventTypeRecord) } },
})

export const testWebhook = operation({
  ...deliveries,
  id: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{webhook_id}/test',
  summary: 'Send a test delivery',
  description: 'One attempt, also when the webhook is inactive.',
  scope: 'WEBHOOKS_WRITE',
  params: WebhookPath,
  answers: { 202: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['webhook-not-found'],
})

export const listWebhookDeliveries = operation({
  ...deliveries,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhooks/{webhook_id}/requests',
  summary: 'List the deliveries of a webhook',
  scope: 'WEBHOOKS_READ',
  params: WebhookPath,
  query: z.object({ ...paging(sortable, 'createdAt,desc'), status: DeliveryStatus.optional() }),
  answers: { 200: { description: 'A page of deliveries', schema: DeliveryPage } },
  problems: ['webhook-not-found'],
})

export const getDelivery = operation({
  ...deliveries,
  id: 'getDelivery',
  method: 'GET',
  path: '/webhooks/{webhook_id}/requests/{request_id}',
  summary: 'Get a delivery',
  scope: 'WEBHOOKS_READ',
  params: z.object({ webhook_id: Uuid, request_id: Uuid }),
  answers: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['webhook-not-found', 'delivery-not-found'],
})

export const listDeliveries = operation({
  ...deliveries,
  id: 'listDeliveries',
  method: 'GET',
  path: '/webhooks/requests',
  summary: 'List the deliveries of all webhooks, deleted ones included',
  scope: 'WEBHOOKS_READ',
  query: z.object({ ...paging(sortable, 'createdAt,desc'), status: DeliveryStatus.optional() }),
  answers: { 200: { description: 'A page of deliveries', schema: DeliveryPage } },
})

export const retryDelivery = operation({
  ...deliveries,
  id: 'retryDelivery',
  method: 'POST',
  path: '/webhooks/requests/{request_id}/retry',
  summary: 'Retry a failed delivery now',
  description: 'A caller without the scope of its event type is refused.',
  scope: 'WEBHOOKS_WRITE',
  params: RequestPath,
  answers: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['delivery-not-found', 'delivery-not-failed'],
})

export const cancelDelivery = operation({
  ...deliveries,
  id: 'cancelDelivery',
  method: 'POST',
  path: '/webhooks/requests/{request_id}/cancel',
  summary: 'Cancel a pending delivery',
  scope: 'WEBHOOKS_WRITE',
  params: RequestPath,
  answers: { 200: { description: 'The delivery', schema: DeliveryRecord } },
  problems: ['delivery-not-found', 'delivery-not-pending'],
})
