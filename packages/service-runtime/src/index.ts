export { charsetOf, gunzipped, isGzip } from './http/body-content.ts'
export {
  BodyBytes,
  BodyMemory,
  countBodies,
  countBody,
  countedBody,
  GrowingBuffer,
  readBody,
  retainBody,
} from './http/body-memory.ts'
export { networkOf } from './http/client-network.ts'
export {
  type HistoryDocument,
  hasHistory,
  historyDocument,
  historyFields,
  historyPage,
  placeIn,
} from './http/history.ts'
export { listing, page, termsOf } from './http/listing.ts'
export {
  derivedPrincipalKey,
  type PassedPrincipals,
  PRINCIPAL_HEADER,
  type Purpose,
  passedPrincipals,
} from './http/passed-principal.ts'
export { answerProblem, refusalOf } from './http/problem.ts'
export {
  ANONYMOUS,
  CRAWLER,
  callerOf,
  contextOfRequest,
  isAnonymous,
  loggedPath,
  noteCaller,
} from './http/request-context.ts'
export { countResponse, ResponseMemory } from './http/response-memory.ts'
export {
  type AddRoute,
  checkParams,
  checkQuery,
  etag,
  ifMatchTags,
  matchesNone,
  requireScope,
  routeOf,
  router,
} from './http/routes.ts'
export {
  httpServer,
  INTERNAL_PORT_HEADER,
  OpenConnections,
  RELEASE,
  RELEASE_HEADER,
  type ServerOptions,
} from './http/server.ts'
export { type Moment, type Moments, requirePast, type Temporal, temporal } from './http/temporal.ts'
export {
  deriveKey,
  EncryptionKeyMissing,
  type EncryptionKeys,
  encryptionKeys,
  fingerprint,
  firstInUse,
  parseEncryptionKeys,
  plainKey,
  type Sealer,
  seal,
  sealer,
  unseal,
} from './secrets/encryption-keys.ts'
export { requireEncryptionKeys, retireEncryptionKeys, useEncryptionKeys } from './secrets/keys-in-use.ts'
export { formatSecret, parseSecret, signedHeaders } from './secrets/standard-webhooks.ts'
export { type Instrumented, instrumented } from './service/append-watch.ts'
export { measureBuffer } from './service/buffers.ts'
export { foreignEvents, logErrorCounter, readModelMetrics } from './service/event-metrics.ts'
export { Intake } from './service/intake.ts'
export { watchedLeases } from './service/lease-metrics.ts'
export {
  type LocalPeers,
  localPeers,
  type Peers,
  type Responder,
  responder,
  Unanswered,
} from './service/peers.ts'
export { processLog } from './service/process-log.ts'
export {
  changed,
  contentOf,
  publicMessage,
  reactionTo,
  resourceMessages,
  sendDirectly,
} from './service/public-events.ts'
export {
  type Admit,
  type Dependencies,
  ownMetadata,
  type Service,
  type ServiceProcess,
} from './service/service.ts'
export { serviceFrom } from './service/service-parts.ts'
export { type NamesOf, userNames } from './service/user-names.ts'
export { duration, durations, writtenDuration } from './settings/durations.ts'
export {
  basePath,
  bodyMemory,
  key,
  list,
  misspelledSettings,
  origins,
  port,
  publicUrl,
  readSettings,
  responseMemory,
  SettingsRefused,
  shutdownTimeout,
  whole,
} from './settings/settings.ts'
export { type Slot, Slots } from './slots.ts'
