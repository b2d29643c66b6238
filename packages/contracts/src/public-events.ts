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
  /** Shape of the payload's `data`. */
  data: z.ZodType
}

/** Events of the platform that others produce and send in as CloudEvents. */
export const PLATFORM_EVENTS = {
  SUBSCRIPTION_CREATED: { description: 'Somebody subscribed to an API', data: anything },
  SUBSCRIPTION_DELETED: { description: 'A subscription ended', data: anything },
  APPROVAL_REQUEST_CREATED: { description: 'Something waits for approval', data: anything },
  APPROVAL_REQUEST_DECIDED: { description: 'An approval request was granted or refused', data: anything },
  CONFIGURATION_CHANGED: {
    description: 'The configuration of the platform changed; values of keys that name secrets are ***',
    data: anything,
  },
  PRODUCT_API_ADDED: { description: 'An API became part of a product', data: product },
  PRODUCT_API_REMOVED: { description: 'An API ceased to be part of a product', data: product },
} as const satisfies Partial<Record<PublicEventType, EventKind>>

/** Everything that a webhook can ask for, with the shape of its data; EVENT_SCOPES has the scope of each. */
export const EVENT_TYPES = {
  API_CREATED: { description: 'An API was created', data: ApiSnapshot },
  API_UPDATED: { description: 'An API was changed', data: ApiSnapshot },
  API_DELETED: { description: 'An API was deleted; data is what it was', data: ApiSnapshot },
  API_DEPLOYED: { description: 'An API was deployed to an environment', data: deployment },
  API_UNDEPLOYED: { description: 'An API was undeployed from an environment', data: deployment },
  API_DEPLOYMENT_FAILED: {
    description: 'A deployment job failed',
    data: deployment.extend({ type: Job.shape.type, message: z.string().nullable() }),
  },
  API_VERSION_CREATED: { description: 'A version was created', data: VersionRecord },
  API_VERSION_UPDATED: { description: 'A version was changed', data: VersionRecord },
  API_VERSION_DELETED: { description: 'A version was deleted; data is what it was', data: VersionRecord },
  API_IMAGE_UPDATED: { description: 'An API got another image', data: ImageRecord.extend({ api: z.uuid() }) },
  API_IMAGE_DELETED: {
    description: 'The image of an API was deleted',
    data: ImageRecord.extend({ api: z.uuid() }),
  },
  WEBHOOK_FAILING: {
    description:
      'No delivery has arrived at another webhook for a day, and again after three; its url is without user and query',
    data: WebhookRecord.extend({
      failingSince: Timestamp,
      failedDeliveries: z.int().meta({ description: 'Since then; not counted beyond 20' }),
    }),
  },
  WEBHOOK_DISABLED: {
    description:
      'The service made another webhook inactive; disabledReason says why; its url is without user and query',
    data: WebhookRecord,
  },
  ...PLATFORM_EVENTS,
  TEST: {
    description: 'Somebody tests the webhook',
    data: z.object({ webhook: z.uuid(), message: z.string() }),
  },
} as const satisfies Partial<Record<PublicEventType, EventKind>>
export type EventType = keyof typeof EVENT_TYPES
export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** What services tell each other, and audit consumers read: the data of a bus message. */
export const PublicEvent = z
  .object({
    id: z.uuid(),
    type: z.string(),
    /** The service that it comes from; for a platform event the source of the CloudEvent. */
    source: z.string(),
    /** Id of the resource that it is about. */
    subject: z.string(),
    /** Place of the event in the stream it was recorded in: of two with the same source stream the later has the higher. */
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
  /** Where a service takes a public event of another at once, as a request; the durable way comes later and finds it done. */
  react: (service: string) => `react.${service}`,
  /** CloudEvents of the platform, from producers outside. */
  platformEvents: 'platform.events',
  /** A deployment job to carry out: events.catalog.DEPLOYMENT_REQUESTED. */
  deploymentRequested: 'events.catalog.DEPLOYMENT_REQUESTED',
  /** Agents publish DeploymentReport here. */
  deploymentReported: 'deployments.reported',
  /** Request: { api }; reply: { exists }. */
  apiExists: 'catalog.api-exists',
  /** Request: a credential; reply: a principal or a problem code. */
  authenticate: 'identity.authenticate',
  /** Request: { user }, an id; reply: UserStanding. */
  userStanding: 'identity.user-standing',
  /** Broadcast: principals of this user, or of this token, are to be looked up anew. */
  principalChanged: 'identity.principal-changed',
  /** Broadcast: the signing keys were rotated, or replaced. */
  keysChanged: 'identity.keys-changed',
  /** Broadcast: what replicas of the gateway count for the rate limits that they have together. */
  rateCounts: 'gateway.rate-counts',
  /** Request of the operator: { id, by, compromised }; reply: { kid, signsFrom }. */
  rotateKeys: 'identity.rotate-keys',
} as const

/** The service that answers requests on a subject. */
export function serviceOf(subject: string): string {
  const [first = '', second = ''] = subject.split('.')
  return first === 'react' ? second : first
}

/** What identity answers of a user. */
export const UserStanding = z.object({
  /** Null when there is no such user, or no longer. */
  user: z.object({ role: Role, status: UserStatus }).nullable(),
  /** Revision of the user's stream that this is from; -1 when there never was such a user. */
  revision: z.int(),
})
export type UserStanding = z.infer<typeof UserStanding>

/** What a deployment agent reports of a job: the data of a message on `deployments.reported`. */
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
