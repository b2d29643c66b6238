import { z } from 'zod'
import { ApiSnapshot, Job } from './apis.ts'
import type { PublicEventType } from './event-scopes.ts'
import { UserStatus } from './identity.ts'
import { ImageRecord } from './images.ts'
import { Timestamp } from './primitives.ts'
import { Role } from './scopes.ts'
import { VersionRecord } from './versions.ts'
import { WebhookRecord } from './webhooks.ts'

const deployment = z.object({ api: ApiSnapshot, environment: z.uuid(), job: z.uuid() })
const product = z.object({ product: z.uuid(), api: z.uuid() })
const anything = z.record(z.string(), z.unknown())

interface EventKind {
  description: string
  /** Schema of `data` of the payload. */
  data: z.ZodType
}

/** Events of the platform, which other systems publish as CloudEvents. */
export const PLATFORM_EVENTS = {
  SUBSCRIPTION_CREATED: { description: 'A subscription to an API was created', data: anything },
  SUBSCRIPTION_DELETED: { description: 'A subscription ended', data: anything },
  APPROVAL_REQUEST_CREATED: { description: 'An approval was requested', data: anything },
  APPROVAL_REQUEST_DECIDED: { description: 'An approval request was granted or refused', data: anything },
  CONFIGURATION_CHANGED: {
    description: 'The configuration of the platform was changed; values of keys that name secrets are ***',
    data: anything,
  },
  PRODUCT_API_ADDED: { description: 'An API was added to a product', data: product },
  PRODUCT_API_REMOVED: { description: 'An API was removed from a product', data: product },
} as const satisfies Partial<Record<PublicEventType, EventKind>>

/** All event types that a webhook can subscribe to, with the schema of their data. EVENT_SCOPES has their scopes. */
export const EVENT_TYPES = {
  API_CREATED: { description: 'An API was created', data: ApiSnapshot },
  API_UPDATED: { description: 'An API was changed', data: ApiSnapshot },
  API_DELETED: { description: 'An API was deleted; data is its last state', data: ApiSnapshot },
  API_DEPLOYED: { description: 'An API was deployed to an environment', data: deployment },
  API_UNDEPLOYED: { description: 'An API was undeployed from an environment', data: deployment },
  API_DEPLOYMENT_FAILED: {
    description: 'A deployment job failed',
    data: deployment.extend({ type: Job.shape.type, message: z.string().nullable() }),
  },
  API_VERSION_CREATED: { description: 'A version was created', data: VersionRecord },
  API_VERSION_UPDATED: { description: 'A version was changed', data: VersionRecord },
  API_VERSION_DELETED: { description: 'A version was deleted; data is its last state', data: VersionRecord },
  API_IMAGE_UPDATED: { description: 'An API got a new image', data: ImageRecord.extend({ api: z.uuid() }) },
  API_IMAGE_DELETED: {
    description: 'The image of an API was deleted',
    data: ImageRecord.extend({ api: z.uuid() }),
  },
  WEBHOOK_FAILING: {
    description:
      'No delivery to another webhook has succeeded for a day; sent again after three days. Its url has no user and no query',
    data: WebhookRecord.extend({
      failingSince: Timestamp,
      failedDeliveries: z.int().meta({ description: 'Failed deliveries since then; not counted beyond 20' }),
    }),
  },
  WEBHOOK_DISABLED: {
    description:
      'The service disabled another webhook; disabledReason says why. Its url has no user and no query',
    data: WebhookRecord,
  },
  ...PLATFORM_EVENTS,
  TEST: {
    description: 'A test delivery was requested',
    data: z.object({ webhook: z.uuid(), message: z.string() }),
  },
} as const satisfies Partial<Record<PublicEventType, EventKind>>
export type EventType = keyof typeof EVENT_TYPES
export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** A public event: the data of a message on the bus, for other services and for audit consumers. */
export const PublicEvent = z
  .object({
    id: z.uuid(),
    type: z.string(),
    /** The service that recorded the event; for a platform event the source of the CloudEvent. */
    source: z.string(),
    /** Id of the resource. */
    subject: z.string(),
    /** Revision of the event in its stream. It grows from event to event of a stream. */
    revision: z.int(),
    time: z.string(),
    data: z.record(z.string(), z.unknown()),
    actor: z.object({ id: z.string().nullable(), name: z.string() }),
    requestId: z.string(),
  })
  .meta({ id: 'PublicEvent' })
export type PublicEvent = z.infer<typeof PublicEvent>

/** Subjects on the bus. */
export const subjects = {
  /** Public events of a service: durable, in the order of its log. */
  events: (service: string, type: string) => `events.${service}.${type}`,
  allEvents: 'events.>',
  /** Request: a public event for a service to handle at once. The same event also arrives later as a durable message. */
  react: (service: string) => `react.${service}`,
  /** CloudEvents of the platform, published by other systems. */
  platformEvents: 'platform.events',
  /** Deployment jobs for deployment agents. */
  deploymentRequested: 'events.catalog.DEPLOYMENT_REQUESTED',
  /** DeploymentReport, published by deployment agents. */
  deploymentReported: 'deployments.reported',
  /** Request: { api }; reply: { exists }. */
  apiExists: 'catalog.api-exists',
  /** Request: a credential; reply: a principal or a problem code. */
  authenticate: 'identity.authenticate',
  /** Request: { user }, an id; reply: UserStanding. */
  userStanding: 'identity.user-standing',
  /** Broadcast: cached principals of a user or an access token are invalid. */
  principalChanged: 'identity.principal-changed',
  /** Broadcast: the signing keys were rotated or replaced. */
  keysChanged: 'identity.keys-changed',
  /** Broadcast: request counts of a gateway replica, for the rate limits that the replicas share. */
  rateCounts: 'gateway.rate-counts',
  /** Request by an operator: { id, by, compromised }; reply: { kid, signsFrom }. */
  rotateKeys: 'identity.rotate-keys',
} as const

/** The service that answers requests on a subject. */
export function serviceOf(subject: string): string {
  const [first = '', second = ''] = subject.split('.')
  return first === 'react' ? second : first
}

/** Role and status of a user, as identity knows them. */
export const UserStanding = z.object({
  /** Null when the user does not exist or was deleted. */
  user: z.object({ role: Role, status: UserStatus }).nullable(),
  /** Revision of the user's stream; -1 when the user never existed. */
  revision: z.int(),
})
export type UserStanding = z.infer<typeof UserStanding>

/** The report of a deployment agent on a job: the data of a message on `deployments.reported`. */
export const DeploymentReport = z
  .object({
    job: z.uuid(),
    api: z.uuid(),
    environment: z.uuid(),
    outcome: z.enum(['SUCCEEDED', 'FAILED']),
    message: z.string().max(2000).nullish(),
  })
  .meta({ id: 'DeploymentReport' })
export type DeploymentReport = z.infer<typeof DeploymentReport>
