// Generated from the contracts by `npm run generate -w @gantry/client`.
import type { Content } from './content.ts'

/** Method and path of each operation, and what the client must know of it. */
export const ROUTES = {
  listApis: { method: 'GET', path: '/apis' },
  createApi: { method: 'POST', path: '/apis', keyed: true },
  getApiFacets: { method: 'GET', path: '/apis/facets' },
  getApi: { method: 'GET', path: '/apis/{api_id}' },
  updateApi: { method: 'PUT', path: '/apis/{api_id}', repeatable: true },
  deleteApi: { method: 'DELETE', path: '/apis/{api_id}' },
  restoreApi: { method: 'POST', path: '/apis/{api_id}/restore' },
  deployApi: { method: 'PUT', path: '/environments/{environment_id}/apis/{api_id}' },
  undeployApi: { method: 'DELETE', path: '/environments/{environment_id}/apis/{api_id}' },
  cancelDeployment: { method: 'POST', path: '/environments/{environment_id}/apis/{api_id}/cancel' },
  listEnvironments: { method: 'GET', path: '/environments' },
  getEnvironment: { method: 'GET', path: '/environments/{environment_id}' },
  updateEnvironment: { method: 'PUT', path: '/environments/{environment_id}', repeatable: true },
  downloadImage: { method: 'GET', path: '/apis/{api_id}/image', stream: true },
  uploadImage: { method: 'PUT', path: '/apis/{api_id}/image', repeatable: true, body: 'multipart/form-data' },
  deleteImage: { method: 'DELETE', path: '/apis/{api_id}/image' },
  listVersions: { method: 'GET', path: '/apis/{api_id}/versions' },
  createVersion: { method: 'POST', path: '/apis/{api_id}/versions', keyed: true },
  getVersion: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}' },
  updateVersion: { method: 'PUT', path: '/apis/{api_id}/versions/{version_id}', repeatable: true },
  deleteVersion: { method: 'DELETE', path: '/apis/{api_id}/versions/{version_id}' },
  listDocuments: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/documents' },
  downloadDocument: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/documents/{name}', stream: true },
  putDocument: { method: 'PUT', path: '/apis/{api_id}/versions/{version_id}/documents/{name}', repeatable: true, body: '*/*' },
  deleteDocument: { method: 'DELETE', path: '/apis/{api_id}/versions/{version_id}/documents/{name}' },
  compareDocument: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/documents/{name}/diff' },
  listFindings: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/documents/{name}/findings' },
  listVersionOperations: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/operations' },
  listOperations: { method: 'GET', path: '/operations' },
  listRuleSets: { method: 'GET', path: '/ruleSets' },
  createRuleSet: { method: 'POST', path: '/ruleSets', keyed: true },
  previewRuleSet: { method: 'POST', path: '/ruleSets/preview' },
  getRuleSet: { method: 'GET', path: '/ruleSets/{rule_set_id}' },
  updateRuleSet: { method: 'PUT', path: '/ruleSets/{rule_set_id}', repeatable: true },
  deleteRuleSet: { method: 'DELETE', path: '/ruleSets/{rule_set_id}' },
  listEffectiveRules: { method: 'GET', path: '/ruleSets/{rule_set_id}/rules' },
  getApiCatalog: { method: 'GET', path: '/.well-known/api-catalog' },
  importApi: { method: 'POST', path: '/apis/import', keyed: true, body: '*/*' },
  changeApis: { method: 'POST', path: '/apis/bulk', keyed: true },
  listJobs: { method: 'GET', path: '/jobs' },
  getJob: { method: 'GET', path: '/jobs/{job_id}' },
  cancelJob: { method: 'POST', path: '/jobs/{job_id}/cancel' },
  listJobResults: { method: 'GET', path: '/jobs/{job_id}/results' },
  listAccessTokens: { method: 'GET', path: '/accessTokens' },
  createAccessToken: { method: 'POST', path: '/accessTokens', keyed: true },
  getAccessToken: { method: 'GET', path: '/accessTokens/{id}' },
  deleteAccessToken: { method: 'DELETE', path: '/accessTokens/{id}' },
  listAuditLog: { method: 'GET', path: '/auditLog' },
  exportAuditLog: { method: 'GET', path: '/auditLog/export', stream: true },
  login: { method: 'POST', path: '/login' },
  logout: { method: 'POST', path: '/logout' },
  getSession: { method: 'GET', path: '/session' },
  changePassword: { method: 'PUT', path: '/session/password' },
  listUsers: { method: 'GET', path: '/users' },
  createUser: { method: 'POST', path: '/users', keyed: true },
  getUser: { method: 'GET', path: '/users/{user_id}' },
  updateUser: { method: 'PUT', path: '/users/{user_id}', repeatable: true },
  deleteUser: { method: 'DELETE', path: '/users/{user_id}' },
  listUserAccessTokens: { method: 'GET', path: '/users/{user_id}/accessTokens' },
  deleteUserAccessTokens: { method: 'DELETE', path: '/users/{user_id}/accessTokens' },
  getUserAccessToken: { method: 'GET', path: '/users/{user_id}/accessTokens/{id}' },
  deleteUserAccessToken: { method: 'DELETE', path: '/users/{user_id}/accessTokens/{id}' },
  eraseUser: { method: 'POST', path: '/users/{user_id}/erase' },
  unlockUser: { method: 'POST', path: '/users/{user_id}/unlock' },
  listAuditProofs: { method: 'GET', path: '/auditLog/proofs' },
  listWebhooks: { method: 'GET', path: '/webhooks' },
  createWebhook: { method: 'POST', path: '/webhooks', keyed: true },
  listEventTypes: { method: 'GET', path: '/webhooks/eventTypes' },
  listDeliveries: { method: 'GET', path: '/webhooks/requests' },
  cancelDelivery: { method: 'POST', path: '/webhooks/requests/{request_id}/cancel' },
  retryDelivery: { method: 'POST', path: '/webhooks/requests/{request_id}/retry' },
  getWebhook: { method: 'GET', path: '/webhooks/{webhook_id}' },
  updateWebhook: { method: 'PUT', path: '/webhooks/{webhook_id}', repeatable: true },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/{webhook_id}' },
  recoverWebhook: { method: 'POST', path: '/webhooks/{webhook_id}/recover', keyed: true },
  listRecoveries: { method: 'GET', path: '/webhooks/{webhook_id}/recoveries' },
  getRecovery: { method: 'GET', path: '/webhooks/{webhook_id}/recoveries/{recovery_id}' },
  cancelRecovery: { method: 'POST', path: '/webhooks/{webhook_id}/recoveries/{recovery_id}/cancel' },
  listWebhookDeliveries: { method: 'GET', path: '/webhooks/{webhook_id}/requests' },
  getDelivery: { method: 'GET', path: '/webhooks/{webhook_id}/requests/{request_id}' },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/{webhook_id}/rotateSecret', keyed: true },
  testWebhook: { method: 'POST', path: '/webhooks/{webhook_id}/test' },
  getApiHistory: { method: 'GET', path: '/apis/{api_id}/history' },
  getVersionHistory: { method: 'GET', path: '/apis/{api_id}/versions/{version_id}/history' },
  getWebhookHistory: { method: 'GET', path: '/webhooks/{webhook_id}/history' },
  streamEvents: { method: 'GET', path: '/events' },
  publishEvent: { method: 'POST', path: '/events', body: 'application/cloudevents+json' },
  listEventSchemas: { method: 'GET', path: '/events/schemas' },
  getEventSchema: { method: 'GET', path: '/events/schemas/{type}/{version}' },
  listReadModels: { method: 'GET', path: '/readModels' },
  cancelRebuild: { method: 'POST', path: '/readModels/{name}/cancel' },
  rebuildReadModel: { method: 'POST', path: '/readModels/{name}/rebuild' },
  listSigningKeys: { method: 'GET', path: '/signingKeys' },
  getSystem: { method: 'GET', path: '/system' },
  getLiveness: { method: 'GET', path: '/health/live' },
  getReadiness: { method: 'GET', path: '/health/ready' },
  getMetrics: { method: 'GET', path: '/metrics', stream: true },
  getOpenapi: { method: 'GET', path: '/openapi.json' },
  getAsyncapi: { method: 'GET', path: '/asyncapi.json' },
  getJwks: { method: 'GET', path: '/.well-known/jwks.json' },
  getAuditKeys: { method: 'GET', path: '/.well-known/audit-keys.json' },
} as const

/** The stable codes of problems. */
export type ProblemCode =
  | 'malformed-request'
  | 'invalid-request'
  | 'unknown-event-types'
  | 'position-ahead'
  | 'image-missing'
  | 'image-not-alone'
  | 'image-unreadable'
  | 'document-unreachable'
  | 'document-invalid'
  | 'rule-set-invalid'
  | 'unauthenticated'
  | 'wrong-credentials'
  | 'scope-missing'
  | 'role-missing'
  | 'scopes-exceeded'
  | 'sso-login-only'
  | 'user-inactive'
  | 'not-found'
  | 'api-not-found'
  | 'version-not-found'
  | 'document-not-found'
  | 'rule-set-not-found'
  | 'image-not-found'
  | 'user-not-found'
  | 'access-token-not-found'
  | 'webhook-not-found'
  | 'environment-not-found'
  | 'recovery-not-found'
  | 'read-model-not-found'
  | 'delivery-not-found'
  | 'job-not-found'
  | 'event-schema-not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'log-replaced'
  | 'api-name-taken'
  | 'environment-name-taken'
  | 'version-name-taken'
  | 'too-many-versions'
  | 'too-many-documents'
  | 'too-many-rule-sets'
  | 'rule-set-built-in'
  | 'username-taken'
  | 'last-administrator'
  | 'not-restorable'
  | 'api-not-deployed'
  | 'deployment-running'
  | 'deployment-not-running'
  | 'too-many-webhooks'
  | 'webhook-inactive'
  | 'webhook-deleted'
  | 'owner-lacks-scope'
  | 'recovery-running'
  | 'recovery-not-running'
  | 'rebuild-not-running'
  | 'job-not-running'
  | 'too-many-jobs'
  | 'delivery-not-pending'
  | 'delivery-not-failed'
  | 'request-in-progress'
  | 'write-conflict'
  | 'position-gone'
  | 'document-gone'
  | 'precondition-failed'
  | 'body-too-large'
  | 'document-too-large'
  | 'image-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'image-type-unsupported'
  | 'range-not-satisfiable'
  | 'idempotency-key-reused'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'internal-error'
  | 'unavailable'
  | 'body-memory-full'
  | 'response-memory-full'
  | 'stream-quarantined'
  | 'too-many-checks'
  | 'too-many-exports'
  | 'too-many-replays'
  | 'events-incomplete'
  | 'not-ready'

/** The request body of a webhook with the format STANDARD. */
export type WebhookEvent =
  | Schemas['ApiCreatedPayload']
  | Schemas['ApiUpdatedPayload']
  | Schemas['ApiDeletedPayload']
  | Schemas['ApiDeployedPayload']
  | Schemas['ApiUndeployedPayload']
  | Schemas['ApiDeploymentFailedPayload']
  | Schemas['ApiVersionCreatedPayload']
  | Schemas['ApiVersionUpdatedPayload']
  | Schemas['ApiVersionDeletedPayload']
  | Schemas['ApiImageUpdatedPayload']
  | Schemas['ApiImageDeletedPayload']
  | Schemas['ApiVersionDocumentUpdatedPayload']
  | Schemas['ApiVersionDocumentDeletedPayload']
  | Schemas['WebhookFailingPayload']
  | Schemas['WebhookDisabledPayload']
  | Schemas['SubscriptionCreatedPayload']
  | Schemas['SubscriptionDeletedPayload']
  | Schemas['ApprovalRequestCreatedPayload']
  | Schemas['ApprovalRequestDecidedPayload']
  | Schemas['ConfigurationChangedPayload']
  | Schemas['ProductApiAddedPayload']
  | Schemas['ProductApiRemovedPayload']
  | Schemas['TestPayload']

