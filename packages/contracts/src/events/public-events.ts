import { z } from 'zod'
import { ApiSnapshot, apiExample, Job } from '../operations/apis.ts'
import { DocumentRecord, documentExample } from '../operations/documents.ts'
import { UserRecord, userExample } from '../operations/identity.ts'
import { ImageRecord } from '../operations/images.ts'
import { Timestamp } from '../operations/primitives.ts'
import type { Scope } from '../operations/scopes.ts'
import { VersionRecord } from '../operations/versions.ts'
import { DeliveryRecord, RecordedWebhook, RecoveryRecord } from '../operations/webhooks.ts'

const TIMESTAMP = '2026-11-21T09:30:00.000Z'
const version = {
  id: '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01',
  name: '1.2.0',
  displayName: 'Spring release',
  description: null,
  status: 'ACTIVE',
  api: apiExample.id,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
} as const
const image = {
  api: apiExample.id,
  contentType: 'image/png',
  size: 68,
  width: 1,
  height: 1,
  sha256: 'a1'.repeat(32),
} as const
const document = { ...documentExample, api: apiExample.id, apiVersion: version.id, breaking: null }
const deployment = {
  environment: 'c0ffee00-1f7a-4d8e-9a35-0d8a3d3c7b10',
  job: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
}
const job = {
  id: deployment.job,
  api: apiExample.id,
  environment: deployment.environment,
  startedAt: TIMESTAMP,
}
const product = { product: '8d3e1c52-77a5-4d3e-b1a6-4f0d6c2b9e01', api: apiExample.id }
const webhook: z.infer<typeof RecordedWebhook> = {
  id: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d',
  name: 'deployments',
  displayName: 'Deployments',
  url: 'https://example.com/hook',
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: false,
  format: 'STANDARD',
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  disabledReason: null,
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
}
const recovery = {
  webhook: webhook.id,
  from: '2026-11-20T09:30:00.000Z',
  to: TIMESTAMP,
  status: 'RUNNING',
} as const
const delivery = {
  webhook: webhook.id,
  eventId: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
  eventType: 'API_DEPLOYED',
  status: 'CREATED',
} as const
const { username: _, displayName: __, email: ___, ...createdUser } = userExample
const { lockedUntil: ____, ...user } = createdUser

/** An API; without the fields that the release which recorded the event did not have. */
const PublishedApi = ApiSnapshot.partial({ gitCredential: true }).meta({ id: 'PublishedApi' })
const PublishedVersion = VersionRecord.extend({}).meta({ id: 'PublishedVersion' })
const Deployment = z
  .object({ api: PublishedApi, environment: z.uuid(), job: z.uuid() })
  .meta({ id: 'PublishedDeployment' })
const ProductApi = z.object({ product: z.uuid(), api: z.uuid() }).meta({ id: 'ProductApi' })
const Anything = z.record(z.string(), z.unknown())
export const ApiImage = ImageRecord.extend({ api: z.uuid() }).meta({ id: 'PublishedImage' })
export const DocumentSnapshot = DocumentRecord.extend({ api: z.uuid(), apiVersion: z.uuid() })
const PublishedDocument = DocumentSnapshot.extend({
  breaking: z.boolean().nullable().meta({
    description:
      'Whether it breaks clients of the document of this name in the version created before; null if that is not known',
  }),
}).meta({ id: 'PublishedDocument' })
/** The fields of a user that name or address them. */
const PERSONAL = { username: true, displayName: true, email: true } as const
/**
 * A user in a change; without `lockedUntil` in events of the user that do not concern the lock, and without personal fields
 * in stored events: see `SealedFields`.
 */
export const UserSnapshot = UserRecord.partial({ ...PERSONAL, lockedUntil: true })
/** A user as other services and audit consumers see them in public events: by id, without personal fields. */
const PublishedUser = UserSnapshot.omit(PERSONAL)
/** A webhook; without the fields that the release which recorded the event did not have. */
export const WebhookSnapshot = RecordedWebhook.partial({ ordered: true, owner: true, format: true }).meta({
  id: 'PublishedWebhook',
})
export const RecoverySnapshot = RecoveryRecord.pick({ webhook: true, from: true, to: true, status: true })
export const DeliverySnapshot = DeliveryRecord.pick({
  webhook: true,
  eventId: true,
  eventType: true,
  status: true,
})

/** The shape of the data of an event type in one version. */
export interface DataVersion<Data extends z.ZodType = z.ZodType> {
  /** Schema of `data` of the payload. */
  data: Data
  example: z.input<Data>
}

interface PublicEventKind<Data extends z.ZodType = z.ZodType> extends DataVersion<Data> {
  /** The scope that a reader of the payload needs. */
  scope: Scope
  description: string
  /** The previous versions, from version 1. Their schemas stay public, because the log keeps events of all versions. */
  earlier: readonly DataVersion[]
}

