import { z } from 'zod'
import * as apis from './apis.ts'
import * as audit from './audit.ts'
import * as eventSchemas from './event-schemas.ts'
import * as events from './events.ts'
import * as history from './history.ts'
import * as identity from './identity.ts'
import * as images from './images.ts'
import type { Operation } from './operation.ts'
import { Timestamp } from './primitives.ts'
import {
  ApiImage,
  DeliverySnapshot,
  PLATFORM_EVENTS,
  type PlatformEventType,
  type PublicEventData,
  type PublicEventType,
  RecoverySnapshot,
  UserSnapshot,
  WebhookSnapshot,
} from './public-events.ts'
import * as readModels from './read-models.ts'
import * as signingKeys from './signing-keys.ts'
import * as system from './system.ts'
import * as versions from './versions.ts'
import * as webhooks from './webhooks.ts'

/** Every operation of the interface, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  apis,
  images,
  versions,
  identity,
  audit,
  webhooks,
  history,
  events,
  eventSchemas,
  readModels,
  system,
  signingKeys,
].flatMap(part =>
  Object.values(part).filter(
    (value): value is Operation => typeof value === 'object' && 'method' in value && 'responses' in value,
  ),
)

/** Descriptions of the tags of operations, in the order of the documentation. */
export const TAGS: Readonly<Record<string, string>> = {
  APIs: 'API definitions',
  Deployments: 'Deployment of APIs to environments; deployment agents execute the jobs',
  Images: 'One image per API',
  Versions: 'Versions of APIs',
  Login: 'Login with username and password',
  'Access tokens': 'Personal access tokens, for automation',
  Users: 'Users and their roles',
  Audit: 'The audit log: who changed which resource, and how',
  Webhooks: 'Endpoints that receive events',
  Deliveries: 'Events sent to webhooks, and those still to be sent',
  Events: 'A stream of all public events, and the publication of events of the platform',
  'Read models': 'Documents that are computed from the event log, and their rebuild',
  System: 'The services, their lag and their backing stores',
  Service: 'Health, metrics and keys',
}

interface ResourceKind {
  /** The resource as readers of the audit log see it. Never with secrets or their hashes. */
  snapshot: z.ZodType
  actions: readonly string[]
  /** Categories of the streams whose events change resources of the type. */
  streams: readonly string[]
}

const KeySnapshot = z.object({
  kid: z.string(),
  madeAt: Timestamp,
  signsFrom: Timestamp,
  retiredAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
})

