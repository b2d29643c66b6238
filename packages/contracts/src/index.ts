export { OPERATIONS } from './documents/all-operations.ts'
export { asyncApiDocument } from './documents/asyncapi.ts'
export { openApiDocument } from './documents/openapi.ts'
export { Ready } from './documents/openapi-service.ts'
export { auditedAction, type Change, type ChangeAction, type ComposedEventType } from './events/changes.ts'
export { CLOUDEVENTS_BATCH, CLOUDEVENTS_JSON, toCloudEvent } from './events/cloud-events.ts'
export {
  eventSchema,
  eventSchemas,
  getEventSchema,
  jsonSchemaOf,
  listEventSchemas,
  SCHEMA_MEDIA_TYPE,
} from './events/event-schemas.ts'
export {
  CloudEvent,
  EVENT_MEDIA_TYPES,
  type EventMediaType,
  EventPage,
  publishEvent,
  StreamedEvent,
  streamEvents,
} from './events/events.ts'
export {
  EVENT_TYPES,
  type EventType,
  isEventType,
  isPublicEventType,
  mayReadEvent,
  type PlatformEventType,
  PUBLIC_EVENTS,
  PublicEvent,
  type PublicEventData,
  type PublicEventType,
  readScopesOf,
} from './events/public-events.ts'
export { DeploymentReport, EVENT_SERVICES, STREAM_CATEGORIES, subjects } from './events/subjects.ts'
export { getApiCatalog, LINKSET_MEDIA_TYPE, type Linkset, relationOf } from './operations/api-catalog.ts'
export {
  type ApiFacets,
  ApiInput,
  ApiRecord,
  ApiSnapshot,
  AttachedDocument,
  cancelDeployment,
  createApi,
  DeploymentStatus,
  deleteApi,
  deployApi,
  getApi,
  getApiFacets,
  Job,
  listApis,
  MAX_SCORED,
  MAX_TAGS,
  restoreApi,
  undeployApi,
  updateApi,
} from './operations/apis.ts'
export { type AuditDayRoot, listAuditProofs } from './operations/audit.ts'
export { DocumentKind } from './operations/document-kinds.ts'
export {
  compareDocument,
  DescribedOperation,
  type DocumentChange,
  type DocumentDiff,
  type DocumentError,
  type DocumentFinding,
  DocumentRecord,
  deleteDocument,
  downloadDocument,
  type Finding,
  listDocuments,
  listFindings,
  listOperations,
  listVersionOperations,
  MAX_DOCUMENT_BYTES,
  type OperationQuery,
  putDocument,
  type ScoredDocument,
} from './operations/documents.ts'
export {
  getApiHistory,
  getVersionHistory,
  getWebhookHistory,
  type HistoryEntry,
  type PatchOperation,
  type Who,
} from './operations/history.ts'
export {
  AccessTokenRecord,
  AuditRecord,
  AuthenticatedUser,
  createAccessToken,
  createUser,
  deleteAccessToken,
  deleteUser,
  EXPORT_MEDIA_TYPES,
  eraseUser,
  exportAuditLog,
  getAccessToken,
  getSession,
  getUser,
  listAccessTokens,
  listAuditLog,
  listUsers,
  login,
  logout,
  Session,
  UserInput,
  UserRecord,
  UserUpdate,
  unlockUser,
  updateUser,
} from './operations/identity.ts'
export { deleteImage, downloadImage, ImageRecord, uploadImage } from './operations/images.ts'
export { ImportPlan, importApi } from './operations/imports.ts'
export {
  BulkChange,
  cancelJob,
  changeApis,
  getJob,
  JobRecord,
  JobResult,
  listJobResults,
  listJobs,
  MAX_JOB_ITEMS,
  MAX_JOBS_PER_USER,
} from './operations/jobs.ts'
export {
  bodyLimitOf,
  type Method,
  type Operation,
  type OperationResponses,
  operation,
  type Parsed,
  type ResponseBody,
  type ServiceName,
} from './operations/operation.ts'
export {
  ActiveStatus,
  isDeeperThan,
  MAX_DEPTH,
  readableData,
  type SortBy,
  utcTime,
} from './operations/primitives.ts'
export {
  invalidField,
  isProblemCode,
  PROBLEMS,
  Problem,
  type ProblemCode,
  Refusal,
} from './operations/problems.ts'
export { cancelRebuild, listReadModels, ReadModelState, rebuildReadModel } from './operations/read-models.ts'
export {
  createRuleSet,
  DEFAULT_RULE_SET,
  deleteRuleSet,
  getRuleSet,
  listRuleSets,
  MAX_RULE_SETS,
  RULE_SET_KINDS,
  RuleSetInput,
  RuleSetRecord,
  RuleSetSnapshot,
  updateRuleSet,
} from './operations/rule-sets.ts'
export {
  ADMINISTRATOR_ROLES,
  Principal,
  ROLE_SCOPES,
  ROLES,
  Role,
  SCOPES,
  Scope,
} from './operations/scopes.ts'
export {
  type BackingStoreState,
  getSystem,
  type Lag,
  listSigningKeys,
  ProcessState,
  ServiceState,
  type SigningKeyRecord,
  type System,
} from './operations/system.ts'
export { normalUsername } from './operations/username.ts'
export {
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  updateVersion,
  VersionInput,
  VersionRecord,
} from './operations/versions.ts'
export {
  Attempt,
  cancelDelivery,
  cancelRecovery,
  createWebhook,
  DeliveryRecord,
  DeliveryStatus,
  deleteWebhook,
  EventTypeRecord,
  getDelivery,
  getRecovery,
  getWebhook,
  listDeliveries,
  listEventTypes,
  listRecoveries,
  listWebhookDeliveries,
  listWebhooks,
  NewWebhook,
  RecordedWebhook,
  RecoveryRecord,
  recoverWebhook,
  retryDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  WebhookFormat,
  WebhookHealth,
  WebhookInput,
  WebhookRecord,
  WebhookUpdate,
} from './operations/webhooks.ts'
export {
  type AboutApi,
  MAX_DESCRIBED,
  MAX_NAMED_USERS,
  MAX_VERSIONS_BEFORE,
  type ReceivedDocument,
  type Reseal,
  type Resealed,
  type Rotation,
  requests,
  type ServiceRequest,
  type UserName,
  type UserStanding,
} from './requests.ts'
