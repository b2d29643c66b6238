export { type Aggregate, type AggregateOptions, aggregate, type Executed } from './commands/aggregate.ts'
export {
  type CommandMetadata,
  type Conditional,
  type Decider,
  type DomainCommand,
  requireRevision,
} from './commands/decider.ts'
export { type Reservations, reservations } from './commands/reservation.ts'
export {
  type Actor,
  type DomainEvent,
  type EventMetadata,
  type EventSchemas,
  type Fact,
  type JsonObject,
  knowsSchema,
  type NewEvent,
  nameUuids,
  newest,
  type Position,
  parsedText,
  positionNumber,
  type RecordedEvent,
  recordedEvent,
  START,
  streamCategory,
  streamId,
  streamName,
  upcast,
} from './log/event.ts'
export {
  type Appended,
  AppendTooLarge,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_APPEND_EVENTS,
  NO_STREAM,
  type ReadAllOptions,
  type StoredSnapshot,
  type SubscriptionItem,
  WrongExpectedRevision,
} from './log/event-store.ts'
export { StreamQuarantined, type StreamState } from './log/fold.ts'
export { type Lag, lagAfter, MAX_READ } from './log/lag.ts'
export { LOG_IDENTITY, logIdentity, renewLogIdentity } from './log/log-identity.ts'
export { PersistentMap } from './log/persistent-map.ts'
export { atMost, type SnapshotSchema } from './log/snapshots.ts'
export {
  type DocumentChange,
  type Period,
  PeriodProjection,
  type PeriodProjectionOptions,
  periodFields,
  validity,
} from './projections/period-projection.ts'
export type {
  OrderedProjection,
  OrderedRun,
  Project,
  Projected,
  Projection,
  ProjectionTarget,
} from './projections/projection.ts'
export { Projector, type ProjectorOptions, projectorId } from './projector/projector.ts'
export { listReadModels } from './projector/read-model-record.ts'
export { readModelStates } from './projector/read-model-states.ts'
export { cancelRebuild, pendingRebuild, requestRebuild } from './projector/rebuild-requests.ts'
export { EarlyMessages, handlingEarly } from './publishing/early-messages.ts'
export { HeldMessages } from './publishing/held-messages.ts'
export { handledThrough, type Reaction, type ReactorOptions, startReactor } from './publishing/reactor.ts'
export { LOG_OF_MODELS, LOG_POSITION, type Publication, startRelay } from './publishing/relay.ts'
export { type ConfirmLease, superviseUnderLease, underLease } from './supervision/lease.ts'
export {
  type HeldStream,
  heldStreams,
  isRelay,
  listHeld,
  pastQuarantine,
  relaysOf,
  requestRetry,
} from './supervision/quarantine.ts'
export { type Log, OperatorNeeded, supervise, type Worker } from './supervision/worker.ts'
