export { type Instrumented, instrumented } from './append-watch.ts'
export {
  BodyBytes,
  BodyMemory,
  countBodies,
  countBody,
  countedBody,
  GrowingBuffer,
  measureBuffer,
  readBody,
  retainBody,
} from './body-memory.ts'
export { CONNECTION_TIMEOUTS, type ConnectionLimits, type ConnectionTimeouts } from './connections.ts'
export { duration, durations, writtenDuration } from './durations.ts'
export {
  deriveKey,
  EncryptionKeyMissing,
  type EncryptionKeys,
  encryptionKeys,
  fingerprint,
  firstInUse,
  type KeyInUse,
  missingKeys,
  parseEncryptionKeys,
  plainKey,
  type RecordedKeys,
  type Sealer,
  seal,
  sealer,
  unseal,
} from './encryption-keys.ts'
export { foreignEvents, logErrorCounter, readModelMetrics } from './event-metrics.ts'
export {
  type HistoryDocument,
  hasHistory,
  historyDocument,
  historyFields,
  historyPage,
  placeIn,
  type ResourceChange,
} from './history.ts'
export { watchedLeases } from './lease-metrics.ts'
export { listing, page } from './listing.ts'
export { ownMetadata } from './own-metadata.ts'
export {
  derivedPrincipalKey,
  type PassedPrincipals,
  type PassedPrincipalsOptions,
  PRINCIPAL_HEADER,
  type Purpose,
  passedPrincipals,
} from './passed-principal.ts'
export { answerProblem, refusalOf } from './problem.ts'
export { processLog } from './process-log.ts'
export { changed, publicMessage, resourceMessages, sendDirectly } from './public-events.ts'
export { ANONYMOUS, callerOf, contextOfRequest, noteCaller } from './request-context.ts'
export { retryAfterMs } from './retry-after.ts'
export {
  type AddRoute,
  type Call,
  checkParams,
  checkQuery,
  etag,
  matchesNone,
  requireScope,
  revisionsOf,
  routeOf,
  router,
} from './routes.ts'
export {
  httpServer,
  INTERNAL_PORT_HEADER,
  OpenConnections,
  RELEASE,
  RELEASE_HEADER,
  type ServerOptions,
} from './server.ts'
export type { Admit, Dependencies, Service, ServiceProcess } from './service.ts'
export { type Responders, serviceFrom } from './service-parts.ts'
export { misspelledSettings } from './setting-names.ts'
export {
  basePath,
  bodyMemory,
  key,
  list,
  origins,
  port,
  publicUrl,
  readSettings,
  SettingsRefused,
  shutdownTimeout,
  whole,
} from './settings.ts'
export { type Slot, Slots } from './slots.ts'
export { formatSecret, parseSecret, signedHeaders } from './standard-webhooks.ts'
export { type Moment, type Moments, requirePast, type Temporal, temporal } from './temporal.ts'
export { type NamesOf, userNames } from './user-names.ts'
export { announceWaits } from './waits.ts'