/** The data of the events of GET /events, by type. */
interface EventData {
  API_CREATED: Schemas['PublishedApi']
  API_UPDATED: Schemas['PublishedApi']
  API_DELETED: Schemas['PublishedApi']
  API_DEPLOYED: Schemas['PublishedDeployment']
  API_UNDEPLOYED: Schemas['PublishedDeployment']
  API_DEPLOYMENT_FAILED: Schemas['FailedDeployment']
  API_VERSION_CREATED: Schemas['PublishedVersion']
  API_VERSION_UPDATED: Schemas['PublishedVersion']
  API_VERSION_DELETED: Schemas['PublishedVersion']
  API_IMAGE_UPDATED: Schemas['PublishedImage']
  API_IMAGE_DELETED: Schemas['PublishedImage']
  API_VERSION_DOCUMENT_UPDATED: Schemas['PublishedDocument']
  API_VERSION_DOCUMENT_DELETED: Schemas['PublishedDocument']
  WEBHOOK_FAILING: Schemas['FailingWebhook']
  WEBHOOK_DISABLED: Schemas['PublishedWebhook']
  SUBSCRIPTION_CREATED: { [name: string]: unknown }
  SUBSCRIPTION_DELETED: { [name: string]: unknown }
  APPROVAL_REQUEST_CREATED: { [name: string]: unknown }
  APPROVAL_REQUEST_DECIDED: { [name: string]: unknown }
  CONFIGURATION_CHANGED: { [name: string]: unknown }
  PRODUCT_API_ADDED: Schemas['ProductApi']
  PRODUCT_API_REMOVED: Schemas['ProductApi']
  DEPLOYMENT_REQUESTED: Schemas['DeploymentJob']
  WEBHOOK_CREATED: Schemas['PublishedWebhook']
  WEBHOOK_UPDATED: Schemas['PublishedWebhook']
  WEBHOOK_TRANSFERRED: Schemas['PublishedWebhook']
  WEBHOOK_SECRET_ROTATED: Schemas['PublishedWebhook']
  WEBHOOK_DELETED: Schemas['PublishedWebhook']
  RECOVERY_REQUESTED: {
    webhook: string
    /** ISO 8601 UTC with milliseconds */
    from: string
    /** ISO 8601 UTC with milliseconds */
    to: string
    status: Schemas['RecoveryStatus']
  }
  RECOVERY_CANCELLED: {
    webhook: string
    /** ISO 8601 UTC with milliseconds */
    from: string
    /** ISO 8601 UTC with milliseconds */
    to: string
    status: Schemas['RecoveryStatus']
  }
  DELIVERY_RETRIED: {
    webhook: string
    eventId: string
    eventType: Schemas['WebhookEventType']
    status: Schemas['DeliveryStatus']
  }
  DELIVERY_CANCELLED: {
    webhook: string
    eventId: string
    eventType: Schemas['WebhookEventType']
    status: Schemas['DeliveryStatus']
  }
  USER_CREATED: {
    id: string
    role: Schemas['Role']
    status: Schemas['ActiveStatus']
    /** Logs in through single sign-on */
    sso: boolean
    /** Locked after too many wrong passwords */
    lockedUntil?: string | null | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  USER_UPDATED: {
    id: string
    role: Schemas['Role']
    status: Schemas['ActiveStatus']
    /** Logs in through single sign-on */
    sso: boolean
    /** Locked after too many wrong passwords */
    lockedUntil?: string | null | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  USER_DELETED: {
    id: string
    role: Schemas['Role']
    status: Schemas['ActiveStatus']
    /** Logs in through single sign-on */
    sso: boolean
    /** Locked after too many wrong passwords */
    lockedUntil?: string | null | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  USER_ERASED: { [name: string]: unknown }
}

/** The values of the schemas that are lists of values, e.g. `VALUES.Scope`. */
export const VALUES = {
  ActiveStatus: ['ACTIVE', 'INACTIVE'],
  VersionStatus: ['DEVELOPMENT', 'ACTIVE', 'DEPRECATED', 'RETIRED', 'INACTIVE'],
  DocumentKind: ['openapi', 'asyncapi', 'graphql', 'protobuf', 'wsdl', 'postman', 'json-schema', 'markdown', 'other'],
  RuleSetKind: ['openapi', 'asyncapi'],
  JobStatus: ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'],
  Scope: ['API_READ', 'API_WRITE', 'ENVIRONMENT_READ', 'ENVIRONMENT_WRITE', 'USER_READ', 'USER_WRITE', 'ACCESS_TOKEN_MANAGE', 'APPLICATION_READ', 'APPLICATION_WRITE', 'PLAN_READ', 'PLAN_WRITE', 'SUBSCRIPTIONS_READ', 'SUBSCRIPTIONS_WRITE', 'CONFIGURATION_READ', 'CONFIGURATION_WRITE', 'METRICS_READ', 'ORGANIZATION_READ', 'ORGANIZATION_WRITE', 'GIT_CREDENTIALS_READ', 'GIT_CREDENTIALS_WRITE', 'DISCOVERY', 'USER_INVITATION', 'APPROVAL_REQUEST_READ', 'APPROVAL_REQUEST_WRITE', 'AUDIT_LOG_READ', 'RULE_SETS_READ', 'RULE_SETS_WRITE', 'DEV_PORTAL_READ', 'DEV_PORTAL_WRITE', 'WEBHOOKS_READ', 'WEBHOOKS_WRITE', 'TERMS_OF_USE_READ', 'TERMS_OF_USE_WRITE', 'API_GATEWAY_READ', 'API_GATEWAY_WRITE', 'JOBS_READ', 'PLAN_ASSIGN_APIS', 'READ_GOVERNANCE_DATA', 'ACCESS_TENANT_DATA', 'SELF_SERVICE', 'CROSS_ORGANIZATION_ACCESS', 'SAML_LOGIN'],
  ExportFormat: ['ndjson', 'csv', 'cef'],
  Role: ['GLOBAL_ADMIN', 'ADMIN', 'USER', 'BILLING_CONTACT', 'NO_ACCESS'],
  WebhookFormat: ['STANDARD', 'CLOUDEVENTS_STRUCTURED', 'CLOUDEVENTS_BATCHED'],
  DeliveryStatus: ['CREATED', 'SUCCESS', 'RETRYING', 'GIVE_UP', 'CANCELLED'],
  PlatformEventType: ['SUBSCRIPTION_CREATED', 'SUBSCRIPTION_DELETED', 'APPROVAL_REQUEST_CREATED', 'APPROVAL_REQUEST_DECIDED', 'CONFIGURATION_CHANGED', 'PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED'],
  DeploymentStatus: ['CREATED', 'DEPLOYMENT_IN_PROGRESS', 'DEPLOYED', 'DEPLOYMENT_FAILED', 'UNDEPLOYED'],
  DeploymentJobType: ['DEPLOY', 'UNDEPLOY'],
  ImageType: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'],
  DeploymentJobStatus: ['RUNNING', 'SUCCEEDED', 'FAILED'],
  ChangeLevel: ['BREAKING', 'COMPATIBLE', 'UNCLEAR'],
  Severity: ['ERROR', 'WARNING'],
  RuleFormat: ['oas2', 'oas3_0', 'oas3_1', 'oas3_2', 'async2', 'async3'],
  PlannedAction: ['CREATE', 'UPDATE', 'NONE'],
  JobType: ['BULK', 'IMPORT'],
  JobResultStatus: ['CREATED', 'UPDATED', 'DELETED', 'UNCHANGED', 'FAILED'],
  CredentialKind: ['LOGIN', 'ACCESS_TOKEN', 'PLATFORM_JWT'],
  CircuitState: ['CLOSED', 'OPEN', 'HALF_OPEN'],
  AttemptTrigger: ['AUTOMATIC', 'MANUAL', 'RECOVERY', 'TEST'],
  FaultSide: ['RECEIVER', 'SERVICE'],
  RecoveryStatus: ['RUNNING', 'COMPLETED', 'CANCELLED'],
  PatchOperator: ['add', 'replace', 'remove'],
  ReadModelStatus: ['LIVE', 'WAITING', 'BUILDING'],
  RebuildOutcome: ['COMPLETED', 'CANCELLED', 'FAILED'],
  KeyPurpose: ['LOGIN', 'AUDIT'],
  KeyStatus: ['NEXT', 'CURRENT', 'RETIRED', 'REVOKED'],
  ReplicaStatus: ['READY', 'NOT_READY', 'UNAVAILABLE'],
  LagKind: ['PROJECTOR', 'RELAY', 'CONSUMER'],
  StorePurpose: ['EVENT_LOG', 'READ_MODELS', 'MESSAGE_BUS', 'USER_KEYS', 'IMAGES'],
  StoreStatus: ['AVAILABLE', 'UNAVAILABLE'],
  WebhookEventType: ['API_CREATED', 'API_UPDATED', 'API_DELETED', 'API_DEPLOYED', 'API_UNDEPLOYED', 'API_DEPLOYMENT_FAILED', 'API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED', 'API_IMAGE_UPDATED', 'API_IMAGE_DELETED', 'API_VERSION_DOCUMENT_UPDATED', 'API_VERSION_DOCUMENT_DELETED', 'WEBHOOK_FAILING', 'WEBHOOK_DISABLED', 'SUBSCRIPTION_CREATED', 'SUBSCRIPTION_DELETED', 'APPROVAL_REQUEST_CREATED', 'APPROVAL_REQUEST_DECIDED', 'CONFIGURATION_CHANGED', 'PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED', 'TEST'],
  StreamedEventType: ['API_CREATED', 'API_UPDATED', 'API_DELETED', 'API_DEPLOYED', 'API_UNDEPLOYED', 'API_DEPLOYMENT_FAILED', 'API_VERSION_CREATED', 'API_VERSION_UPDATED', 'API_VERSION_DELETED', 'API_IMAGE_UPDATED', 'API_IMAGE_DELETED', 'API_VERSION_DOCUMENT_UPDATED', 'API_VERSION_DOCUMENT_DELETED', 'WEBHOOK_FAILING', 'WEBHOOK_DISABLED', 'SUBSCRIPTION_CREATED', 'SUBSCRIPTION_DELETED', 'APPROVAL_REQUEST_CREATED', 'APPROVAL_REQUEST_DECIDED', 'CONFIGURATION_CHANGED', 'PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED', 'DEPLOYMENT_REQUESTED', 'WEBHOOK_CREATED', 'WEBHOOK_UPDATED', 'WEBHOOK_TRANSFERRED', 'WEBHOOK_SECRET_ROTATED', 'WEBHOOK_DELETED', 'RECOVERY_REQUESTED', 'RECOVERY_CANCELLED', 'DELIVERY_RETRIED', 'DELIVERY_CANCELLED', 'USER_CREATED', 'USER_UPDATED', 'USER_DELETED', 'USER_ERASED'],
} as const

/** The schemas of the REST interface by name. */
export interface Schemas {
  ActiveStatus: 'ACTIVE' | 'INACTIVE'
  ApiInput: {
    /** Unique technical name */
    name: string
    /** Name for people */
    displayName: string
    /** Text for people */
    description?: string | null | undefined
    /** Base URL path, without credentials */
    url?: string | null | undefined
    status: Schemas['ActiveStatus']
    tags: Array<string>
    /** User id of the owner. If absent: the caller on create, unchanged on update */
    owner?: string | null | undefined
    /** Kind of the gateway or platform, e.g. ENVOY */
    platformType?: string | null | undefined
    /** Without password, and as http or https URL without user */
    gitUrl?: string | null | undefined
    /** Id of the credential for the repository */
    gitCredential?: string | null | undefined
  }
  RestoreInput: {
    /** A time since the creation of the API, in the past */
    at: string
  }
  EnvironmentInput: {
    /** Unique name; not a UUID, so that filters can tell it from an id */
    name: string
    /** Default: the name */
    displayName?: string | null | undefined
    /** Place in the order of environments; those without one are the last */
    position?: number | null | undefined
  }
  ImageUpload: {
    /** The image */
    file: Content
  }
  VersionInput: {
    /** Version label, unique in its API; not . or .. */
    name: string
    /** Default: the name */
    displayName?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Default: ACTIVE */
    status?: Schemas['VersionStatus'] | null | undefined
  }
  VersionStatus: 'DEVELOPMENT' | 'ACTIVE' | 'DEPRECATED' | 'RETIRED' | 'INACTIVE'
  DocumentKind: 'openapi' | 'asyncapi' | 'graphql' | 'protobuf' | 'wsdl' | 'postman' | 'json-schema' | 'markdown' | 'other'
  RuleSetInput: {
    name: string
    /** Kinds of the documents that it applies to */
    kinds?: Array<Schemas['RuleSetKind']> | undefined
    /** YAML or JSON in the format of the rules in redocly.yaml: `extends` with names of built-in sets, `rules`, and `oas2Rules`, `oas3_0Rules`, `oas3_1Rules`, `oas3_2Rules`, `async2Rules`, `async3Rules`. References to files and URLs, and plugins are refused */
    content: string
    /** Text for people */
    description?: string | null | undefined
    /** Whether it applies to documents */
    enabled?: boolean | undefined
  }
  RuleSetKind: 'openapi' | 'asyncapi'
  RuleSetPreviewInput: {
    /** YAML or JSON in the format of the rules in redocly.yaml: `extends` with names of built-in sets, `rules`, and `oas2Rules`, `oas3_0Rules`, `oas3_1Rules`, `oas3_2Rules`, `async2Rules`, `async3Rules`. References to files and URLs, and plugins are refused */
    content: string
    /** Id of the API */
    api: string
    /** Id or name of the version */
    version: string
    /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
    document: string
    /** Id of the rule set that the content would replace */
    ruleSet?: string | undefined
  }
  BulkInput: {
    /** Ids of APIs */
    ids?: Array<string> | undefined
    /** The APIs to change; not together with ids */
    filter?: Schemas['ApiFilter'] | undefined
    /** What to change in each API */
    change: Schemas['BulkChange']
  }
  /** The filters of GET /apis, combined with AND. Without any: all APIs */
  ApiFilter: {
    /** Each term is a case-insensitive substring of name or description */
    text?: string | undefined
    /** Exact name */
    name?: string | undefined
    /** Id of the owner */
    owner?: string | undefined
    /** Kind of the gateway or platform, e.g. ENVOY */
    platformType?: string | undefined
    status?: Schemas['ActiveStatus'] | undefined
    /** Deployed in the environment with this id or name */
    environment?: string | undefined
    /** Member of this product */
    product?: string | undefined
    /** Finds APIs by words, also in their documents, the best first unless sort is given. The last word may be a beginning; words of five letters or more may have one typo. Not together with text */
    q?: string | undefined
    /** Has all of these tags */
    tags?: Array<string> | undefined
    /** true: only deployed APIs; false: no filter */
    deployed?: boolean | undefined
    /** As in GET /apis */
    notDeployed?: boolean | undefined
  }
  BulkChange: {
    /** Tags to add, and tags to remove first */
    tags?: Schemas['TagChange'] | undefined
    status?: Schemas['ActiveStatus'] | undefined
    /** User id of the new owner */
    owner?: string | undefined
    /** Delete the APIs */
    delete?: Schemas['BulkDeletion'] | undefined
  }
  TagChange: {
    /** Tags to add */
    add?: Array<string> | undefined
    /** Tags to remove */
    remove?: Array<string> | undefined
  }
  BulkDeletion: {
    /** Undeploy before deletion */
    undeploy?: boolean | undefined
    /** An API that was changed later is not deleted. A list has a time for each of the `ids`, in their order. Default: the time of the request */
    unchangedSince?: unknown | undefined
  }
  JobStatus: 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  AccessTokenInput: {
    name: string
    /** Default: 90 */
    validityDays?: number | null | undefined
    scopes: Array<Schemas['Scope']>
  }
  Scope: 'API_READ' | 'API_WRITE' | 'ENVIRONMENT_READ' | 'ENVIRONMENT_WRITE' | 'USER_READ' | 'USER_WRITE' | 'ACCESS_TOKEN_MANAGE' | 'APPLICATION_READ' | 'APPLICATION_WRITE' | 'PLAN_READ' | 'PLAN_WRITE' | 'SUBSCRIPTIONS_READ' | 'SUBSCRIPTIONS_WRITE' | 'CONFIGURATION_READ' | 'CONFIGURATION_WRITE' | 'METRICS_READ' | 'ORGANIZATION_READ' | 'ORGANIZATION_WRITE' | 'GIT_CREDENTIALS_READ' | 'GIT_CREDENTIALS_WRITE' | 'DISCOVERY' | 'USER_INVITATION' | 'APPROVAL_REQUEST_READ' | 'APPROVAL_REQUEST_WRITE' | 'AUDIT_LOG_READ' | 'RULE_SETS_READ' | 'RULE_SETS_WRITE' | 'DEV_PORTAL_READ' | 'DEV_PORTAL_WRITE' | 'WEBHOOKS_READ' | 'WEBHOOKS_WRITE' | 'TERMS_OF_USE_READ' | 'TERMS_OF_USE_WRITE' | 'API_GATEWAY_READ' | 'API_GATEWAY_WRITE' | 'JOBS_READ' | 'PLAN_ASSIGN_APIS' | 'READ_GOVERNANCE_DATA' | 'ACCESS_TENANT_DATA' | 'SELF_SERVICE' | 'CROSS_ORGANIZATION_ACCESS' | 'SAML_LOGIN'
  ExportFormat: 'ndjson' | 'csv' | 'cef'
  Credentials: {
    username: string
    /** The password */
    password: string
  }
  PasswordChange: {
    /** The present password */
    password: string
    /** Write-only; at least 12 characters */
    newPassword: string
  }
  Role: 'GLOBAL_ADMIN' | 'ADMIN' | 'USER' | 'BILLING_CONTACT' | 'NO_ACCESS'
  UserInput: {
    /** Unique. Stored and compared in Unicode NFC. Must not contain invisible characters, or mix scripts whose letters look alike */
    username: string
    /** Default: the username */
    displayName?: string | null | undefined
    /** Email address; null if there is none */
    email?: string | null | undefined
    role?: Schemas['Role'] | null | undefined
    status?: Schemas['ActiveStatus'] | null | undefined
    /** Logs in through single sign-on */
    sso?: boolean | null | undefined
    /** Required unless sso */
    password?: string | null | undefined
  }
  UserUpdate: {
    /** Unique. Stored and compared in Unicode NFC. Must not contain invisible characters, or mix scripts whose letters look alike */
    username: string
    /** Default: the username */
    displayName?: string | null | undefined
    /** Email address; null if there is none */
    email?: string | null | undefined
    role?: Schemas['Role'] | null | undefined
    status?: Schemas['ActiveStatus'] | null | undefined
    /** Logs in through single sign-on */
    sso?: boolean | null | undefined
    /** Unchanged when absent */
    password?: string | null | undefined
  }
  WebhookInput: {
    /** Default: a slug of displayName */
    name?: string | null | undefined
    /** Name for people */
    displayName: string
    /** http or https, without credentials. A host that is an IP address must be public or in WEBHOOK_ALLOWED_CIDRS; so must the loopback addresses for localhost. Another host name is resolved and checked at each attempt */
    url: string
    /** Whether events are delivered to it */
    active: boolean
    /** Types of the events to deliver */
    eventTypes: Array<Schemas['WebhookEventType']>
    /** Whether the events of a resource are delivered one after another. Default: false */
    ordered?: boolean | null | undefined
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. Default: STANDARD */
    format?: Schemas['WebhookFormat'] | null | undefined
  }
  WebhookFormat: 'STANDARD' | 'CLOUDEVENTS_STRUCTURED' | 'CLOUDEVENTS_BATCHED'
  /** CREATED: no attempt has ended yet. RETRYING: an attempt failed, or a user requested a retry, and an attempt follows. SUCCESS: the endpoint answered 2xx. GIVE_UP: no attempt follows, because the last one of the schedule or the only one of a test failed, or the endpoint answered 410. CANCELLED: no attempt follows, because a user cancelled the delivery or the webhook was deleted */
  DeliveryStatus: 'CREATED' | 'SUCCESS' | 'RETRYING' | 'GIVE_UP' | 'CANCELLED'
  WebhookUpdate: {
    /** Unchanged when absent */
    name?: string | null | undefined
    /** Name for people */
    displayName: string
    /** http or https, without credentials. A host that is an IP address must be public or in WEBHOOK_ALLOWED_CIDRS; so must the loopback addresses for localhost. Another host name is resolved and checked at each attempt */
    url: string
    /** Unchanged when absent */
    active?: boolean | null | undefined
    /** Types of the events to deliver */
    events?: Array<Schemas['WebhookEventType']> | null | undefined
    /** Alias of events */
    eventTypes?: Array<Schemas['WebhookEventType']> | null | undefined
    /** Whether the events of a resource are delivered one after another. Unchanged when absent */
    ordered?: boolean | null | undefined
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. Applies to deliveries that are created later. Unchanged when absent */
    format?: Schemas['WebhookFormat'] | null | undefined
    /** Id of an active user. Only administrators may change it, to transfer the webhook. Unchanged when absent */
    owner?: string | null | undefined
  }
  RecoveryInput: {
    /** Start of the time range; at most as long ago as deliveries are kept */
    from: string
    /** End of the time range, in the past. Default: now */
    to?: string | null | undefined
  }
  CloudEvent: {
    /** Version of CloudEvents */
    specversion: '1.0'
    id: string
    /** Where the event happened */
    source: string
    type: Schemas['PlatformEventType']
    /** Not before 1970, and not more than 24 hours in the future */
    time?: string | null | undefined
    /** What the event is about */
    subject?: string | null | undefined
    /** Media type of data */
    datacontenttype?: string | null | undefined
    /** At most 64 levels deep, 10000 members at all levels, and 262144 bytes as JSON */
    data: { [name: string]: unknown }
  }
  PlatformEventType: 'SUBSCRIPTION_CREATED' | 'SUBSCRIPTION_DELETED' | 'APPROVAL_REQUEST_CREATED' | 'APPROVAL_REQUEST_DECIDED' | 'CONFIGURATION_CHANGED' | 'PRODUCT_API_ADDED' | 'PRODUCT_API_REMOVED'
  /** An API was created */
  ApiCreatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_CREATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedApi']
  }
  PublishedApi: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Text for people */
    description: string | null
    /** URL or path */
    url: string | null
    status: Schemas['ActiveStatus']
    tags: Array<string>
    /** Id of the owner */
    owner: string | null
    /** Kind of the gateway or platform, e.g. ENVOY */
    platformType: string | null
    /** Address of the repository */
    gitUrl: string | null
    /** Id of the credential for the repository */
    gitCredential?: string | null | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Whether it has an image */
    hasImage: boolean
    /** State of the deployments */
    deploymentStatus: Schemas['DeploymentStatus']
  }
  DeploymentStatus: 'CREATED' | 'DEPLOYMENT_IN_PROGRESS' | 'DEPLOYED' | 'DEPLOYMENT_FAILED' | 'UNDEPLOYED'
  /** An API was changed */
  ApiUpdatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_UPDATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedApi']
  }
  /** An API was deleted; data is its last state */
  ApiDeletedPayload: {
    /** Id of the event */
    id: string
    type: 'API_DELETED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedApi']
  }
  /** An API was deployed to an environment */
  ApiDeployedPayload: {
    /** Id of the event */
    id: string
    type: 'API_DEPLOYED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedDeployment']
  }
  PublishedDeployment: {
    /** Id of the API, or the API */
    api: Schemas['PublishedApi']
    /** Id of the environment */
    environment: string
    /** Id of the job */
    job: string
  }
  /** An API was undeployed from an environment */
  ApiUndeployedPayload: {
    /** Id of the event */
    id: string
    type: 'API_UNDEPLOYED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedDeployment']
  }
  /** A deployment job failed */
  ApiDeploymentFailedPayload: {
    /** Id of the event */
    id: string
    type: 'API_DEPLOYMENT_FAILED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['FailedDeployment']
  }
  FailedDeployment: {
    /** Id of the API, or the API */
    api: Schemas['PublishedApi']
    /** Id of the environment */
    environment: string
    /** Id of the job */
    job: string
    type: Schemas['DeploymentJobType']
    /** Text for people */
    message: string | null
  }
  DeploymentJobType: 'DEPLOY' | 'UNDEPLOY'
  /** A version was created */
  ApiVersionCreatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_VERSION_CREATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedVersion']
  }
  PublishedVersion: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Text for people */
    description: string | null
    status: Schemas['VersionStatus']
    /** Id of the API, or the API */
    api: string
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  /** A version was changed */
  ApiVersionUpdatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_VERSION_UPDATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedVersion']
  }
  /** A version was deleted; data is its last state */
  ApiVersionDeletedPayload: {
    /** Id of the event */
    id: string
    type: 'API_VERSION_DELETED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedVersion']
  }
  /** An API got a new image */
  ApiImageUpdatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_IMAGE_UPDATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedImage']
  }
  PublishedImage: {
    /** Media type of the image */
    contentType: Schemas['ImageType']
    /** Bytes */
    size: number
    /** Pixels */
    width: number
    /** Pixels */
    height: number
    /** Hexadecimal */
    sha256: string
    /** Id of the API, or the API */
    api: string
  }
  ImageType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/svg+xml'
  /** The image of an API was deleted */
  ApiImageDeletedPayload: {
    /** Id of the event */
    id: string
    type: 'API_IMAGE_DELETED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedImage']
  }
  /** A version got a document, or another content of it */
  ApiVersionDocumentUpdatedPayload: {
    /** Id of the event */
    id: string
    type: 'API_VERSION_DOCUMENT_UPDATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedDocument']
  }
  PublishedDocument: {
    name: string
    /** Kind of the document, or of what is measured */
    kind: Schemas['DocumentKind']
    /** Media type with which it was uploaded */
    mediaType: string
    /** Bytes */
    size: number
    /** Hexadecimal. In double quotes it is the ETag of the document */
    sha256: string
    /** Whether it describes the version; one document of a version does */
    primary: boolean
    title: string | null
    /** The version that the document names */
    version: string | null
    /** What the document describes */
    counts: Schemas['PublishedDocumentCounts']
    /** Number of violations of the schema. What breaks rules of rule sets is not counted here */
    findings: Schemas['PublishedFindingCounts']
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Id of the user */
    updatedBy: string | null
    /** Id of the API, or the API */
    api: string
    /** Id of the version */
    apiVersion: string
    /** Whether it breaks clients of the document of this name in the version created before; null if that is not known */
    breaking: boolean | null
  }
  PublishedDocumentCounts: {
    /** Number of operations */
    operations: number
    /** Number of schemas */
    schemas: number
  }
  PublishedFindingCounts: {
    /** The faults, or their number */
    errors: number
    /** Number of warnings */
    warnings: number
  }
  /** A document of a version was deleted; data is its last state */
  ApiVersionDocumentDeletedPayload: {
    /** Id of the event */
    id: string
    type: 'API_VERSION_DOCUMENT_DELETED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedDocument']
  }
  /** No delivery to another webhook has succeeded for a day; sent again after three days */
  WebhookFailingPayload: {
    /** Id of the event */
    id: string
    type: 'WEBHOOK_FAILING'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['FailingWebhook']
  }
  FailingWebhook: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** Whether events are delivered to it */
    active: boolean
    /** Types of the events to deliver */
    eventTypes: Array<Schemas['WebhookEventType']>
    /** Whether the events of a resource are delivered one after another. A delivery waits until the previous one has a final status */
    ordered?: boolean | undefined
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. */
    format?: Schemas['WebhookFormat'] | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Why the service disabled the webhook: owner-lacks-scope if the owner was deleted, is inactive, or has a role without the scope of an event type; otherwise a text: the endpoint answered 410, or in 5 days no delivery succeeded and at least 20 failed */
    disabledReason: string | null
    /** Id of the user who created it, or to whom an administrator has transferred it */
    owner?: string | null | undefined
    /** ISO 8601 UTC with milliseconds */
    failingSince: string
    /** Failed deliveries since then; not counted beyond 20 */
    failedDeliveries: number
  }
  /** The service disabled another webhook; disabledReason says why */
  WebhookDisabledPayload: {
    /** Id of the event */
    id: string
    type: 'WEBHOOK_DISABLED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['PublishedWebhook']
  }
  PublishedWebhook: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** Whether events are delivered to it */
    active: boolean
    /** Types of the events to deliver */
    eventTypes: Array<Schemas['WebhookEventType']>
    /** Whether the events of a resource are delivered one after another. A delivery waits until the previous one has a final status */
    ordered?: boolean | undefined
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. */
    format?: Schemas['WebhookFormat'] | undefined
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Why the service disabled the webhook: owner-lacks-scope if the owner was deleted, is inactive, or has a role without the scope of an event type; otherwise a text: the endpoint answered 410, or in 5 days no delivery succeeded and at least 20 failed */
    disabledReason: string | null
    /** Id of the user who created it, or to whom an administrator has transferred it */
    owner?: string | null | undefined
  }
  /** A subscription to an API was created */
  SubscriptionCreatedPayload: {
    /** Id of the event */
    id: string
    type: 'SUBSCRIPTION_CREATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
  }
  /** A subscription ended */
  SubscriptionDeletedPayload: {
    /** Id of the event */
    id: string
    type: 'SUBSCRIPTION_DELETED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
  }
  /** An approval was requested */
  ApprovalRequestCreatedPayload: {
    /** Id of the event */
    id: string
    type: 'APPROVAL_REQUEST_CREATED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
  }
  /** An approval request was granted or refused */
  ApprovalRequestDecidedPayload: {
    /** Id of the event */
    id: string
    type: 'APPROVAL_REQUEST_DECIDED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
  }
  /** The configuration of the platform was changed; values of keys that name secrets, and secrets in texts, are *** */
  ConfigurationChangedPayload: {
    /** Id of the event */
    id: string
    type: 'CONFIGURATION_CHANGED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
  }
  /** An API was added to a product */
  ProductApiAddedPayload: {
    /** Id of the event */
    id: string
    type: 'PRODUCT_API_ADDED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['ProductApi']
  }
  ProductApi: {
    /** Id of the product */
    product: string
    /** Id of the API, or the API */
    api: string
  }
  /** An API was removed from a product */
  ProductApiRemovedPayload: {
    /** Id of the event */
    id: string
    type: 'PRODUCT_API_REMOVED'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['ProductApi']
  }
  /** A test delivery was requested */
  TestPayload: {
    /** Id of the event */
    id: string
    type: 'TEST'
    /** When it happened */
    timestamp: string
    /** The subject of the event, by its type */
    data: Schemas['TestMessage']
  }
  TestMessage: {
    /** Id of the webhook */
    webhook: string
    /** Text for people */
    message: string
  }
  ProblemFault: {
    /** The field of the body, or the parameter */
    field?: string | undefined
    /** Text for people */
    message: string
    /** Line, from 1; null if it is not known */
    line?: number | null | undefined
    /** Column in the line, from 1; null if it is not known */
    column?: number | null | undefined
    /** JSON Pointer (RFC 6901); null for other syntaxes */
    pointer?: string | null | undefined
    [name: string]: unknown
  }
  ApiPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Api']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Api: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Text for people */
    description: string | null
    /** URL or path */
    url: string | null
    status: Schemas['ActiveStatus']
    tags: Array<string>
    /** Id of the owner */
    owner: string | null
    /** Kind of the gateway or platform, e.g. ENVOY */
    platformType: string | null
    /** Address of the repository */
    gitUrl: string | null
    /** Id of the credential for the repository */
    gitCredential: string | null
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Whether it has an image */
    hasImage: boolean
    /** State of the deployments */
    deploymentStatus: Schemas['DeploymentStatus']
    /** Display name of the owner; null if it is not known */
    ownerDisplayName: string | null
    /** In lists with q: where the fields of the record have the words of q. By field, or tags.{index} for a tag; ranges [start, end] in UTF-16 code units, the end exclusive */
    highlights?: { [name: string]: Array<Array<number>> } | undefined
    /** In lists with scoreBelow: the lowest score of its documents */
    score?: number | undefined
    /** Environments to which it is deployed */
    deployedOn?: Array<Schemas['Deployment']> | undefined
    /** Jobs that run */
    runningJobs?: Array<Schemas['RunningJob']> | undefined
    /** Documents of the versions */
    documents?: Array<Schemas['AttachedVersionDocument']> | undefined
  }
  Deployment: {
    /** Id of the environment */
    environment: string
    /** Null while the environment has no name */
    environmentName: string | null
    /** ISO 8601 UTC with milliseconds */
    deployedAt: string
  }
  RunningJob: {
    id: string
    type: Schemas['DeploymentJobType']
    /** Id of the environment */
    environment: string
    status: Schemas['DeploymentJobStatus']
    /** ISO 8601 UTC with milliseconds */
    startedAt: string
    /** Null while the environment has no name */
    environmentName: string | null
  }
  DeploymentJobStatus: 'RUNNING' | 'SUCCEEDED' | 'FAILED'
  AttachedVersionDocument: {
    name: string
    /** Kind of the document, or of what is measured */
    kind: Schemas['DocumentKind']
    /** Whether it describes the version; one document of a version does */
    primary: boolean
    /** What the document describes */
    counts: Schemas['DocumentCounts']
    /** Id of the version */
    version: string
  }
  ApiFacets: {
    /** Number of APIs that the filters let pass */
    totalElements: number
    status: Array<Schemas['StatusCount']>
    /** State of the deployments */
    deploymentStatus: Array<Schemas['DeploymentStatusCount']>
    /** By whether they are deployed */
    deployed: Array<Schemas['DeployedCount']>
    /** Kind of the gateway or platform, e.g. ENVOY */
    platformType: Array<Schemas['TextCount']>
    tags: Array<Schemas['TextCount']>
    /** Id of the owner */
    owner: Array<Schemas['OwnerCount']>
    /** Id of the environment */
    environment: Array<Schemas['IdCount']>
    /** Id of the product */
    product: Array<Schemas['IdCount']>
  }
  StatusCount: {
    /** The value */
    value: Schemas['ActiveStatus']
    /** Number of APIs with the value */
    count: number
  }
  DeploymentStatusCount: {
    /** The value */
    value: Schemas['DeploymentStatus']
    /** Number of APIs with the value */
    count: number
  }
  DeployedCount: {
    /** The value */
    value: boolean
    /** Number of APIs with the value */
    count: number
  }
  TextCount: {
    /** The value */
    value: string
    /** Number of APIs with the value */
    count: number
  }
  OwnerCount: {
    /** The value */
    value: string
    /** Name for people */
    displayName: string | null
    /** Number of APIs with the value */
    count: number
  }
  IdCount: {
    /** The value */
    value: string
    /** Number of APIs with the value */
    count: number
  }
  DeploymentJob: {
    id: string
    type: Schemas['DeploymentJobType']
    /** Id of the API, or the API */
    api: string
    /** Id of the environment */
    environment: string
    status: Schemas['DeploymentJobStatus']
    /** ISO 8601 UTC with milliseconds */
    startedAt: string
  }
  EnvironmentPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Environment']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Environment: {
    id: string
    /** Null until it is set */
    name: string | null
    /** Name for people */
    displayName: string | null
    /** Place in the order; null for the end */
    position: number | null
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Number of APIs that are deployed in it */
    apis: number
  }
  Image: {
    /** Media type of the image */
    contentType: Schemas['ImageType']
    /** Bytes */
    size: number
    /** Pixels */
    width: number
    /** Pixels */
    height: number
    /** Hexadecimal */
    sha256: string
  }
  VersionPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Version']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Version: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Text for people */
    description: string | null
    status: Schemas['VersionStatus']
    /** Id of the API, or the API */
    api: string
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  DocumentPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Document']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Document: {
    name: string
    /** Kind of the document, or of what is measured */
    kind: Schemas['DocumentKind']
    /** Media type with which it was uploaded */
    mediaType: string
    /** Bytes */
    size: number
    /** Hexadecimal. In double quotes it is the ETag of the document */
    sha256: string
    /** Whether it describes the version; one document of a version does */
    primary: boolean
    title: string | null
    /** The version that the document names */
    version: string | null
    /** What the document describes */
    counts: Schemas['DocumentCounts']
    /** Number of violations of the schema. What breaks rules of rule sets is not counted here */
    findings: Schemas['FindingCounts']
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Id of the user */
    updatedBy: string | null
    /** From 100, of its findings: each broken rule takes 5 to 40 % (errors) or 1 to 10 % (warnings) of the points left, the more, the more places it has for each operation and schema. The errors of the schema count as one rule, and its warnings as another. Null for kinds without rules, with `at`, and until the rules are applied */
    score: number | null
  }
  DocumentDiff: {
    /** Whether a change is BREAKING; null if none is, and one is UNCLEAR */
    breaking: boolean | null
    /** At most 1,000: BREAKING first, then UNCLEAR */
    changes: Array<Schemas['DocumentChange']>
    /** Whether there are more changes */
    truncated: boolean
    /** The earlier document */
    from: Schemas['ComparedDocument']
  }
  DocumentChange: {
    /** Place in the document: JSON Pointer, or name, or `line N` of other syntaxes; of what was removed, in the earlier one */
    pointer: string
    /** Whether clients of the earlier document keep working */
    level: Schemas['ChangeLevel']
    /** Text for people */
    message: string
    /** Line of the place in this document, or of the nearest value around it; null for other syntaxes than JSON and YAML */
    line: number | null
    /** Line of the place in the earlier document, or of the nearest value around it; null for other syntaxes than JSON and YAML */
    fromLine: number | null
  }
  ChangeLevel: 'BREAKING' | 'COMPATIBLE' | 'UNCLEAR'
  ComparedDocument: {
    /** Id of the version */
    version: string
    /** Name of the document */
    document: string
  }
  FindingPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Finding']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
    /** How often each rule is broken, on all pages, findings that are not kept included */
    rules: Array<Schemas['BrokenRule']>
    /** Whether a rule set finds more than is kept */
    truncated: boolean
  }
  Finding: {
    /** How grave it is */
    severity: Schemas['Severity']
    /** Stable, kebab-case; the name of the rule of a rule set */
    code: string
    /** Text for people */
    message: string
    /** Line, from 1; null if it is not known */
    line: number | null
    /** Column in the line, from 1; null if it is not known */
    column: number | null
    /** JSON Pointer (RFC 6901); null for other syntaxes */
    pointer: string | null
    /** Name of the rule set; null for the schema of the kind */
    ruleSet: string | null
  }
  Severity: 'ERROR' | 'WARNING'
  BrokenRule: {
    /** Name of the rule set; null for the schema of the kind */
    ruleSet: string | null
    /** Stable, kebab-case; the name of the rule of a rule set */
    code: string
    /** How grave it is */
    severity: Schemas['Severity']
    /** Number of findings */
    places: number
  }
  OperationPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Operation']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Operation: {
    /** Id of the API, or the API */
    api: string
    /** Id of the version */
    version: string
    /** Name of the document */
    document: string
    /** Method; SEND or RECEIVE (AsyncAPI); QUERY, MUTATION or SUBSCRIPTION (GraphQL); RPC (Protobuf, WSDL) */
    method: string
    /** Path; name of a webhook (OpenAPI); channel (AsyncAPI); type and field (GraphQL); service and method (Protobuf, WSDL) */
    path: string
    /** Id that the document gives; null without one */
    operationId: string | null
    /** Summary; null without one */
    summary: string | null
    tags: Array<string>
    /** Whether the document declares it deprecated */
    deprecated: boolean
  }
  RuleSetPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['RuleSet']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  RuleSet: {
    id: string
    name: string
    /** Text for people */
    description: string | null
    /** Whether it applies to documents */
    enabled: boolean
    /** Kinds of the documents that it applies to */
    kinds: Array<Schemas['RuleSetKind']>
    /** The items of the page, or the text */
    content: string
    /** Whether its kinds and content cannot be changed */
    builtIn: boolean
    /** Null for the built-in set until it is changed */
    createdAt: string | null
    /** Time of the last change */
    updatedAt: string | null
    /** Id of the user */
    updatedBy: string | null
    /** Null unless it is enabled */
    progress: Schemas['RuleSetProgress'] | null
  }
  RuleSetProgress: {
    /** Number of documents that it was applied to as it is now */
    linted: number
    /** Number of documents of its kinds */
    total: number
  }
  RuleSetPreview: {
    /** The score of the document with these rules and what the other enabled rule sets found */
    score: number
    /** Number of errors that the rules find */
    errors: number
    /** Number of warnings that the rules find */
    warnings: number
    /** At most 500, errors first */
    findings: Array<Schemas['RuleFinding']>
    /** Whether there are more findings */
    truncated: boolean
  }
  RuleFinding: {
    /** How grave it is */
    severity: Schemas['Severity']
    /** Stable, kebab-case; the name of the rule of a rule set */
    code: string
    /** Text for people */
    message: string
    /** Line, from 1; null if it is not known */
    line: number | null
    /** Column in the line, from 1; null if it is not known */
    column: number | null
    /** JSON Pointer (RFC 6901); null for other syntaxes */
    pointer: string | null
  }
  EffectiveRules: {
    /** The items of the page, or the text */
    content: Array<Schemas['EffectiveRule']>
  }
  EffectiveRule: {
    name: string
    /** How grave it is */
    severity: Schemas['Severity']
    /** Where the rule has this severity, as in the names of groups of rules */
    formats: Array<Schemas['RuleFormat']>
  }
  RuleFormat: 'oas2' | 'oas3_0' | 'oas3_1' | 'oas3_2' | 'async2' | 'async3'
  ApiCatalog: {
    /** Links by API */
    linkset: Array<Schemas['ApiLinks']>
  }
  ApiLinks: {
    /** URL of the API */
    anchor: string
    /** Descriptions for machines (RFC 8631) */
    'service-desc'?: Array<Schemas['Link']> | undefined
    /** Documentation for people (RFC 8631) */
    'service-doc'?: Array<Schemas['Link']> | undefined
    /** Other documents */
    related?: Array<Schemas['Link']> | undefined
  }
  Link: {
    /** URL */
    href: string
    title?: string | undefined
  }
  ImportOutcome: Schemas['Api'] | Schemas['ImportPlan']
  ImportPlan: {
    /** Id of the API, or the API */
    api: Schemas['PlannedApi']
    /** The version */
    version: Schemas['PlannedVersion']
    /** The document, and what is done with it */
    document: Schemas['PlannedDocument']
    /** Number of violations of the schema. What breaks rules of rule sets is not counted here */
    findings: Schemas['FindingCounts']
  }
  PlannedApi: {
    /** What was done, or will be done */
    action: Schemas['PlannedAction']
    /** Null for what does not exist yet */
    id: string | null
    name: string
    /** Name for people */
    displayName: string
  }
  PlannedAction: 'CREATE' | 'UPDATE' | 'NONE'
  PlannedVersion: {
    /** What was done, or will be done */
    action: Schemas['PlannedAction']
    /** Null for what does not exist yet */
    id: string | null
    name: string
  }
  PlannedDocument: {
    /** What was done, or will be done */
    action: Schemas['PlannedAction']
    name: string
    /** Kind of the document, or of what is measured */
    kind: Schemas['DocumentKind']
  }
  Job: {
    id: string
    type: Schemas['JobType']
    status: Schemas['JobStatus']
    /** Number of items */
    total: number
    /** Number of items that succeeded */
    done: number
    /** Number of items that failed */
    failed: number
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** Time of the beginning; null before */
    startedAt: string | null
    /** Time of the end; null before */
    finishedAt: string | null
    /** Id of the user */
    createdBy: string
    /** Why the job has failed; null unless it is FAILED */
    problem: Schemas['JobProblem'] | null
    /** What is done to each API; null for an import */
    change: Schemas['JobChange'] | null
  }
  JobType: 'BULK' | 'IMPORT'
  JobProblem: {
    /** Stable, kebab-case */
    code: string
    title: string
    /** What is wrong with this request */
    detail: string
    /** The faults, or their number */
    errors?: Array<Schemas['JobFault']> | undefined
  }
  JobFault: {
    /** Text for people */
    message: string
    [name: string]: unknown
  }
  JobChange: {
    /** Tags that are added, and tags that are removed first */
    tags?: Schemas['JobTagChange'] | undefined
    status?: Schemas['ActiveStatus'] | undefined
    /** User id of the new owner */
    owner?: string | undefined
    /** The APIs are deleted */
    delete?: Schemas['JobDeletion'] | undefined
  }
  JobTagChange: {
    /** Tags to add */
    add: Array<string>
    /** Tags to remove */
    remove: Array<string>
  }
  JobDeletion: {
    /** Whether APIs are undeployed before deletion */
    undeploy: boolean
    /** An API that was changed later is not deleted */
    unchangedSince?: string | undefined
  }
  JobPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Job']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  JobResultPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['JobResult']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  JobResult: {
    /** Id of the API; in an import its name, or the number of the line if it failed, without empty lines */
    item: string
    status: Schemas['JobResultStatus']
    /** Id of the API, if it is known */
    api: string | null
    /** Why it failed; null otherwise */
    problem: Schemas['JobProblem'] | null
  }
  JobResultStatus: 'CREATED' | 'UPDATED' | 'DELETED' | 'UNCHANGED' | 'FAILED'
  AccessTokenPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['AccessToken']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  AccessToken: {
    id: string
    name: string
    scopes: Array<Schemas['Scope']>
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** createdAt and validityDays of the request */
    validUntil: string
    /** Time of a use, at most 10 minutes before the last one: uses are recorded every 10 minutes. Null before the first use */
    lastUsedAt: string | null
  }
  NewAccessToken: {
    id: string
    name: string
    scopes: Array<Schemas['Scope']>
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** createdAt and validityDays of the request */
    validUntil: string
    /** Time of a use, at most 10 minutes before the last one: uses are recorded every 10 minutes. Null before the first use */
    lastUsedAt: string | null
  } & ({
    /** The secret. Shown only in this response */
    token: string
    secretWithheld?: never | undefined
  } | {
    token: null
    /** true if the response is repeated for an Idempotency-Key and the caller has another credential than the one that received the secret. The secret is then null */
    secretWithheld: true
  })
  AuditPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['AuditRecord']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  AuditRecord: {
    id: string
    /** ISO 8601 UTC with milliseconds */
    timestamp: string
    /** The user */
    user: Schemas['AuditUser']
    /** What was done, or will be done */
    action: string
    /** Type of the resource */
    resourceType: string
    /** Id of the resource */
    resourceId: string
    /** The resource before and after */
    details: Schemas['AuditDetails']
    /** Id of the environment of a deployment or an undeployment; null for other changes */
    environment: string | null
    /** Id of the request */
    requestId: string
    /** Network address of the caller. Null when it is unknown, and when the user is erased */
    address: string | null
    /** Number of the record in the hash chain, from 1 */
    number: number
    /** Position in the event log */
    position: string
    /** Time of recording by the store's clock */
    recordedAt: string
  }
  /** Who made the change. id is null for changes by the service itself, whose part is then the username. username is the present one, the last one of a deleted user, and null when the user is erased */
  AuditUser: {
    id: string | null
    username: string | null
  }
  AuditDetails: {
    /** The resource before the change; null for a creation */
    before: { [name: string]: unknown } | null
    /** The resource after the change; null after a deletion */
    after: { [name: string]: unknown } | null
  }
  AuthenticatedUser: {
    id: string
    username: string
    /** Name for people */
    displayName: string
    /** Email address; null if there is none */
    email: string | null
    role: Schemas['Role']
    status: Schemas['ActiveStatus']
  }
  Session: {
    /** The user */
    user: Schemas['AuthenticatedUser']
    /** What the credential may do: the scopes of the role; for an access token, those of them that the token has as well */
    scopes: Array<Schemas['Scope']>
    /** Kind of the credential */
    credential: Schemas['CredentialKind']
    /** The access token, if the credential is one */
    accessToken: Schemas['UsedAccessToken'] | null
    /** When the credential expires unless it is revoked before */
    expiresAt: string
  }
  CredentialKind: 'LOGIN' | 'ACCESS_TOKEN' | 'PLATFORM_JWT'
  UsedAccessToken: {
    id: string
    name: string
  }
  UserPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['User']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  User: {
    id: string
    username: string
    /** Name for people */
    displayName: string
    /** Email address; null if there is none */
    email: string | null
    role: Schemas['Role']
    status: Schemas['ActiveStatus']
    /** Logs in through single sign-on */
    sso: boolean
    /** Locked after too many wrong passwords */
    lockedUntil: string | null
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
  }
  Erasure: {
    /** Id of the user, which APIs and audit records keep */
    id: string
    /** ISO 8601 UTC with milliseconds */
    erasedAt: string
    /** When the last backup of user keys that may still have the key is to be deleted */
    backupsErasedAt: string
  }
  AuditProofs: {
    /** The items of the page, or the text */
    content: Array<Schemas['AuditDayRoot']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
    /** The signed end of the chain; null when the log differs from its roots */
    head: Schemas['AuditChainHead'] | null
    /** What was changed in the event log or the audit log; nothing is signed until it is restored */
    problem: string | null
  }
  AuditDayRoot: {
    /** UTC day of recording */
    day: string
    /** Number of records of the day */
    count: number
    /** First record of the day; null without records */
    first: Schemas['RecordPlace'] | null
    /** Last record of the day; null without records */
    last: Schemas['RecordPlace'] | null
    /** The resource before the change; null for a creation */
    before: Schemas['ChainPoint']
    /** The resource after the change; null after a deletion */
    after: Schemas['ChainPoint']
    /** The hash of all events that the chain covers */
    log: Schemas['LogPoint']
    /** Id of a key in /.well-known/audit-keys.json */
    kid: string
    /** ISO 8601 UTC with milliseconds */
    signedAt: string
    /** Ed25519, base64url; docs/audit.md says what is signed */
    signature: string
    /** Whether the signature is valid and the audit log still leads to the signed hash */
    valid: boolean
  }
  RecordPlace: {
    /** Number of the record in the hash chain, from 1 */
    number: number
    /** Position in the event log */
    position: string
  }
  /** The hash chain after a record; number 0 is its beginning */
  ChainPoint: {
    /** Number of the record in the hash chain, from 1 */
    number: number
    /** Position in the event log */
    position: string
    /** SHA-256 of the hash before and of the record, hexadecimal */
    chainHash: string
  }
  /** The hash of all events that the chain covers, also of those without a record */
  LogPoint: {
    /** Number of covered events up to here */
    events: number
    /** Position in the event log of the last of them */
    position: string
    /** SHA-256, hexadecimal */
    hash: string
  }
  AuditChainHead: {
    /** Number of the record in the hash chain, from 1 */
    number: number
    /** Position in the event log */
    position: string
    /** SHA-256 of the hash before and of the record, hexadecimal */
    chainHash: string
    /** The hash of all events that the chain covers */
    log: Schemas['LogPoint']
    /** Id of a key in /.well-known/audit-keys.json */
    kid: string
    /** ISO 8601 UTC with milliseconds */
    signedAt: string
    /** Ed25519, base64url; docs/audit.md says what is signed */
    signature: string
  }
  WebhookPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Webhook']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Webhook: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** Whether events are delivered to it */
    active: boolean
    /** Types of the events to deliver */
    eventTypes: Array<Schemas['WebhookEventType']>
    /** Whether the events of a resource are delivered one after another. A delivery waits until the previous one has a final status */
    ordered: boolean
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. */
    format: Schemas['WebhookFormat']
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Why the service disabled the webhook: owner-lacks-scope if the owner was deleted, is inactive, or has a role without the scope of an event type; otherwise a text: the endpoint answered 410, or in 5 days no delivery succeeded and at least 20 failed */
    disabledReason: string | null
    /** Id of the user who created it, or to whom an administrator has transferred it */
    owner: string | null
    /** Null for an earlier time (`at`), and in the response to a change if it cannot be read at the moment */
    health: Schemas['WebhookHealth'] | null
    /** After a rotation: until when deliveries also have a signature of an old secret; null if they have none, and for an earlier time (`at`) */
    oldSecretValidUntil: string | null
  }
  WebhookHealth: {
    /** How many attempts the figures cover: the latest 100 to the current url, from the 50 deliveries that were attempted last. Attempts that failed by a fault of the service do not count, except resolver-failed */
    attempts: number
    /** Null without an attempt */
    successRate: number | null
    /** 95 % of the attempts took at most this time, in milliseconds; null without an attempt */
    p95LatencyMs: number | null
    /** Failed attempts since the last success */
    consecutiveFailures: number
    /** Time of the first of them, as far as known; null if the last attempt has succeeded */
    failingSince: string | null
    /** State of the circuit breaker */
    circuit: Schemas['CircuitState']
    /** End of the pause that begins when the circuit opens, also if it has passed: until then only attempts that a user requests are made. Null while CLOSED */
    pausedUntil: string | null
  }
  /** OPEN: after 10 failures in a row no attempts are made until pausedUntil. HALF_OPEN: the next attempt decides. As it follows from the attempts; a restarted service begins with CLOSED */
  CircuitState: 'CLOSED' | 'OPEN' | 'HALF_OPEN'
  NewWebhook: {
    id: string
    name: string
    /** Name for people */
    displayName: string
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** Whether events are delivered to it */
    active: boolean
    /** Types of the events to deliver */
    eventTypes: Array<Schemas['WebhookEventType']>
    /** Whether the events of a resource are delivered one after another. A delivery waits until the previous one has a final status */
    ordered: boolean
    /** The body of a request: STANDARD has id, type, timestamp and data; CLOUDEVENTS_STRUCTURED is a CloudEvents 1.0 event, CLOUDEVENTS_BATCHED a batch of one event. */
    format: Schemas['WebhookFormat']
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Why the service disabled the webhook: owner-lacks-scope if the owner was deleted, is inactive, or has a role without the scope of an event type; otherwise a text: the endpoint answered 410, or in 5 days no delivery succeeded and at least 20 failed */
    disabledReason: string | null
    /** Id of the user who created it, or to whom an administrator has transferred it */
    owner: string | null
    /** Null for an earlier time (`at`), and in the response to a change if it cannot be read at the moment */
    health: Schemas['WebhookHealth'] | null
    /** After a rotation: until when deliveries also have a signature of an old secret; null if they have none, and for an earlier time (`at`) */
    oldSecretValidUntil: string | null
  } & ({
    /** Standard Webhooks signing secret. Shown only in this response */
    secret: string
    secretWithheld?: never | undefined
  } | {
    secret: null
    /** true if the response is repeated for an Idempotency-Key and the caller has another credential than the one that received the secret. The secret is then null */
    secretWithheld: true
  })
  EventType: {
    name: Schemas['WebhookEventType']
    /** Text for people */
    description: string
    /** The scope that a reader of the payload needs */
    scope: Schemas['Scope']
    /** JSON Schema of the payload */
    schema: { [name: string]: unknown }
    /** An example of a payload */
    example: { [name: string]: unknown }
  }
  DeliveryPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Delivery']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  Delivery: {
    id: string
    /** Id of the webhook */
    webhook: string
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** Id of the event */
    eventId: string
    /** Type of the event */
    eventType: Schemas['WebhookEventType']
    /** The API that the data of the event name; null for a caller who may not read the payload */
    api: string | null
    /** W3C trace id of the request that caused the event, or of the work of the service itself; null if there is none */
    traceId: string | null
    status: Schemas['DeliveryStatus']
    /** The body of the request to the endpoint, in the format that the webhook had when the delivery was created: an object, or for CLOUDEVENTS_BATCHED an array of one. Null for a caller without the scope of the event type, as is each responseBody */
    payload: WebhookEvent | Schemas['EmittedCloudEvent'] | [Schemas['EmittedCloudEvent']] | null
    /** Attempts so far */
    attempts: number
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** Time of the last attempt; null before the first one */
    lastAttemptAt: string | null
    /** Time of the next attempt. Null if none is planned, during an attempt, and while the webhook is inactive */
    nextAttemptAt: string | null
    /** For an ordered webhook: the previous delivery, until it has a final status */
    waitsFor: string | null
    /** Status of the last response; null without one */
    responseStatus: number | null
    /** The error code and a description of the cause; only the code for a caller who may not read the payload */
    failureMessage: string | null
    /** The attempts, the first one first */
    attemptLog: Array<Schemas['Attempt']>
  }
  Attempt: {
    /** Number, from 1 */
    number: number
    /** Why it was made */
    trigger: Schemas['AttemptTrigger']
    /** Without query and user for a caller who lacks the scope of an event type of the webhook, and always in events, histories and the audit log */
    url: string
    /** ISO 8601 UTC with milliseconds */
    startedAt: string
    /** Time until the outcome, in milliseconds */
    durationMs: number | null
    /** Status of the last response; null without one */
    responseStatus: number | null
    /** The beginning of the body, decompressed; at most 4 KiB of UTF-8. Null for a caller who may not read the payload, because the endpoint may repeat it */
    responseBody: string | null
    /** The headers that the service has set; signatures are masked. Null if none were sent */
    requestHeaders: { [name: string]: string } | null
    /** The headers of the response, by names in lower case; at most 2 KiB, long values truncated. Values of headers that carry credentials are masked, and URLs end before their query. Null without a response, and for a caller who may not read the payload */
    responseHeaders: { [name: string]: string } | null
    /** Stable code, kebab-case; null after success */
    error: string | null
    /** Whose fault the error is. A fault of the service does not count against the webhook, and never disables it */
    fault: Schemas['FaultSide'] | null
  }
  AttemptTrigger: 'AUTOMATIC' | 'MANUAL' | 'RECOVERY' | 'TEST'
  FaultSide: 'RECEIVER' | 'SERVICE'
  RecoveryPlan: {
    /** Events in the range that the webhook subscribes to */
    examined: number
    /** Those of them that a recovery would deliver */
    toSend: number
  }
  Recovery: {
    id: string
    /** Id of the webhook */
    webhook: string
    /** ISO 8601 UTC with milliseconds */
    from: string
    /** ISO 8601 UTC with milliseconds */
    to: string
    status: Schemas['RecoveryStatus']
    /** Examined share of `total`, from 0 to 1 */
    progress: number
    /** Events in the range that the webhook subscribes to; null until they are counted */
    total: number | null
    /** Those of them that the recovery has handled so far */
    examined: number
    /** Handled events that had not arrived and are now delivered */
    recovered: number
    /** ISO 8601 UTC with milliseconds */
    createdAt: string
    /** Time of the end; null before */
    finishedAt: string | null
  }
  RecoveryStatus: 'RUNNING' | 'COMPLETED' | 'CANCELLED'
  RecoveryPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['Recovery']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  HistoryPage: {
    /** The items of the page, or the text */
    content: Array<Schemas['HistoryEntry']>
    /** Page size */
    size: number
    /** Page number, from 1 */
    number: number
    /** Number of pages */
    totalPages: number
    /** Number of items on all pages */
    totalElements: number
    /** True on the last page */
    last: boolean
  }
  HistoryEntry: {
    /** Id of the event, as in the audit log */
    id: string
    /** ISO 8601 UTC with milliseconds */
    timestamp: string
    /** Null for a caller without AUDIT_LOG_READ */
    who: Schemas['Who'] | null
    /** The action of the audit log, or API_IMAGE_UPDATED and API_IMAGE_DELETED for hasImage */
    operation: string
    /** Type of the resource */
    resourceType: string
    /** Id of the resource */
    resourceId: string
    /** Revision of the record after the change, with which its ETag begins; null if it was deleted */
    revision: number | null
    /** For API_RESTORED: the time of the restored state */
    restoredTo: string | null
    /** Id of the environment of a deployment or an undeployment; null for other changes */
    environment: string | null
    /** Id of the request */
    requestId: string
    /** JSON Patch (RFC 6902) from the record before the change to the record after it. A resource that does not exist is the empty object */
    changes: Array<Schemas['PatchOperation']>
  }
  Who: {
    /** User id; null if the service itself made the change */
    id: string | null
    /** Current username, or the part of the service. Null if the user is unknown */
    username: string | null
    /** Name for people */
    displayName: string | null
  }
  PatchOperation: {
    /** What the operation does */
    op: Schemas['PatchOperator']
    /** JSON Pointer (RFC 6901) of the field */
    path: string
    /** The new value; absent for remove */
    value?: unknown | undefined
    /** The previous value; absent for add */
    before?: unknown | undefined
  }
  PatchOperator: 'add' | 'replace' | 'remove'
  /** A page of events. The position moves on over events that the filters leave out: a page can be empty before the end of the feed. At the end, the page is empty and repeats the position of the request */
  EventPage: {
    /** Events in the order of the feed; EmittedCloudEvent with format=cloudevents */
    content: Array<Schemas['FeedEvent']>
    /** Value of ?after= to continue after this place. Opaque; the same place can have different values */
    position: string
  }
  FeedEvent: Schemas['StreamedEvent'] | Schemas['EmittedCloudEvent']
  StreamedEvent: { [Type in keyof EventData]: {
    id: string
    type: Type
    /** The service that recorded the event; for an event of the platform the source of its producer */
    source: string
    /** Id of the resource */
    subject: string
    /** Revision of the event in its stream. It grows from event to event of a stream */
    revision: number
    /** When it happened, ISO 8601 UTC */
    time: string
    /** The subject of the event, by its type */
    data: EventData[Type]
    /** Version of the schema of data. Absent means 1 */
    version?: number | undefined
    /** Who caused the event */
    actor: Schemas['EventActor']
    /** Id of the request */
    requestId: string
    /** W3C trace id of the request that caused the event, or of the work of the service itself; null if there is none */
    traceId: string | null
    /** Value of ?after= to continue after this place. Opaque; the same place can have different values */
    position: string
  } }[keyof EventData]
  EventActor: {
    id: string | null
    name: string
  }
  EmittedCloudEvent: {
    /** Version of CloudEvents */
    specversion: '1.0'
    id: string
    /** The service that recorded the event; for an event of the platform its producer */
    source: string
    /** The event type, e.g. API_CREATED */
    type: string
    /** Id of the resource */
    subject?: string | undefined
    /** ISO 8601 UTC with milliseconds */
    time: string
    /** Media type of data */
    datacontenttype: 'application/json'
    /** URL of the JSON Schema of data. Absent if PUBLIC_URL is not set, or the type is unknown */
    dataschema?: string | undefined
    /** The subject of the event, by its type */
    data: { [name: string]: unknown }
    /** Revision of the event in the stream of its resource. Grows from event to event */
    revision?: number | undefined
    /** Value of ?after= to resume after this event */
    position?: string | undefined
    /** Id of the request that caused the event */
    requestid?: string | undefined
    /** Id of the user who caused the event */
    actorid?: string | undefined
    /** Part of the service that caused the event */
    actorname?: string | undefined
    /** W3C trace context of the request */
    traceparent?: string | undefined
  }
  FeedLine: Schemas['StreamedEvent'] | Schemas['FeedProgress'] | Schemas['EmittedCloudEvent']
  FeedProgress: {
    /** Value of ?after= to continue after this place. Opaque; the same place can have different values */
    position: string
  }
  EventReceipt: {
    /** Id of the public event */
    id: string
    /** Where the event happened */
    source: string
    type: string
    /** ISO 8601 UTC with milliseconds */
    receivedAt: string
    /** Whether the event had been accepted before */
    duplicate: boolean
  }
  EventSchema: {
    type: string
    /** The version */
    version: number
    /** Whether events of the type are written in this version */
    newest: boolean
    /** URL or path of the JSON Schema */
    schema: string
    /** Text for people */
    description: string
    /** The scope that a reader of the events needs */
    scope: Schemas['Scope']
  }
  JsonSchema: {
    /** Address of the schema */
    '$id': string
    [name: string]: unknown
  }
  ReadModel: {
    /** The name of its projector, e.g. `catalog.projector` */
    name: string
    /** Name of the service */
    service: string
    /** Collections with their versions */
    collections: Array<string>
    /** The generation that is read; it grows with each rebuild */
    generation: number
    /** Position in the event log up to which it is projected; opaque */
    position: string
    /** Age of the oldest event that is not projected yet; 0 without one */
    lagSeconds: number
    status: Schemas['ReadModelStatus']
    /** The rebuild that runs; null without one */
    rebuild: Schemas['Rebuild'] | null
    /** The last rebuild that has ended; null without one */
    lastRebuild: Schemas['LastRebuild'] | null
    /** Streams with an event that cannot be processed */
    quarantinedStreams: number
    /** Streams with events that this release does not know */
    incompleteStreams: number
    /** The last failure of the projector, until it runs again */
    error: Schemas['ProjectorFailure'] | null
  }
  /** WAITING: a rebuild is requested and has not begun. BUILDING: a rebuild runs */
  ReadModelStatus: 'LIVE' | 'WAITING' | 'BUILDING'
  Rebuild: {
    /** ISO 8601 UTC with milliseconds */
    startedAt: string
    /** ISO 8601 UTC with milliseconds */
    updatedAt: string
    /** Events that were projected since the builder last started */
    events: number
    /** Events projected per second */
    eventsPerSecond: number
    /** Part of the event log that is projected */
    progress: number
    /** Expected time of the end; null if it is not known */
    estimatedEnd: string | null
  }
  LastRebuild: {
    /** How it ended */
    outcome: Schemas['RebuildOutcome']
    /** Why it failed */
    reason: string | null
    /** ISO 8601 UTC with milliseconds */
    startedAt: string
    /** ISO 8601 UTC with milliseconds */
    endedAt: string
  }
  RebuildOutcome: 'COMPLETED' | 'CANCELLED' | 'FAILED'
  ProjectorFailure: {
    /** Text for people */
    message: string
    /** ISO 8601 UTC with milliseconds */
    at: string
  }
  SigningKey: {
    /** Thumbprint of the public key (RFC 7638) */
    kid: string
    /** What it is used for */
    purpose: Schemas['KeyPurpose']
    status: Schemas['KeyStatus']
    /** JSON Web Key (RFC 8037) */
    publicKey: Schemas['PublicKey']
    /** ISO 8601 UTC with milliseconds */
    madeAt: string
    /** ISO 8601 UTC with milliseconds */
    signsFrom: string
    /** Time from which the next key signs instead; may be in the future */
    retiredAt: string | null
    /** Time of the revocation; null before */
    revokedAt: string | null
    /** Time until which its signatures are accepted; null if no end is known */
    acceptedUntil: string | null
  }
  /** LOGIN: signs login tokens. AUDIT: signs audit proofs; never accepted for a login */
  KeyPurpose: 'LOGIN' | 'AUDIT'
  /** NEXT: published, and signs from signsFrom on. REVOKED: its signatures are refused */
  KeyStatus: 'NEXT' | 'CURRENT' | 'RETIRED' | 'REVOKED'
  /** JSON Web Key (RFC 8037) */
  PublicKey: {
    /** Type of the key */
    kty: string
    /** Curve */
    crv: string
    /** The public key, base64url */
    x: string
    [name: string]: unknown
  }
  System: {
    /** The services */
    services: Array<Schemas['SystemService']>
    /** Of the services that have answered */
    lag: Array<Schemas['ServiceLag']>
    /** As the services see them; an entry for each difference between services. A folder of images, or images beside the read models, have none */
    backingStores: Array<Schemas['BackingStore']>
  }
  SystemService: {
    name: string
    /** The best status of its replicas */
    status: Schemas['ReplicaStatus']
    /** Those that the gateway which answers knows. Of the gateways, it knows itself alone */
    replicas: Array<Schemas['Replica']>
  }
  ReplicaStatus: 'READY' | 'NOT_READY' | 'UNAVAILABLE'
  Replica: {
    /** UNAVAILABLE: it has not answered within seconds */
    status: Schemas['ReplicaStatus']
    /** The release that it runs; null if it is not known */
    version: string | null
    /** Name of its machine or pod; null if it does not tell */
    host: string | null
    /** Version of Node.js */
    node: string | null
    /** Time of the beginning; null before */
    startedAt: string | null
    /** What it waits for while it is NOT_READY */
    waitsFor: string | null
  }
  ServiceLag: {
    /** As in the labels of the metrics, e.g. `catalog.projector` */
    name: string
    /** Kind of the document, or of what is measured */
    kind: Schemas['LagKind']
    /** Events of the log, or messages of the bus, that it has not handled; estimated above 1,000 for projectors and relays. Null while its backing store does not answer */
    events: number | null
    /** Age of the first of them; 0 without one. For a consumer: age of the message that is being handled */
    seconds: number | null
    /** Name of the service */
    service: string
  }
  LagKind: 'PROJECTOR' | 'RELAY' | 'CONSUMER'
  BackingStore: {
    /** What it is used for */
    purpose: Schemas['StorePurpose']
    /** e.g. EventStoreDB, MongoDB, NATS, SQLite */
    kind: string
    /** As it was when the process connected to it; null if it is not known or there is none */
    version: string | null
    status: Schemas['StoreStatus']
    /** The services */
    services: Array<string>
  }
  StorePurpose: 'EVENT_LOG' | 'READ_MODELS' | 'MESSAGE_BUS' | 'USER_KEYS' | 'IMAGES'
  StoreStatus: 'AVAILABLE' | 'UNAVAILABLE'
  Live: {
    status: 'live'
  }
  Ready: {
    status: 'ready'
    /** Current time of the reference clock of all processes */
    time: string
  }
  OpenApiDocument: {
    /** Version of OpenAPI */
    openapi: string
    [name: string]: unknown
  }
  AsyncApiDocument: {
    /** Version of AsyncAPI */
    asyncapi: string
    [name: string]: unknown
  }
  /** JSON Web Key Set (RFC 7517 §5) */
  KeySet: {
    /** The keys */
    keys: Array<Schemas['Key']>
    [name: string]: unknown
  }
  /** JSON Web Key (RFC 7517 §4) */
  Key: {
    /** Type of the key */
    kty: string
    /** Id of the key */
    kid: string
    /** Algorithm */
    alg?: string | undefined
    [name: string]: unknown
  }
  /** JSON Web Key Set (RFC 7517 §5) with the validity of each key */
  AuditKeySet: {
    /** The keys */
    keys: Array<Schemas['AuditKey']>
  }
  /** JSON Web Key (RFC 7517 §4) with its validity */
  AuditKey: {
    /** Id of the key */
    kid: string
    /** Type of the key */
    kty: string
    /** ISO 8601 UTC with milliseconds */
    validFrom: string
    /** End of its validity; null if no end is known */
    validUntil: string | null
    /** Time of the revocation; null before */
    revokedAt: string | null
    [name: string]: unknown
  }
  /** RFC 9457 problem details */
  Problem: {
    type: string
    title: string
    status: number
    /** What is wrong with this request */
    detail: string
    /** Path of the request */
    instance: string
    /** Stable, kebab-case */
    code: string
    /** Id of the request */
    requestId: string
    /** Time */
    timestamp: string
    /** With `field`; for the content of a document or a rule set with `line`, `column` and `pointer` */
    errors?: Array<Schemas['ProblemFault']> | undefined
    [name: string]: unknown
  }
  DocumentCounts: {
    /** Number of operations */
    operations: number
    /** Number of schemas */
    schemas: number
  }
  FindingCounts: {
    /** The faults, or their number */
    errors: number
    /** Number of warnings */
    warnings: number
  }
  WebhookEventType: 'API_CREATED' | 'API_UPDATED' | 'API_DELETED' | 'API_DEPLOYED' | 'API_UNDEPLOYED' | 'API_DEPLOYMENT_FAILED' | 'API_VERSION_CREATED' | 'API_VERSION_UPDATED' | 'API_VERSION_DELETED' | 'API_IMAGE_UPDATED' | 'API_IMAGE_DELETED' | 'API_VERSION_DOCUMENT_UPDATED' | 'API_VERSION_DOCUMENT_DELETED' | 'WEBHOOK_FAILING' | 'WEBHOOK_DISABLED' | 'SUBSCRIPTION_CREATED' | 'SUBSCRIPTION_DELETED' | 'APPROVAL_REQUEST_CREATED' | 'APPROVAL_REQUEST_DECIDED' | 'CONFIGURATION_CHANGED' | 'PRODUCT_API_ADDED' | 'PRODUCT_API_REMOVED' | 'TEST'
  StreamedEventType: 'API_CREATED' | 'API_UPDATED' | 'API_DELETED' | 'API_DEPLOYED' | 'API_UNDEPLOYED' | 'API_DEPLOYMENT_FAILED' | 'API_VERSION_CREATED' | 'API_VERSION_UPDATED' | 'API_VERSION_DELETED' | 'API_IMAGE_UPDATED' | 'API_IMAGE_DELETED' | 'API_VERSION_DOCUMENT_UPDATED' | 'API_VERSION_DOCUMENT_DELETED' | 'WEBHOOK_FAILING' | 'WEBHOOK_DISABLED' | 'SUBSCRIPTION_CREATED' | 'SUBSCRIPTION_DELETED' | 'APPROVAL_REQUEST_CREATED' | 'APPROVAL_REQUEST_DECIDED' | 'CONFIGURATION_CHANGED' | 'PRODUCT_API_ADDED' | 'PRODUCT_API_REMOVED' | 'DEPLOYMENT_REQUESTED' | 'WEBHOOK_CREATED' | 'WEBHOOK_UPDATED' | 'WEBHOOK_TRANSFERRED' | 'WEBHOOK_SECRET_ROTATED' | 'WEBHOOK_DELETED' | 'RECOVERY_REQUESTED' | 'RECOVERY_CANCELLED' | 'DELIVERY_RETRIED' | 'DELIVERY_CANCELLED' | 'USER_CREATED' | 'USER_UPDATED' | 'USER_DELETED' | 'USER_ERASED'
}

