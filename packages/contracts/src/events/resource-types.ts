import { z } from 'zod'
import { ApiSnapshot } from '../operations/apis.ts'
import { EnvironmentSnapshot } from '../operations/environments.ts'
import { AccessTokenRecord } from '../operations/identity.ts'
import { BulkChange, JobRecord } from '../operations/jobs.ts'
import { Timestamp } from '../operations/primitives.ts'
import { ReadModelSnapshot } from '../operations/read-models.ts'
import { RuleSetSnapshot } from '../operations/rule-sets.ts'
import { VersionRecord } from '../operations/versions.ts'
import {
  ApiImage,
  DeliverySnapshot,
  DocumentSnapshot,
  PLATFORM_EVENTS,
  type PlatformEventType,
  RecoverySnapshot,
  UserSnapshot,
  WebhookSnapshot,
} from './public-events.ts'

interface ResourceKind {
  /** The resource as readers of the audit log see it. Never with secrets or their hashes. */
  snapshot: z.ZodType
  actions: readonly string[]
}

const KeySnapshot = z.object({
  kid: z.string(),
  madeAt: Timestamp,
  signsFrom: Timestamp,
  retiredAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
})

/** All changes that the audit log can have, by resource type. */
export const CHANGES = {
  API: {
    snapshot: ApiSnapshot,
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
  },
  API_VERSION: {
    snapshot: VersionRecord,
    actions: ['API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED'],
  },
  API_IMAGE: {
    snapshot: ApiImage,
    actions: ['API_IMAGE_UPDATED', 'API_IMAGE_DELETED'],
  },
  API_VERSION_DOCUMENT: {
    snapshot: DocumentSnapshot,
    actions: ['API_VERSION_DOCUMENT_UPDATED', 'API_VERSION_DOCUMENT_DELETED'],
  },
  ENVIRONMENT: {
    snapshot: EnvironmentSnapshot,
    actions: ['ENVIRONMENT_UPDATED'],
  },
  RULE_SET: {
    snapshot: RuleSetSnapshot,
    actions: ['RULE_SET_CREATED', 'RULE_SET_UPDATED', 'RULE_SET_DELETED'],
  },
  JOB: {
    snapshot: JobRecord.pick({ type: true, status: true, total: true, done: true, failed: true }).extend({
      change: BulkChange.optional(),
    }),
    actions: ['JOB_REQUESTED', 'JOB_CANCELLED', 'JOB_COMPLETED', 'JOB_FAILED'],
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
  },
  ACCESS_TOKEN: {
    snapshot: AccessTokenRecord.extend({ user: z.uuid() }),
    actions: ['ACCESS_TOKEN_CREATED', 'ACCESS_TOKEN_REVOKED'],
  },
  SIGNING_KEY: {
    snapshot: KeySnapshot,
    actions: ['SIGNING_KEY_CREATED', 'SIGNING_KEY_RETIRED', 'SIGNING_KEY_REVOKED'],
  },
  AUDIT_KEY: {
    snapshot: KeySnapshot,
    actions: ['AUDIT_KEY_CREATED', 'AUDIT_KEY_RETIRED', 'AUDIT_KEY_REVOKED'],
  },
  READ_MODEL: {
    snapshot: ReadModelSnapshot,
    actions: ['READ_MODEL_REBUILD_REQUESTED', 'READ_MODEL_REBUILD_CANCELLED'],
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
  },
  RECOVERY: {
    snapshot: RecoverySnapshot,
    actions: ['RECOVERY_REQUESTED', 'RECOVERY_CANCELLED'],
  },
  DELIVERY: {
    snapshot: DeliverySnapshot,
    actions: ['WEBHOOK_TESTED', 'DELIVERY_RETRIED', 'DELIVERY_CANCELLED'],
  },
  LOGIN: {
    /** `user` is null for an unknown username, of which `name` is an HMAC with a key from ENCRYPTION_KEY. */
    snapshot: z.object({ user: z.uuid().nullable(), name: z.string().nullable(), reason: z.string() }),
    actions: ['LOGIN_REFUSED'],
  },
  OPERATION: {
    /** An operation that its caller may not carry out. Secrets in the path are cut off. */
    snapshot: z.object({ operation: z.string(), path: z.string() }),
    actions: ['OPERATION_REFUSED'],
  },
  AUDIT_LOG: {
    /** An export of the records after a number, through another one, without the text of its filter. */
    snapshot: z.object({
      format: z.string(),
      filter: z.record(z.string(), z.string()),
      after: z.int(),
      through: z.int(),
    }),
    actions: ['AUDIT_LOG_EXPORTED'],
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
  },
} as const satisfies Record<string, ResourceKind>