/** @param earlier the versions before this one, from version 1 */
const kind = <Data extends z.ZodType>(
  scope: Scope,
  description: string,
  data: Data,
  example: z.input<Data>,
  ...earlier: DataVersion[]
): PublicEventKind<Data> => ({ scope, description, data, example, earlier })

const subscription = { application: 'shop', plan: 'gold' }

/** Events of the platform, which other systems publish as CloudEvents. */
export const PLATFORM_EVENTS = {
  SUBSCRIPTION_CREATED: kind(
    'SUBSCRIPTIONS_READ',
    'A subscription to an API was created',
    Anything,
    subscription,
  ),
  SUBSCRIPTION_DELETED: kind('SUBSCRIPTIONS_READ', 'A subscription ended', Anything, subscription),
  APPROVAL_REQUEST_CREATED: kind('APPROVAL_REQUEST_READ', 'An approval was requested', Anything, {
    request: 'r-17',
    about: 'a subscription to payments',
  }),
  APPROVAL_REQUEST_DECIDED: kind(
    'APPROVAL_REQUEST_READ',
    'An approval request was granted or refused',
    Anything,
    { request: 'r-17', decision: 'granted' },
  ),
  CONFIGURATION_CHANGED: kind(
    'CONFIGURATION_READ',
    'The configuration of the platform was changed; values of keys that name secrets, and secrets in texts, are ***',
    Anything,
    { setting: 'retention', value: '30d' },
  ),
  PRODUCT_API_ADDED: kind('API_READ', 'An API was added to a product', ProductApi, product),
  PRODUCT_API_REMOVED: kind('API_READ', 'An API was removed from a product', ProductApi, product),
} as const
export type PlatformEventType = keyof typeof PLATFORM_EVENTS