/** All changes that the audit log can have, by resource type. */
const CHANGES = {
  API: {
    snapshot: apis.ApiSnapshot,
    actions: [
      'API_CREATED',
      'API_UPDATED',
      'API_DELETED',
      'API_DEPLOYMENT_STARTED',
      'API_UNDEPLOYMENT_STARTED',
      'API_DEPLOYED',
      'API_UNDEPLOYED',
      'API_DEPLOYMENT_FAILED',
    ],
    streams: ['api'],
  },
  API_VERSION: {
    snapshot: versions.VersionRecord,
    actions: ['API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED'],
    streams: ['api'],
  },
  API_IMAGE: {
    snapshot: ApiImage,
    actions: ['API_IMAGE_UPDATED', 'API_IMAGE_DELETED'],
    streams: ['image'],
  },
  USER: {
    snapshot: UserSnapshot,
    actions: [
      'USER_CREATED',
      'USER_UPDATED',
      'USER_PASSWORD_CHANGED',
      'USER_DELETED',
      'USER_ERASED',
      'USER_LOGGED_IN',
      'USER_LOGGED_OUT',
      'USER_LOGIN_FAILED',
      'USER_LOCKED',
      'USER_UNLOCKED',
    ],
    streams: ['user', 'logins'],
  },
  ACCESS_TOKEN: {
    snapshot: identity.AccessTokenRecord.extend({ user: z.uuid() }),
    actions: ['ACCESS_TOKEN_CREATED', 'ACCESS_TOKEN_REVOKED'],
    streams: ['token'],
  },
  SIGNING_KEY: {
    snapshot: KeySnapshot,
    actions: ['SIGNING_KEY_CREATED', 'SIGNING_KEY_RETIRED', 'SIGNING_KEY_REVOKED'],
    streams: ['signingkey'],
  },
  AUDIT_KEY: {
    snapshot: KeySnapshot,
    actions: ['AUDIT_KEY_CREATED', 'AUDIT_KEY_RETIRED', 'AUDIT_KEY_REVOKED'],
    streams: ['auditkey'],
  },
  READ_MODEL: {
    snapshot: readModels.ReadModelSnapshot,
    actions: ['READ_MODEL_REBUILD_REQUESTED', 'READ_MODEL_REBUILD_CANCELLED'],
    streams: ['readmodel'],
  },
  WEBHOOK: {
    snapshot: WebhookSnapshot.extend({
      failingSince: Timestamp.optional(),
      failedDeliveries: z.int().optional(),
    }),
    actions: [
      'WEBHOOK_CREATED',
      'WEBHOOK_UPDATED',
      'WEBHOOK_TRANSFERRED',
      'WEBHOOK_SECRET_ROTATED',
      'WEBHOOK_FAILING',
      'WEBHOOK_DISABLED',
      'WEBHOOK_DELETED',
    ],
    streams: ['webhook'],
  },
  RECOVERY: {
    snapshot: RecoverySnapshot,
    actions: ['RECOVERY_REQUESTED', 'RECOVERY_CANCELLED'],
    streams: ['recovery'],
  },
  DELIVERY: {
    snapshot: DeliverySnapshot,
    actions: ['WEBHOOK_TESTED', 'DELIVERY_RETRIED', 'DELIVERY_CANCELLED'],
    streams: ['delivery'],
  },
  PLATFORM_EVENT: {
    snapshot: z.object({
      source: z.string(),
      id: z.string(),
      type: z.string(),
      subject: z.string().nullable(),
      time: Timestamp,
      data: z.record(z.string(), z.unknown()),
    }),
    actions: Object.keys(PLATFORM_EVENTS) as PlatformEventType[],
    streams: ['platformevent'],
  },
} as const satisfies Record<string, ResourceKind>

type Changes = typeof CHANGES
type ResourceType = keyof Changes

/** The action of a change, e.g. API_UPDATED. */
export type ChangeAction<Type extends ResourceType = ResourceType> = Changes[Type]['actions'][number]

/** The personal fields of a user in a stored change. They can be read until the key of the user is deleted. */
export interface SealedFields {
  /** JSON `{salt, before, after}`, encrypted with the key of the user; `before` and `after` have the personal fields. */
  sealed: string
  /** SHA-256, in hexadecimal digits, of the canonical JSON (RFC 8785) of the encrypted text. */
  commitment: string
}

interface ChangeOf<Type extends ResourceType> {
  /** Also the type of the public event, where one exists. */
  action: ChangeAction<Type>
  resourceType: Type
  resourceId: string
  /** The resource before the event; null when the event created it. */
  before: z.output<Changes[Type]['snapshot']> | null
  /** The resource after the event; null when the event deleted it. */
  after: z.output<Changes[Type]['snapshot']> | null
  /** Set if the event restored the state of an earlier time: that time, ISO 8601 UTC. */
  restoredTo?: string
  /** Only in changes of users. */
  personal?: SealedFields
}

/**
 * The change that an event made to a resource, as readers see the resource. Stored with the event. Source of public events
 * and of the audit log.
 */
export type Change = { [Type in ResourceType]: ChangeOf<Type> }[ResourceType]

/**
 * The action that the audit log and histories name. For a restored API it is not that of the public event, API_UPDATED,
 * since receivers of events know no other.
 */
export const auditedAction = ({ action, restoredTo }: Change): string =>
  restoredTo === undefined ? action : 'API_RESTORED'

type SnapshotOf<Action extends ChangeAction> = {
  [Type in ResourceType]: Action extends ChangeAction<Type> ? z.output<Changes[Type]['snapshot']> : never
}[ResourceType]

/** The actions whose public event has other data than the changed resource. Its service makes these data. */
export type ComposedEventType = {
  [Action in ChangeAction & PublicEventType]: SnapshotOf<Action> extends PublicEventData<Action>
    ? never
    : Action
}[ChangeAction & PublicEventType]

/** The categories of all streams whose events have changes. */
export const CHANGED_STREAMS: readonly string[] = [
  ...new Set(Object.values(CHANGES).flatMap(({ streams }): readonly string[] => streams)),
]