/** The operations of the REST interface by operationId. */
export interface Operations {
  /**
   * List APIs
   *
   * Filters combine with AND.
   *
   * Requires the scope **API_READ**.
   */
  listApis: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, displayName, status, platformType, createdAt, updatedAt, deploymentStatus. Default: relevance with q, else name,asc */
      sort?: Array<`${'name' | 'displayName' | 'status' | 'platformType' | 'createdAt' | 'updatedAt' | 'deploymentStatus'}${'' | ',asc' | ',desc'}`> | undefined
      /** Each term is a case-insensitive substring of name or description */
      text?: string | undefined
      /** Finds APIs by words, also in their documents, the best first unless sort is given. The last word may be a beginning; words of five letters or more may have one typo. Not together with text */
      q?: string | undefined
      /** Exact name */
      name?: string | undefined
      /** Id of the owner */
      owner?: string | undefined
      /** Kind of the gateway or platform, e.g. ENVOY */
      platformType?: string | undefined
      status?: Schemas['ActiveStatus'] | undefined
      /** Deployed in the environment with this id or name */
      environment?: string | undefined
      /** Has all of these tags; repeated or comma-separated */
      tags?: Array<string> | undefined
      /** true: only deployed APIs; false: no filter */
      deployed?: boolean | undefined
      /** true: only APIs that are deployed nowhere; false: no filter */
      notDeployed?: boolean | undefined
      /** Member of this product */
      product?: string | undefined
      /** Has a document with a lower score; those with the lowest score first, at most 10000. Not together with sort, q and at */
      scoreBelow?: number | undefined
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
      /** Include deployment environment details */
      includeDeployedOn?: boolean | undefined
      /** Include running job details */
      includeRunningJobs?: boolean | undefined
      /** Include the documents of the versions */
      includeDocuments?: boolean | undefined
    }
    output: { 200: Schemas['ApiPage'] }
    options: never
  }
  /**
   * Create an API
   *
   * Requires the scope **API_WRITE**.
   */
  createApi: {
    input: {
      body: Schemas['ApiInput']
    }
    output: { 201: Schemas['Api'] }
    options: 'idempotencyKey'
  }
  /**
   * Count the APIs by the values of their fields
   *
   * For each filter its values among the APIs that the given filters let pass, with the number of APIs: what GET /apis finds with the value as a further filter. The most frequent values first, at most 100 of each.
   *
   * Requires the scope **API_READ**.
   */
  getApiFacets: {
    input: {
      /** Each term is a case-insensitive substring of name or description */
      text?: string | undefined
      /** Finds APIs by words, also in their documents, the best first unless sort is given. The last word may be a beginning; words of five letters or more may have one typo. Not together with text */
      q?: string | undefined
      /** Exact name */
      name?: string | undefined
      /** Id of the owner */
      owner?: string | undefined
      /** Kind of the gateway or platform, e.g. ENVOY */
      platformType?: string | undefined
      status?: Schemas['ActiveStatus'] | undefined
      /** Deployed in the environment with this id or name */
      environment?: string | undefined
      /** Has all of these tags; repeated or comma-separated */
      tags?: Array<string> | undefined
      /** true: only deployed APIs; false: no filter */
      deployed?: boolean | undefined
      /** true: only APIs that are deployed nowhere; false: no filter */
      notDeployed?: boolean | undefined
      /** Member of this product */
      product?: string | undefined
    }
    output: { 200: Schemas['ApiFacets'] }
    options: never
  }
  /**
   * Get an API
   *
   * Requires the scope **API_READ**.
   */
  getApi: {
    input: {
      /** Id of the API */
      api_id: string
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
      /** Include deployment environment details */
      includeDeployedOn?: boolean | undefined
      /** Include running job details */
      includeRunningJobs?: boolean | undefined
      /** Include the documents of the versions */
      includeDocuments?: boolean | undefined
    }
    output: { 200: Schemas['Api'] }
    options: 'ifNoneMatch'
  }
  /**
   * Replace an API
   *
   * All required fields must be present. Omitted optional fields become null, except owner, which is unchanged.
   *
   * Requires the scope **API_WRITE**.
   */
  updateApi: {
    input: {
      /** Id of the API */
      api_id: string
      body: Schemas['ApiInput']
    }
    output: { 200: Schemas['Api'] }
    options: 'ifMatch'
  }
  /**
   * Delete an API with its versions and its image
   *
   * With `undeploy=true` the API is first recorded as undeployed from each of its environments, and webhooks receive API_UNDEPLOYED for each. Without it a deployed API is deleted too, and webhooks receive API_DELETED alone.
   *
   * Requires the scope **API_WRITE**.
   */
  deleteApi: {
    input: {
      /** Id of the API */
      api_id: string
      /** Undeploy from all environments before deletion */
      undeploy?: boolean | undefined
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * Restore the fields of an API as they were at a time
   *
   * Sets the fields that PUT sets, the owner included, to their values at that time. Versions, image and deployments stay unchanged. The audit log records API_RESTORED; webhooks receive API_UPDATED. Without a difference nothing is recorded.
   *
   * Requires the scope **API_WRITE**.
   */
  restoreApi: {
    input: {
      /** Id of the API */
      api_id: string
      body: Schemas['RestoreInput']
    }
    output: { 200: Schemas['Api'] }
    options: 'ifMatch'
  }
  /**
   * Deploy an API to an environment
   *
   * Starts a job. A deployment agent executes it and reports its result.
   *
   * Requires the scope **API_WRITE**.
   */
  deployApi: {
    input: {
      /** Id of the environment */
      environment_id: string
      /** Id of the API */
      api_id: string
    }
    output: { 202: Schemas['DeploymentJob'] }
    options: never
  }
  /**
   * Undeploy an API from an environment
   *
   * Requires the scope **API_WRITE**.
   */
  undeployApi: {
    input: {
      /** Id of the environment */
      environment_id: string
      /** Id of the API */
      api_id: string
    }
    output: { 202: Schemas['DeploymentJob'] }
    options: never
  }
  /**
   * Cancel the deployment job of an API and environment
   *
   * Marks the running job as failed, so that another job can start. The deployment agent is not stopped: it may still change the environment, but its report on the job is ignored.
   *
   * Requires the scope **API_WRITE**.
   */
  cancelDeployment: {
    input: {
      /** Id of the environment */
      environment_id: string
      /** Id of the API */
      api_id: string
    }
    output: { 200: Schemas['DeploymentJob'] }
    options: never
  }
  /**
   * List environments
   *
   * Requires the scope **ENVIRONMENT_READ**.
   */
  listEnvironments: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: position, name, displayName, createdAt, updatedAt */
      sort?: Array<`${'position' | 'name' | 'displayName' | 'createdAt' | 'updatedAt'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['EnvironmentPage'] }
    options: never
  }
  /**
   * Get an environment
   *
   * Requires the scope **ENVIRONMENT_READ**.
   */
  getEnvironment: {
    input: {
      /** Id of the environment */
      environment_id: string
    }
    output: { 200: Schemas['Environment'] }
    options: 'ifNoneMatch'
  }
  /**
   * Name an environment
   *
   * The first deployment to an id registers it as an environment without a name. The first name of an unknown id registers it, too.
   *
   * Requires the scope **ENVIRONMENT_WRITE**.
   */
  updateEnvironment: {
    input: {
      /** Id of the environment */
      environment_id: string
      body: Schemas['EnvironmentInput']
    }
    output: { 200: Schemas['Environment'] }
    options: 'ifMatch'
  }
  /**
   * Download the image of an API
   *
   * Requires the scope **API_READ**.
   */
  downloadImage: {
    input: {
      /** Id of the API */
      api_id: string
    }
    output: { 200: ReadableStream<Uint8Array> }
    options: 'ifNoneMatch'
  }
  /**
   * Upload the image of an API
   *
   * PNG, JPEG, GIF, WebP or SVG; the content decides, not the name or media type. At most 5 MiB and 40 megapixels.
   *
   * Requires the scope **API_WRITE**.
   */
  uploadImage: {
    input: {
      /** Id of the API */
      api_id: string
      body: Content
    }
    output: { 200: Schemas['Image'] }
    options: never
  }
  /**
   * Delete the image of an API
   *
   * Requires the scope **API_WRITE**.
   */
  deleteImage: {
    input: {
      /** Id of the API */
      api_id: string
    }
    output: { 204: undefined }
    options: never
  }
  /**
   * List the versions of an API
   *
   * Requires the scope **API_READ**.
   */
  listVersions: {
    input: {
      /** Id of the API */
      api_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, displayName, status, createdAt */
      sort?: Array<`${'name' | 'displayName' | 'status' | 'createdAt'}${'' | ',asc' | ',desc'}`> | undefined
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: Schemas['VersionPage'] }
    options: never
  }
  /**
   * Create a version
   *
   * Requires the scope **API_WRITE**.
   */
  createVersion: {
    input: {
      /** Id of the API */
      api_id: string
      body: Schemas['VersionInput']
    }
    output: { 201: Schemas['Version'] }
    options: 'idempotencyKey'
  }
  /**
   * Get a version
   *
   * Requires the scope **API_READ**.
   */
  getVersion: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: Schemas['Version'] }
    options: 'ifNoneMatch'
  }
  /**
   * Replace a version
   *
   * Requires the scope **API_WRITE**.
   */
  updateVersion: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      body: Schemas['VersionInput']
    }
    output: { 200: Schemas['Version'] }
    options: 'ifMatch'
  }
  /**
   * Delete a version
   *
   * Requires the scope **API_WRITE**.
   */
  deleteVersion: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * List the documents of a version
   *
   * Requires the scope **API_READ**.
   */
  listDocuments: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, kind, size, createdAt, updatedAt */
      sort?: Array<`${'name' | 'kind' | 'size' | 'createdAt' | 'updatedAt'}${'' | ',asc' | ',desc'}`> | undefined
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: Schemas['DocumentPage'] }
    options: never
  }
  /**
   * Download a document
   *
   * The bytes as they were sent. A `Range` of bytes is answered with 206. With `at` the bytes of that time, which are kept for `DOCUMENT_RETENTION` after they were replaced. With `PUBLIC_CATALOG` the present documents of ACTIVE APIs need no credentials.
   *
   * Requires the scope **API_READ**.
   */
  downloadDocument: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
      name: string
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: ReadableStream<Uint8Array>; 206: ReadableStream<Uint8Array> }
    options: 'ifNoneMatch'
  }
  /**
   * Create or replace a document of a version
   *
   * The body is the document, which is stored unchanged. Its content decides the kind, not its name or media type. `Content-Encoding: gzip` is undone. At most 20 MiB after that. A document of a known kind with wrong syntax is refused; what no kind claims, e.g. unfinished JSON without `openapi`, is stored as `other`. Violations of the schema of its kind become findings, or with `DOCUMENTS_STRICT` are refused. References to other files are not followed. Entity tags are the SHA-256 of the content in double quotes; `If-None-Match: *` creates only.
   *
   * Requires the scope **API_WRITE**.
   */
  putDocument: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
      name: string
      /** Make it the primary document of the version. The first document is primary */
      primary?: boolean | undefined
      /** Refuse content of another kind */
      kind?: Schemas['DocumentKind'] | undefined
      body: Content
    }
    output: { 200: Schemas['Document']; 201: Schemas['Document'] }
    options: 'ifMatch'
  }
  /**
   * Delete a document
   *
   * If it is the primary one, the oldest other document of the version becomes primary.
   *
   * Requires the scope **API_WRITE**.
   */
  deleteDocument: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
      name: string
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * Compare a document with that of an earlier version
   *
   * What changed for clients of OpenAPI, AsyncAPI, GraphQL, JSON Schema and Protobuf: texts and examples do not count. A change of a schema that several operations use is told once. Changes of other kinds are UNCLEAR.
   *
   * Requires the scope **API_READ**.
   */
  compareDocument: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
      name: string
      /** Id or name of the version to compare with. Default: the one created last before this one that has a document of the name */
      from?: string | undefined
      /** Name of its document. Default: the same */
      fromDocument?: string | undefined
    }
    output: { 200: Schemas['DocumentDiff'] }
    options: never
  }
  /**
   * List the findings in a document
   *
   * Violations of the schema of its kind, at most 1,000, and for callers with READ_GOVERNANCE_DATA what enabled rule sets find, at most 500 of each, as many of each rule. Errors first.
   *
   * Requires the scope **API_READ**.
   */
  listFindings: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** 1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot */
      name: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
    }
    output: { 200: Schemas['FindingPage'] }
    options: never
  }
  /**
   * List the operations in the documents of a version
   *
   * Requires the scope **API_READ**.
   */
  listVersionOperations: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: path, method, operationId, document */
      sort?: Array<`${'path' | 'method' | 'operationId' | 'document'}${'' | ',asc' | ',desc'}`> | undefined
      /** Each word is a case-insensitive substring of path, operation id or summary */
      q?: string | undefined
      /** HTTP method, or its like in other kinds of documents */
      method?: string | undefined
      /** Has all of these tags; repeated or comma-separated */
      tag?: Array<string> | undefined
      /** Only deprecated operations, or only others */
      deprecated?: boolean | undefined
    }
    output: { 200: Schemas['OperationPage'] }
    options: never
  }
  /**
   * List the operations in all documents
   *
   * Requires the scope **API_READ**.
   */
  listOperations: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: path, method, operationId, document */
      sort?: Array<`${'path' | 'method' | 'operationId' | 'document'}${'' | ',asc' | ',desc'}`> | undefined
      /** Each word is a case-insensitive substring of path, operation id or summary */
      q?: string | undefined
      /** HTTP method, or its like in other kinds of documents */
      method?: string | undefined
      /** Has all of these tags; repeated or comma-separated */
      tag?: Array<string> | undefined
      /** Only deprecated operations, or only others */
      deprecated?: boolean | undefined
    }
    output: { 200: Schemas['OperationPage'] }
    options: never
  }
  /**
   * List rule sets
   *
   * The built-in one, and at most 50 others. Each enabled rule set applies to all documents of its kinds.
   *
   * Requires the scope **RULE_SETS_READ**.
   */
  listRuleSets: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, createdAt, updatedAt */
      sort?: Array<`${'name' | 'createdAt' | 'updatedAt'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['RuleSetPage'] }
    options: never
  }
  /**
   * Create a rule set
   *
   * Requires the scope **RULE_SETS_WRITE**.
   */
  createRuleSet: {
    input: {
      body: Schemas['RuleSetInput']
    }
    output: { 201: Schemas['RuleSet'] }
    options: 'idempotencyKey'
  }
  /**
   * Apply rules to a document without saving them
   *
   * Also requires the scope **API_READ**. Changes nothing. One preview runs at a time.
   *
   * Requires the scope **RULE_SETS_WRITE**.
   */
  previewRuleSet: {
    input: {
      body: Schemas['RuleSetPreviewInput']
    }
    output: { 200: Schemas['RuleSetPreview'] }
    options: never
  }
  /**
   * Get a rule set
   *
   * Requires the scope **RULE_SETS_READ**.
   */
  getRuleSet: {
    input: {
      /** Id of the rule set */
      rule_set_id: string
    }
    output: { 200: Schemas['RuleSet'] }
    options: 'ifNoneMatch'
  }
  /**
   * Replace a rule set
   *
   * Of the built-in one, the name, the description and `enabled` can change.
   *
   * Requires the scope **RULE_SETS_WRITE**.
   */
  updateRuleSet: {
    input: {
      /** Id of the rule set */
      rule_set_id: string
      body: Schemas['RuleSetInput']
    }
    output: { 200: Schemas['RuleSet'] }
    options: 'ifMatch'
  }
  /**
   * Delete a rule set
   *
   * Requires the scope **RULE_SETS_WRITE**.
   */
  deleteRuleSet: {
    input: {
      /** Id of the rule set */
      rule_set_id: string
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * List the rules that a rule set applies
   *
   * Those of the sets that it extends included, by name. Rules that are off are left out.
   *
   * Requires the scope **RULE_SETS_READ**.
   */
  listEffectiveRules: {
    input: {
      /** Id of the rule set */
      rule_set_id: string
    }
    output: { 200: Schemas['EffectiveRules'] }
    options: never
  }
  /**
   * Read the catalogue as links for crawlers
   *
   * The API catalog of RFC 9727: each API with links to the documents of its versions, in the order of the names. `Link` leads to the next page. With `PUBLIC_CATALOG` it needs no credentials; without them it has ACTIVE APIs only.
   *
   * Requires the scope **API_READ**.
   */
  getApiCatalog: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** APIs on a page */
      size?: number | undefined
    }
    output: { 200: Schemas['ApiCatalog'] }
    options: never
  }
  /**
   * Create or update APIs from documents
   *
   * The body is the document, with what `PUT …/documents/{name}` allows. Creates the API and the version that it names, or updates the display name and the description of the API that has the name, whoever owns it, and stores the document in the version. A new API is ACTIVE, has no tags, and belongs to the caller. The name of the API is `x-gantry-name` of the document or of its `info`; else `x-providerName` with `x-serviceName`, or with the title; else the title. Without `info.version` the version is `unversioned`. Another `info.version` adds a version, and the earlier one stays. A document replaces the one of its kind in the version. The same import again changes nothing, and completes one that was interrupted. To mark the APIs that a program imports, give them a tag with `POST /apis/bulk`, which imports keep.
   *
   * A body of the type application/x-ndjson has a document on each line, at most 10000: the JSON of the document, or {"document": …} with the JSON or with the text of any document as a string, or {"url": …} from which the document is fetched, of an address that webhooks may reach. A job imports them in their order, with a result for each.
   *
   * Requires the scope **API_WRITE**.
   */
  importApi: {
    input: {
      /** true: change nothing, and answer with what the import would do */
      dryRun?: boolean | undefined
      body: Content
    }
    output: { 200: Schemas['ImportOutcome']; 201: Schemas['Api']; 202: Schemas['Job'] }
    options: 'idempotencyKey'
  }
  /**
   * Change many APIs
   *
   * Starts a job that changes each API of `ids`, or each that the filter selects at the time of the request, at most 10000. It acts with the rights that its creator has while it runs. An API whose change is refused does not stop the job: its result says why.
   *
   * Requires the scope **API_WRITE**.
   */
  changeApis: {
    input: {
      body: Schemas['BulkInput']
    }
    output: { 202: Schemas['Job'] }
    options: 'idempotencyKey'
  }
  /**
   * List jobs
   *
   * Those of the caller; for administrators those of all users. A job is removed 30 days after its end.
   *
   * Requires the scope **JOBS_READ**.
   */
  listJobs: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: createdAt, finishedAt, status, type */
      sort?: Array<`${'createdAt' | 'finishedAt' | 'status' | 'type'}${'' | ',asc' | ',desc'}`> | undefined
      status?: Schemas['JobStatus'] | undefined
    }
    output: { 200: Schemas['JobPage'] }
    options: never
  }
  /**
   * Get a job
   *
   * Requires the scope **JOBS_READ**.
   */
  getJob: {
    input: {
      /** Id of the job */
      job_id: string
    }
    output: { 200: Schemas['Job'] }
    options: never
  }
  /**
   * Cancel a job
   *
   * Items that are in progress are completed. What the job has changed stays.
   *
   * Requires the scope **API_WRITE**.
   */
  cancelJob: {
    input: {
      /** Id of the job */
      job_id: string
    }
    output: { 200: Schemas['Job'] }
    options: never
  }
  /**
   * List the results of the items of a job
   *
   * In the order of the items. Items that were not begun have none.
   *
   * Requires the scope **JOBS_READ**.
   */
  listJobResults: {
    input: {
      /** Id of the job */
      job_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** Only the items that failed */
      status?: 'FAILED' | undefined
    }
    output: { 200: Schemas['JobResultPage'] }
    options: never
  }
  /**
   * List the caller's access tokens
   *
   * Expired tokens stay in the list until they are deleted.
   *
   * Requires the scope **ACCESS_TOKEN_MANAGE**.
   */
  listAccessTokens: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, createdAt, validUntil */
      sort?: Array<`${'name' | 'createdAt' | 'validUntil'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['AccessTokenPage'] }
    options: never
  }
  /**
   * Create a personal access token
   *
   * The caller needs each of the `scopes`: their role must have it, and so must the access token of the request. Otherwise the answer is `scopes-exceeded`.
   *
   * To rotate a token: create the new one with an `Idempotency-Key` that contains the id of the old one, store the new `token`, then delete the old one. If the program dies meanwhile, it repeats all steps. The same key then gives the same new token instead of another one. If `token` is null, keep the old token, delete the new one, and use another key.
   *
   * A response that is repeated for an Idempotency-Key contains `token` only for the credential that first received it. For another login or JWT of the platform of the same user `token` is null and `secretWithheld` is true.
   *
   * Requires the scope **ACCESS_TOKEN_MANAGE**.
   */
  createAccessToken: {
    input: {
      body: Schemas['AccessTokenInput']
    }
    output: { 201: Schemas['NewAccessToken'] }
    options: 'idempotencyKey'
  }
  /**
   * Get one of the caller's access tokens
   *
   * Requires the scope **ACCESS_TOKEN_MANAGE**.
   */
  getAccessToken: {
    input: {
      id: string
    }
    output: { 200: Schemas['AccessToken'] }
    options: never
  }
  /**
   * Revoke one of the caller's access tokens
   *
   * Requires the scope **ACCESS_TOKEN_MANAGE**.
   */
  deleteAccessToken: {
    input: {
      id: string
    }
    output: { 204: undefined }
    options: never
  }
  /**
   * List changes of resources
   *
   * Requires the scope **AUDIT_LOG_READ**.
   */
  listAuditLog: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: timestamp, action, resourceType */
      sort?: Array<`${'timestamp' | 'action' | 'resourceType'}${'' | ',asc' | ',desc'}`> | undefined
      /** Each term is a case-insensitive substring of the user id, of the action, of the type, id or name of the resource at that time, or of the name of the API that it belongs to, of at most 1,000 APIs for each of the first 10 terms; usernames are not searched */
      text?: string | undefined
      /** Earliest timestamp, inclusive */
      from?: string | undefined
      /** Latest timestamp, exclusive */
      to?: string | undefined
      /** User id, or the username of a user who is not deleted */
      user?: string | undefined
      /** What was done, or will be done */
      action?: string | undefined
      /** Resource id or resource type. The id of an API also finds its versions, documents and image, that of a version its documents */
      resource?: string | undefined
    }
    output: { 200: Schemas['AuditPage'] }
    options: never
  }
  /**
   * Export the audit log with its proofs
   *
   * All records up to now in the order of the log, as newline-delimited JSON, CSV (RFC 4180) or CEF:0 (text/plain), as `format` or the Accept header says. The filters are those of the list; of the records that they leave out, the export has the hashes. The export ends with a signed trailer that says what it contains, so that every later change is found. Trailers also stand between the records: an interrupted export is continued after the last one received, which is passed as `trailer`, with the same format and filters. What is received then is appended to what was received before. The number of exports at the same time is limited, in all and for each user; a further one is answered with 503 and Retry-After. A client that does not read for 30 seconds is disconnected.
   *
   * Requires the scope **AUDIT_LOG_READ**.
   */
  exportAuditLog: {
    input: {
      /** Each term is a case-insensitive substring of the user id, of the action, of the type, id or name of the resource at that time, or of the name of the API that it belongs to, of at most 1,000 APIs for each of the first 10 terms; usernames are not searched */
      text?: string | undefined
      /** Earliest timestamp, inclusive */
      from?: string | undefined
      /** Latest timestamp, exclusive */
      to?: string | undefined
      /** User id, or the username of a user who is not deleted */
      user?: string | undefined
      /** What was done, or will be done */
      action?: string | undefined
      /** Resource id or resource type. The id of an API also finds its versions, documents and image, that of a version its documents */
      resource?: string | undefined
      /** Takes precedence over the Accept header */
      format?: Schemas['ExportFormat'] | undefined
      /** Number of the record after which the export begins */
      after?: number | undefined
      /** The last trailer received, as the JSON of its line in base64url: continues that export */
      trailer?: string | undefined
    }
    output: { 200: ReadableStream<Uint8Array> }
    options: never
  }
  /**
   * Log in with username and password
   *
   * The bearer token is in the Authorization response header and is valid for one hour. Five wrong passwords in a row lock a user for 15 minutes.
   *
   * Requires no credentials.
   */
  login: {
    input: {
      body: Schemas['Credentials']
    }
    output: { 200: Schemas['AuthenticatedUser'] }
    options: never
  }
  /**
   * Revoke all login tokens of the caller
   *
   * Requires valid credentials, with any scopes.
   */
  logout: {
    input: {}
    output: { 204: undefined }
    options: never
  }
  /**
   * Get the caller and what their credential may do
   *
   * Requires valid credentials, with any scopes.
   */
  getSession: {
    input: {}
    output: { 200: Schemas['Session'] }
    options: never
  }
  /**
   * Change the caller's password
   *
   * Revokes all login tokens of the caller. A caller with a login token gets a new one in the Authorization response header. A wrong `password` counts as that of a login.
   *
   * Requires valid credentials, with any scopes.
   */
  changePassword: {
    input: {
      body: Schemas['PasswordChange']
    }
    output: { 204: undefined }
    options: never
  }
  /**
   * List users
   *
   * Requires the scope **USER_READ**.
   */
  listUsers: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: username, displayName, email, role, status, createdAt */
      sort?: Array<`${'username' | 'displayName' | 'email' | 'role' | 'status' | 'createdAt'}${'' | ',asc' | ',desc'}`> | undefined
      /** Each term is a case-insensitive substring of username, displayName or email */
      text?: string | undefined
      username?: string | undefined
      role?: Schemas['Role'] | undefined
      status?: Schemas['ActiveStatus'] | undefined
    }
    output: { 200: Schemas['UserPage'] }
    options: never
  }
  /**
   * Create a user
   *
   * Callers cannot create users with a role above their own, and cannot create an administrator with an access token that lacks a scope of that role.
   *
   * Requires the scope **USER_WRITE**.
   */
  createUser: {
    input: {
      body: Schemas['UserInput']
    }
    output: { 201: Schemas['User'] }
    options: 'idempotencyKey'
  }
  /**
   * Get a user
   *
   * Requires the scope **USER_READ**.
   */
  getUser: {
    input: {
      /** Id of the user */
      user_id: string
    }
    output: { 200: Schemas['User'] }
    options: 'ifNoneMatch'
  }
  /**
   * Replace a user
   *
   * An omitted password is unchanged. An omitted role becomes USER, and an omitted status becomes ACTIVE.
   *
   * Requires the scope **USER_WRITE**.
   */
  updateUser: {
    input: {
      /** Id of the user */
      user_id: string
      body: Schemas['UserUpdate']
    }
    output: { 200: Schemas['User'] }
    options: 'ifMatch'
  }
  /**
   * Delete a user and revoke their tokens
   *
   * Requires the scope **USER_WRITE**.
   */
  deleteUser: {
    input: {
      /** Id of the user */
      user_id: string
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * List the access tokens of a user
   *
   * Not of a user with a role above that of the caller. Expired tokens stay in the list until they are deleted.
   *
   * Requires the scope **USER_READ**.
   */
  listUserAccessTokens: {
    input: {
      /** Id of the user */
      user_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, createdAt, validUntil */
      sort?: Array<`${'name' | 'createdAt' | 'validUntil'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['AccessTokenPage'] }
    options: never
  }
  /**
   * Revoke all access tokens of a user
   *
   * Not of a user with a role above that of the caller.
   *
   * Requires the scope **USER_WRITE**.
   */
  deleteUserAccessTokens: {
    input: {
      /** Id of the user */
      user_id: string
    }
    output: { 204: undefined }
    options: never
  }
  /**
   * Get an access token of a user
   *
   * Not of a user with a role above that of the caller.
   *
   * Requires the scope **USER_READ**.
   */
  getUserAccessToken: {
    input: {
      /** Id of the user */
      user_id: string
      id: string
    }
    output: { 200: Schemas['AccessToken'] }
    options: never
  }
  /**
   * Revoke an access token of a user
   *
   * Not of a user with a role above that of the caller.
   *
   * Requires the scope **USER_WRITE**.
   */
  deleteUserAccessToken: {
    input: {
      /** Id of the user */
      user_id: string
      id: string
    }
    output: { 204: undefined }
    options: never
  }
  /**
   * Erase the personal data of a user
   *
   * Deletes the user, if that has not happened yet, and the key that their personal data are encrypted with. It cannot be undone. Repeating it changes nothing.
   *
   * Requires the scope **USER_WRITE**.
   */
  eraseUser: {
    input: {
      /** Id of the user */
      user_id: string
    }
    output: { 200: Schemas['Erasure'] }
    options: 'ifMatch'
  }
  /**
   * Unlock a user
   *
   * Requires the scope **USER_WRITE**.
   */
  unlockUser: {
    input: {
      /** Id of the user */
      user_id: string
    }
    output: { 200: Schemas['User'] }
    options: never
  }
  /**
   * List the signed roots of days
   *
   * After each UTC day, the chain hash after its last record is signed and appended to the event log. Each day since the first record has a root, also a day without records. `head` is the present end of the chain, signed at the time of the request: a copy proves later whether a record before it was changed or removed. It is null when the log differs from its roots or from what was projected before.
   *
   * Requires the scope **AUDIT_LOG_READ**.
   */
  listAuditProofs: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: day */
      sort?: Array<`${'day'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['AuditProofs'] }
    options: never
  }
  /**
   * List webhooks
   *
   * Those of all owners, whoever the caller is.
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  listWebhooks: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: name, displayName, active, createdAt, updatedAt */
      sort?: Array<`${'name' | 'displayName' | 'active' | 'createdAt' | 'updatedAt'}${'' | ',asc' | ',desc'}`> | undefined
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: Schemas['WebhookPage'] }
    options: never
  }
  /**
   * Create a webhook
   *
   * The caller needs the scope of each of its event types; the list of event types names the scopes. To try it with a receiver on the same machine, start the service with the setting WEBHOOK_ALLOWED_CIDRS=127.0.0.0/8,::1/128.
   *
   * A response that is repeated for an Idempotency-Key contains `secret` only for the credential that first received it. For another login or JWT of the platform of the same user `secret` is null and `secretWithheld` is true.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  createWebhook: {
    input: {
      body: Schemas['WebhookInput']
    }
    output: { 201: Schemas['NewWebhook'] }
    options: 'idempotencyKey'
  }
  /**
   * List the event types that webhooks can subscribe to
   *
   * Each with the scope that a reader of its payload needs.
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  listEventTypes: {
    input: {}
    output: { 200: Array<Schemas['EventType']> }
    options: never
  }
  /**
   * List the deliveries of all webhooks, deleted ones included
   *
   * Those of the webhooks of all owners, whoever the caller is.
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  listDeliveries: {
    input: {
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: createdAt, status, eventType, lastAttemptAt, nextAttemptAt */
      sort?: Array<`${'createdAt' | 'status' | 'eventType' | 'lastAttemptAt' | 'nextAttemptAt'}${'' | ',asc' | ',desc'}`> | undefined
      status?: Schemas['DeliveryStatus'] | undefined
      /** Deliveries of events of this type; TEST for tests */
      eventType?: Schemas['WebhookEventType'] | undefined
      /** Deliveries of this event */
      eventId?: string | undefined
      /** Deliveries of events whose data name one of these APIs; only of event types whose scope the caller has. Repeated or comma-separated */
      api?: Array<string> | undefined
      /** Earliest time of creation, inclusive */
      from?: string | undefined
      /** Latest time of creation, exclusive */
      to?: string | undefined
      /** Earliest time of the last attempt, inclusive: a daily job finds what has failed since */
      lastAttemptFrom?: string | undefined
      /** Latest time of the last attempt, exclusive */
      lastAttemptTo?: string | undefined
      /** Deliveries to this webhook */
      webhook?: string | undefined
    }
    output: { 200: Schemas['DeliveryPage'] }
    options: never
  }
  /**
   * Cancel a pending delivery
   *
   * The caller needs the scope of each event type of the webhook, and that of the event of the delivery.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  cancelDelivery: {
    input: {
      /** Id of the delivery */
      request_id: string
    }
    output: { 200: Schemas['Delivery'] }
    options: never
  }
  /**
   * Retry a failed delivery now
   *
   * Makes an attempt now, and after a failure starts the schedule of pauses from the beginning, also for a delivery that is RETRYING. CREATED and SUCCESS are refused with `delivery-not-failed`. If the webhook is inactive, the delivery is RETRYING without `nextAttemptAt`, and is sent when the webhook is active again. If it is deleted, the code is `webhook-deleted`. The caller needs the scope of each event type of the webhook, and that of the event of the delivery.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  retryDelivery: {
    input: {
      /** Id of the delivery */
      request_id: string
    }
    output: { 200: Schemas['Delivery'] }
    options: never
  }
  /**
   * Get a webhook
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  getWebhook: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then */
      at?: string | undefined
    }
    output: { 200: Schemas['Webhook'] }
    options: 'ifNoneMatch'
  }
  /**
   * Replace a webhook
   *
   * The next attempt of each delivery uses the new url. Setting active to true clears disabledReason. The caller needs the scopes of all event types of the webhook, before and after the change. For a new url the caller also needs the scopes of the event types of all pending deliveries. The change is refused if the webhook would be active and the role of its owner lacks the scope of one of its event types.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  updateWebhook: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      body: Schemas['WebhookUpdate']
    }
    output: { 200: Schemas['Webhook'] }
    options: 'ifMatch'
  }
  /**
   * Delete a webhook and cancel its pending deliveries
   *
   * The caller needs the scope of each event type of the webhook.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  deleteWebhook: {
    input: {
      /** Id of the webhook */
      webhook_id: string
    }
    output: { 204: undefined }
    options: 'ifMatch'
  }
  /**
   * Deliver events that did not arrive
   *
   * Creates deliveries for the events in a time range that the webhook now subscribes to and that have no delivery, because the webhook was inactive or did not exist, and retries deliveries that were given up. Deliveries that have succeeded, are pending or were cancelled stay unchanged. One recovery of a webhook runs at a time. The caller needs the scope of each event type of the webhook.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  recoverWebhook: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** true: change nothing, and answer with what the recovery would do */
      dryRun?: boolean | undefined
      body: Schemas['RecoveryInput']
    }
    output: { 200: Schemas['RecoveryPlan']; 202: Schemas['Recovery'] }
    options: 'idempotencyKey'
  }
  /**
   * List the recoveries of a webhook
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  listRecoveries: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: createdAt, status */
      sort?: Array<`${'createdAt' | 'status'}${'' | ',asc' | ',desc'}`> | undefined
    }
    output: { 200: Schemas['RecoveryPage'] }
    options: never
  }
  /**
   * Get a recovery
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  getRecovery: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Id of the recovery */
      recovery_id: string
    }
    output: { 200: Schemas['Recovery'] }
    options: never
  }
  /**
   * Cancel a recovery
   *
   * Deliveries that it has already created or retried are not cancelled. The caller needs the scope of each event type of the webhook.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  cancelRecovery: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Id of the recovery */
      recovery_id: string
    }
    output: { 200: Schemas['Recovery'] }
    options: never
  }
  /**
   * List the deliveries of a webhook
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  listWebhookDeliveries: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: createdAt, status, eventType, lastAttemptAt, nextAttemptAt */
      sort?: Array<`${'createdAt' | 'status' | 'eventType' | 'lastAttemptAt' | 'nextAttemptAt'}${'' | ',asc' | ',desc'}`> | undefined
      status?: Schemas['DeliveryStatus'] | undefined
      /** Deliveries of events of this type; TEST for tests */
      eventType?: Schemas['WebhookEventType'] | undefined
      /** Deliveries of this event */
      eventId?: string | undefined
      /** Deliveries of events whose data name one of these APIs; only of event types whose scope the caller has. Repeated or comma-separated */
      api?: Array<string> | undefined
      /** Earliest time of creation, inclusive */
      from?: string | undefined
      /** Latest time of creation, exclusive */
      to?: string | undefined
      /** Earliest time of the last attempt, inclusive: a daily job finds what has failed since */
      lastAttemptFrom?: string | undefined
      /** Latest time of the last attempt, exclusive */
      lastAttemptTo?: string | undefined
    }
    output: { 200: Schemas['DeliveryPage'] }
    options: never
  }
  /**
   * Get a delivery
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  getDelivery: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Id of the delivery */
      request_id: string
    }
    output: { 200: Schemas['Delivery'] }
    options: never
  }
  /**
   * Rotate the signing secret
   *
   * For 24 hours deliveries carry signatures of both the old and the new secret. The caller needs the scope of each event type of the webhook.
   *
   * A response that is repeated for an Idempotency-Key contains `secret` only for the credential that first received it. For another login or JWT of the platform of the same user `secret` is null and `secretWithheld` is true.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  rotateWebhookSecret: {
    input: {
      /** Id of the webhook */
      webhook_id: string
    }
    output: { 200: Schemas['NewWebhook'] }
    options: 'idempotencyKey'
  }
  /**
   * Send a test delivery
   *
   * Makes a single attempt, even if the webhook is inactive. If it fails, the delivery is GIVE_UP at once. Each retry of a test makes a single attempt too. The caller needs the scope of each event type of the webhook.
   *
   * Requires the scope **WEBHOOKS_WRITE**.
   */
  testWebhook: {
    input: {
      /** Id of the webhook */
      webhook_id: string
    }
    output: { 202: Schemas['Delivery'] }
    options: never
  }
  /**
   * List the changes of an API
   *
   * Newest first, unless sorted otherwise. Also available after the deletion.
   *
   * Requires the scope **API_READ**.
   */
  getApiHistory: {
    input: {
      /** Id of the API */
      api_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: timestamp */
      sort?: Array<`${'timestamp'}${'' | ',asc' | ',desc'}`> | undefined
      /** Earliest timestamp, inclusive */
      from?: string | undefined
      /** Latest timestamp, exclusive */
      to?: string | undefined
      /** Include the changes of its versions */
      includeVersions?: boolean | undefined
    }
    output: { 200: Schemas['HistoryPage'] }
    options: never
  }
  /**
   * List the changes of a version
   *
   * Newest first, unless sorted otherwise. Also available after the deletion. A name means the version that had it last.
   *
   * Requires the scope **API_READ**.
   */
  getVersionHistory: {
    input: {
      /** Id of the API */
      api_id: string
      /** The version's id or its name */
      version_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: timestamp */
      sort?: Array<`${'timestamp'}${'' | ',asc' | ',desc'}`> | undefined
      /** Earliest timestamp, inclusive */
      from?: string | undefined
      /** Latest timestamp, exclusive */
      to?: string | undefined
    }
    output: { 200: Schemas['HistoryPage'] }
    options: never
  }
  /**
   * List the changes of a webhook
   *
   * Newest first, unless sorted otherwise. Also available after the deletion.
   *
   * Requires the scope **WEBHOOKS_READ**.
   */
  getWebhookHistory: {
    input: {
      /** Id of the webhook */
      webhook_id: string
      /** Page number, from 1 */
      page?: number | undefined
      /** Items on a page */
      size?: number | undefined
      /** property,(asc|desc), repeatable; properties: timestamp */
      sort?: Array<`${'timestamp'}${'' | ',asc' | ',desc'}`> | undefined
      /** Earliest timestamp, inclusive */
      from?: string | undefined
      /** Latest timestamp, exclusive */
      to?: string | undefined
    }
    output: { 200: Schemas['HistoryPage'] }
    options: never
  }
  /**
   * Read public events, optionally from a position on
   *
   * A page (application/json), or a stream as newline-delimited JSON (application/x-ndjson) or server-sent events (text/event-stream), as the Accept header prefers; application/json without a preference. Events are in the order in which each service recorded them. A stream ends after the last event, or stays open for new events with follow=true and always as server-sent events.
   *
   * With format=cloudevents the events are CloudEvents 1.0 events. They are too with the media types of CloudEvents: application/cloudevents-batch+json is a page as a batch, with the position after it in the header Event-Position; application/cloudevents+json is a stream with one event per line.
   *
   * Every event has a position. To continue after an interruption, pass the last position as `after`, or as Last-Event-ID. Positions follow the event log: they stay valid when the message bus is lost and built again, and each event of the log is then still read exactly once. When the log is replaced by a backup, they are refused with 409: read from a time, or from the beginning. A stream whose filters have let nothing pass for a while sends its position alone: as a line that has only `position`, or as a server-sent event that has only an id. A follower that does not read for 30 seconds is disconnected.
   *
   * Filters can be combined. They apply to the events that the caller may read; events of a type whose scope the caller lacks are left out. A position of one reader is valid for every other reader. If events after the given position have been removed because of their age, the request is refused with 410, and `oldestPosition` is the first position that is accepted. The number of requests that read past events at the same time is limited. A further one waits until another one has read them all; after 10 seconds it is answered with 503 and Retry-After. The scopes: API_READ: API_CREATED, API_UPDATED, API_DELETED, API_DEPLOYED, API_UNDEPLOYED, API_DEPLOYMENT_FAILED, API_VERSION_CREATED, API_VERSION_UPDATED, API_VERSION_DELETED, API_IMAGE_UPDATED, API_IMAGE_DELETED, API_VERSION_DOCUMENT_UPDATED, API_VERSION_DOCUMENT_DELETED, PRODUCT_API_ADDED, PRODUCT_API_REMOVED, DEPLOYMENT_REQUESTED. WEBHOOKS_READ: WEBHOOK_FAILING, WEBHOOK_DISABLED, TEST, WEBHOOK_CREATED, WEBHOOK_UPDATED, WEBHOOK_TRANSFERRED, WEBHOOK_SECRET_ROTATED, WEBHOOK_DELETED, RECOVERY_REQUESTED, RECOVERY_CANCELLED, DELIVERY_RETRIED, DELIVERY_CANCELLED. SUBSCRIPTIONS_READ: SUBSCRIPTION_CREATED, SUBSCRIPTION_DELETED. APPROVAL_REQUEST_READ: APPROVAL_REQUEST_CREATED, APPROVAL_REQUEST_DECIDED. CONFIGURATION_READ: CONFIGURATION_CHANGED. USER_READ: USER_CREATED, USER_UPDATED, USER_DELETED, USER_ERASED.
   *
   * Requires the scope **AUDIT_LOG_READ**.
   */
  streamEvents: {
    input: {
      /** Position, exclusive. If absent: from the oldest event, or from the time `from` */
      after?: string | undefined
      /** Whether a stream stays open for new events. Default: true for text/event-stream, which has no other value; false otherwise. A page cannot follow */
      follow?: boolean | undefined
      /** cloudevents: events as CloudEvents 1.0, in any media type. Default: StreamedEvent */
      format?: 'cloudevents' | undefined
      /** Events on a page; only for application/json and application/cloudevents-batch+json */
      size?: number | undefined
      /** Event type; repeated or comma-separated for several types */
      type?: Array<Schemas['StreamedEventType']> | undefined
      /** Id of the API that the event concerns */
      api?: string | undefined
      /** Id of the webhook that the event concerns */
      webhook?: string | undefined
      /** Id of the user that caused the event or was changed by it */
      user?: string | undefined
      /** Earliest time of the event, inclusive; not in the future. Reading begins close to it, not at the oldest event */
      from?: string | undefined
      /** Latest time of the event, exclusive */
      to?: string | undefined
    }
    output: { 200: Schemas['EventPage'] }
    options: never
  }
  /**
   * Publish an event of the platform
   *
   * Accepts a CloudEvents 1.0 event in structured JSON. An event that is sent again with the same source and id is stored and delivered to webhooks only once.
   *
   * Requires the scope **CONFIGURATION_WRITE**.
   */
  publishEvent: {
    input: {
      body: Schemas['CloudEvent']
    }
    output: { 202: Schemas['EventReceipt'] }
    options: never
  }
  /**
   * List the schemas of all event types
   *
   * One for each version of each type. A version never changes, except that it gets optional members.
   *
   * Requires no credentials.
   */
  listEventSchemas: {
    input: {}
    output: { 200: Array<Schemas['EventSchema']> }
    options: never
  }
  /**
   * Get the JSON Schema of the data of an event type in a version
   *
   * JSON Schema 2020-12. The attribute dataschema of a CloudEvents event is the URL of its schema.
   *
   * Requires no credentials.
   */
  getEventSchema: {
    input: {
      type: string
      /** The version */
      version: number
    }
    output: { 200: Schemas['JsonSchema'] }
    options: never
  }
  /**
   * List the read models of all services
   *
   * Documents that are computed from the event log, by the projector that computes them.
   *
   * Requires the scope **CONFIGURATION_READ**.
   */
  listReadModels: {
    input: {}
    output: { 200: Array<Schemas['ReadModel']> }
    options: never
  }
  /**
   * Cancel the rebuild of a read model
   *
   * The live generation stays. What was built is deleted.
   *
   * Requires the scope **CONFIGURATION_WRITE**.
   */
  cancelRebuild: {
    input: {
      /** The name of a read model */
      name: string
    }
    output: { 202: Schemas['ReadModel'] }
    options: never
  }
  /**
   * Rebuild a read model from the event log
   *
   * A new generation is built while the live one is read. Then all readers switch to it. While a rebuild is requested or runs, a further request starts no other one.
   *
   * Requires the scope **CONFIGURATION_WRITE**.
   */
  rebuildReadModel: {
    input: {
      /** The name of a read model */
      name: string
    }
    output: { 202: Schemas['ReadModel'] }
    options: never
  }
  /**
   * List the keys that sign login tokens and audit proofs
   *
   * All keys that ever were, by purpose, the newest first. Only their public parts. Programs that verify signatures use the key sets under /.well-known, which need no credentials.
   *
   * Requires the scope **CONFIGURATION_READ**.
   */
  listSigningKeys: {
    input: {}
    output: { 200: Array<Schemas['SigningKey']> }
    options: never
  }
  /**
   * Get the state of the services, their lag and their backing stores
   *
   * The services are asked when the request arrives. The answer waits for them for at most three seconds; one that does not answer is shown as UNAVAILABLE.
   *
   * Requires the scope **CONFIGURATION_READ**.
   */
  getSystem: {
    input: {}
    output: { 200: Schemas['System'] }
    options: never
  }
  /** Check that the process is running */
  getLiveness: {
    input: {}
    output: { 200: Schemas['Live'] }
    options: never
  }
  /** Check whether the process can answer requests */
  getReadiness: {
    input: {}
    output: { 200: Schemas['Ready'] }
    options: never
  }
  /** Metrics in the text format of Prometheus */
  getMetrics: {
    input: {}
    output: { 200: ReadableStream<Uint8Array> }
    options: never
  }
  /** This document */
  getOpenapi: {
    input: {}
    output: { 200: Schemas['OpenApiDocument'] }
    options: never
  }
  /**
   * The events, for programs that receive them
   *
   * Rendered at /docs/events.
   */
  getAsyncapi: {
    input: {}
    output: { 200: Schemas['AsyncApiDocument'] }
    options: never
  }
  /** Keys that verify login tokens */
  getJwks: {
    input: {}
    output: { 200: Schemas['KeySet'] }
    options: never
  }
  /**
   * Keys that verify audit proofs
   *
   * All keys that ever were, with the time in which each signs. None of them is accepted for a login.
   */
  getAuditKeys: {
    input: {}
    output: { 200: Schemas['AuditKeySet'] }
    options: never
  }
}