/** The events that a webhook can subscribe to. */
export const EVENT_TYPES = {
  API_CREATED: kind('API_READ', 'An API was created', PublishedApi, apiExample),
  API_UPDATED: kind('API_READ', 'An API was changed', PublishedApi, {
    ...apiExample,
    displayName: 'Payments and refunds',
  }),
  API_DELETED: kind('API_READ', 'An API was deleted; data is its last state', PublishedApi, apiExample),
  API_DEPLOYED: kind('API_READ', 'An API was deployed to an environment', Deployment, {
    ...deployment,
    api: { ...apiExample, deploymentStatus: 'DEPLOYED' },
  }),
  API_UNDEPLOYED: kind('API_READ', 'An API was undeployed from an environment', Deployment, {
    ...deployment,
    api: { ...apiExample, deploymentStatus: 'UNDEPLOYED' },
  }),
  API_DEPLOYMENT_FAILED: kind(
    'API_READ',
    'A deployment job failed',
    Deployment.extend({ type: Job.shape.type, message: z.string().nullable() }).meta({
      id: 'FailedDeployment',
    }),
    {
      ...deployment,
      api: { ...apiExample, deploymentStatus: 'DEPLOYMENT_FAILED' },
      type: 'DEPLOY',
      message: 'no room on the gateway',
    },
  ),
  API_VERSION_CREATED: kind('API_READ', 'A version was created', PublishedVersion, version),
  API_VERSION_UPDATED: kind('API_READ', 'A version was changed', PublishedVersion, {
    ...version,
    status: 'DEPRECATED',
  }),
  API_VERSION_DELETED: kind(
    'API_READ',
    'A version was deleted; data is its last state',
    PublishedVersion,
    version,
  ),
  API_IMAGE_UPDATED: kind('API_READ', 'An API got a new image', ApiImage, image),
  API_IMAGE_DELETED: kind('API_READ', 'The image of an API was deleted', ApiImage, image),
  API_VERSION_DOCUMENT_UPDATED: kind(
    'API_READ',
    'A version got a document, or another content of it',
    PublishedDocument,
    document,
  ),
  API_VERSION_DOCUMENT_DELETED: kind(
    'API_READ',
    'A document of a version was deleted; data is its last state',
    PublishedDocument,
    document,
  ),
  WEBHOOK_FAILING: kind(
    'WEBHOOKS_READ',
    'No delivery to another webhook has succeeded for a day; sent again after three days',
    WebhookSnapshot.extend({
      failingSince: Timestamp,
      failedDeliveries: z.int().meta({ description: 'Failed deliveries since then; not counted beyond 20' }),
    }).meta({ id: 'FailingWebhook' }),
    { ...webhook, failingSince: '2026-11-20T09:30:00.000Z', failedDeliveries: 20 },
  ),
  WEBHOOK_DISABLED: kind(
    'WEBHOOKS_READ',
    'The service disabled another webhook; disabledReason says why',
    WebhookSnapshot,
    { ...webhook, active: false, disabledReason: 'the endpoint answered 410 Gone' },
  ),
  ...PLATFORM_EVENTS,
  TEST: kind(
    'WEBHOOKS_READ',
    'A test delivery was requested',
    z.object({ webhook: z.uuid(), message: z.string() }).meta({ id: 'TestMessage' }),
    { webhook: webhook.id, message: 'A test of this webhook' },
  ),
} as const
export type EventType = keyof typeof EVENT_TYPES
export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** All public events by type. The source of webhooks, of the messages on the bus, of GET /events and of the documentation. */
export const PUBLIC_EVENTS = {
  ...EVENT_TYPES,
  DEPLOYMENT_REQUESTED: kind('API_READ', 'A deployment agent shall carry out the job', Job, {
    ...job,
    type: 'DEPLOY',
    status: 'RUNNING',
  }),
  WEBHOOK_CREATED: kind('WEBHOOKS_READ', 'A webhook was created', WebhookSnapshot, webhook),
  WEBHOOK_UPDATED: kind('WEBHOOKS_READ', 'A webhook was changed', WebhookSnapshot, webhook),
  WEBHOOK_TRANSFERRED: kind('WEBHOOKS_READ', 'A webhook got another owner', WebhookSnapshot, webhook),
  WEBHOOK_SECRET_ROTATED: kind(
    'WEBHOOKS_READ',
    'A webhook got another signing secret',
    WebhookSnapshot,
    webhook,
  ),
  WEBHOOK_DELETED: kind(
    'WEBHOOKS_READ',
    'A webhook was deleted; data is its last state',
    WebhookSnapshot,
    webhook,
  ),
  RECOVERY_REQUESTED: kind('WEBHOOKS_READ', 'A recovery was requested', RecoverySnapshot, recovery),
  RECOVERY_CANCELLED: kind('WEBHOOKS_READ', 'A user cancelled a recovery', RecoverySnapshot, {
    ...recovery,
    status: 'CANCELLED',
  }),
  DELIVERY_RETRIED: kind('WEBHOOKS_READ', 'A user had a delivery sent again', DeliverySnapshot, delivery),
  DELIVERY_CANCELLED: kind('WEBHOOKS_READ', 'A user cancelled a delivery', DeliverySnapshot, {
    ...delivery,
    status: 'CANCELLED',
  }),
  USER_CREATED: kind('USER_READ', 'A user was created', PublishedUser, createdUser),
  USER_UPDATED: kind('USER_READ', 'A user was changed', PublishedUser, user),
  USER_DELETED: kind('USER_READ', 'A user was deleted; data is their last state', PublishedUser, user),
  USER_ERASED: kind('USER_READ', 'The personal data of a user were erased; data is empty', z.object({}), {}),
} as const
export type PublicEventType = keyof typeof PUBLIC_EVENTS
export const isPublicEventType = (type: string): type is PublicEventType => Object.hasOwn(PUBLIC_EVENTS, type)
/** The versions of the data of an event type: version 1 first, the newest last. */
export const versionsOf = (type: PublicEventType): readonly DataVersion[] => {
  const { earlier, data, example }: PublicEventKind = PUBLIC_EVENTS[type]
  return [...earlier, { data, example }]
}
export type PublicEventData<Type extends PublicEventType> = z.output<(typeof PUBLIC_EVENTS)[Type]['data']>

const ALL_READ_SCOPES: readonly Scope[] = [...new Set(Object.values(PUBLIC_EVENTS).map(({ scope }) => scope))]

/**
 * The scopes that a reader of an event needs. A type that this release does not know needs the scopes of all types. So a
 * reader with all scopes also gets the events of newer releases, and no other reader gets events that they may not read.
 */
export const readScopesOf = (type: string): readonly Scope[] =>
  isPublicEventType(type) ? [PUBLIC_EVENTS[type].scope] : ALL_READ_SCOPES

/** Whether a holder of the scopes may read payloads of the type. */
export const mayReadEvent = (scopes: readonly Scope[], type: string): boolean =>
  readScopesOf(type).every(scope => scopes.includes(scope))

/** A public event: the data of a message on the bus, for other services and for audit consumers. */
export const PublicEvent = z
  .object({
    id: z.uuid(),
    type: z.string(),
    source: z.string().meta({
      description:
        'The service that recorded the event; for an event of the platform the source of its producer',
    }),
    subject: z.string().meta({ description: 'Id of the resource' }),
    revision: z.int().meta({
      description: 'Revision of the event in its stream. It grows from event to event of a stream',
    }),
    time: z.string().meta({ description: 'When it happened, ISO 8601 UTC' }),
    data: z.record(z.string(), z.unknown()),
    version: z.int().min(1).optional().meta({
      description: 'Version of the schema of data. Absent means 1',
    }),
    actor: z.object({ id: z.string().nullable(), name: z.string() }).meta({ id: 'EventActor' }),
    requestId: z.string(),
  })
  .meta({ id: 'PublicEvent' })
export type PublicEvent = z.infer<typeof PublicEvent>
