export {
  BodyBytes,
  BodyMemory,
  countBodies,
  countBody,
  countedBody,
  GrowingBuffer,
  readBody,
  retainBody,
} from './body-memory.ts'
export { measureBuffer } from './buffered-bytes.ts'
export { ANONYMOUS, callerOf, noteCaller } from './caller.ts'
export { etag, matchesNone, revisionsOf } from './conditional.ts'
export { CONNECTION_TIMEOUTS, type ConnectionLimits, type ConnectionTimeouts } from './connections.ts'
export { duration, durations, writtenDuration } from './durations.ts'
export {
  EncryptionKeyMissing,
  type EncryptionKeys,
  encryptionKeys,
  firstInUse,
  type KeyInUse,
  missingKeys,
  parseEncryptionKeys,
  plainKey,
  type RecordedKeys,
  type Sealer,
  sealer,
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
export { type Instrumented, instrumented } from './instrumented.ts'
export { watchedLeases } from './lease-metrics.ts'
export { listing, page } from './listing.ts'
export { OpenConnections } from './open-connections.ts'
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
export { RELEASE, RELEASE_HEADER } from './release.ts'
export { contextOfRequest } from './request-context.ts'
export { retryAfterMs } from './retry-after.ts'
export { routeOf } from './route-of.ts'
export {
  type AddRoute,
  type Call,
  checkParams,
  checkQuery,
  requireScope,
  router,
} from './routes.ts'
export { deriveKey, fingerprint, seal, unseal } from './secrets.ts'
export { httpServer, INTERNAL_PORT_HEADER, type ServerOptions } from './server.ts'
export type { Admit, Dependencies, Service, ServiceProcess } from './service.ts'
export { type Responders, serviceFrom } from './service-parts.ts'
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
export { formatSecret, parseSecret, signedHeaders } from './standard-webhooks.ts'
export { type Moment, type Moments, requirePast, type Temporal, temporal } from './temporal.ts'
export { type NamesOf, userNames } from './user-names.ts'
export { announceWaits } from './waits.ts'
