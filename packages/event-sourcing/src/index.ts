export { type Aggregate, type AggregateOptions, aggregate, type Executed } from './aggregate.ts'
export type { View } from './aggregate-projection.ts'
export type { CommandMetadata, Decider, DomainCommand } from './decider.ts'
export {
  type Actor,
  type DomainEvent,
  type EventMetadata,
  type EventSchemas,
  type Fact,
  type JsonObject,
  type NewEvent,
  nameUuids,
  newest,
  type Position,
  parsedText,
  type RecordedEvent,
  recordedEvent,
  START,
  streamCategory,
  streamId,
  streamName,
  type Upcaster,
  upcast,
} from './event.ts'
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
} from './event-store.ts'
export { pastQuarantine, StreamQuarantined, type StreamState } from './fold.ts'
export { HeldMessages } from './held-messages.ts'
export { type Lag, lagAfter, MAX_READ } from './lag.ts'
export { type ConfirmLease, type LeaseOptions, underLease } from './lease.ts'
export { LOG_IDENTITY, logIdentity, renewLogIdentity } from './log-identity.ts'
export {
  type DocumentChange,
  type Period,
  PeriodProjection,
  type PeriodProjectionOptions,
  periodFields,
  validity,
} from './period-projection.ts'
export { PersistentMap } from './persistent-map.ts'
export { type Conditional, requireRevision } from './precondition.ts'
export type {
  OrderedProjection,
  Project,
  Projection,
  ProjectionTarget,
} from './projection.ts'
export { Projector, type ProjectorOptions, projectorKey } from './projector.ts'
export { type HeldStream, heldStreams, isRelay, listHeld, relaysOf, requestRetry } from './quarantine.ts'
export { type ReactorOptions, startReactor } from './reactor.ts'
export { listReadModels } from './read-model-record.ts'
export { type ReadModelState, readModelStates } from './read-model-states.ts'
export { cancelRebuild, joinRebuild, pendingRebuild, requestRebuild } from './rebuild-requests.ts'
export { LOG_OF_MODELS, LOG_POSITION, type Publication, type RelayOptions, startRelay } from './relay.ts'
export { type ReservationOptions, type Reservations, reservations } from './reservation.ts'
export type { SnapshotOptions, SnapshotSchema } from './snapshots.ts'
export { type Log, OperatorNeeded, supervise, type Worker } from './worker.ts'
