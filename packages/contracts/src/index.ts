export { OPERATIONS } from './all-operations.ts'
export {
  type ApiFacets,
  ApiInput,
  ApiRecord,
  ApiSnapshot,
  cancelDeployment,
  createApi,
  DeploymentStatus,
  deleteApi,
  deployApi,
  getApi,
  getApiFacets,
  Job,
  listApis,
  restoreApi,
  undeployApi,
  updateApi,
} from './apis.ts'
export { asyncApiDocument } from './asyncapi.ts'
export { type AuditDayRoot, listAuditProofs } from './audit.ts'
export {
  auditedAction,
  type Change,
  type ChangeAction,
  type ComposedEventType,
  type SealedFields,
} from './changes.ts'
export {
  CLOUDEVENTS_BATCH,
  CLOUDEVENTS_JSON,
  type CloudEventContent,
  EmittedCloudEvent,
  toCloudEvent,
} from './cloud-events.ts'
export {
  eventSchema,
  eventSchemas,
  getEventSchema,
  jsonSchemaOf,
  listEventSchemas,
  SCHEMA_MEDIA_TYPE,
} from './event-schemas.ts'
export {
  CloudEvent,
  EVENT_MEDIA_TYPES,
  type EventMediaType,
  EventPage,
  publishEvent,
  StreamedEvent,
  streamEvents,
} from './events.ts'
export {
  getApiHistory,
  getVersionHistory,
  getWebhookHistory,
  type HistoryEntry,
  type PatchOperation,
  type Who,
} from './history.ts'
export {
  AccessTokenInput,
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
  NewAccessToken,
  Session,
  UserInput,
  UserRecord,
  UserStatus,
  UserUpdate,
  unlockUser,
  updateUser,
} from './identity.ts'
export { deleteImage, downloadImage, IMAGE_TYPES, ImageRecord, uploadImage } from './images.ts'
export { openApiDocument } from './openapi.ts'
export { Ready } from './openapi-service.ts'
export {
  bodyLimitOf,
  type Method,
  type Operation,
  type OperationResponses,
  operation,
  type Parsed,
  type ResponseBody,
  type ServiceName,
} from './operation.ts'
export { isDeeperThan, MAX_DEPTH, readableData, type SortBy, utcTime } from './primitives.ts'
export { Principal } from './principal.ts'
export { invalidField, isProblemCode, PROBLEMS, Problem, type ProblemCode, Refusal } from './problems.ts'
export {
  EVENT_TYPES,
  type EventType,
  isEventType,
  isPublicEventType,
  mayReadEvent,
  PLATFORM_EVENTS,
  type PlatformEventType,
  PUBLIC_EVENTS,
  PublicEvent,
  type PublicEventData,
  type PublicEventType,
  readScopesOf,
} from './public-events.ts'
export { cancelRebuild, listReadModels, ReadModelState, rebuildReadModel } from './read-models.ts'
export { CHANGED_STREAMS } from './resource-types.ts'
export { ADMINISTRATOR_ROLES, ROLE_SCOPES, ROLES, Role, SCOPES, Scope } from './scopes.ts'
export { listSigningKeys, type SigningKeyRecord } from './signing-keys.ts'
export { STREAM_CATEGORIES } from './stream-categories.ts'
export {
  DeploymentReport,
  EVENT_SERVICES,
  MAX_NAMED_USERS,
  Resealed,
  ResealRequest,
  serviceOf,
  subjects,
  UserName,
  UserNames,
  UserStanding,
} from './subjects.ts'
export {
  type BackingStoreState,
  getSystem,
  type Lag,
  ProcessState,
  ServiceState,
  type System,
} from './system.ts'
export { normalUsername } from './username.ts'
export {
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  updateVersion,
  VersionInput,
  VersionRecord,
} from './versions.ts'
export {
  Attempt,
  cancelDelivery,
  cancelRecovery,
  createWebhook,
  DELIVERY_STATUSES,
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
  RecoveryInput,
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
} from './webhooks.ts'
