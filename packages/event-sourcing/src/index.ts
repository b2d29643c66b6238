export { type Aggregate, type AggregateOptions, aggregate } from './aggregate.ts'
export type { View } from './aggregate-projection.ts'
export type { Executed } from './command-handler.ts'
export type { CommandMetadata, Decider, DomainCommand } from './decider.ts'
export {
  type Actor,
  type DomainEvent,
  type EventMetadata,
  type Fact,
  type JsonObject,
  type NewEvent,
  type Position,
  parsedText,
  type RecordedEvent,
  recordedEvent,
  START,
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
export { nameUuids } from './name-uuid.ts'
export {
  type DocumentChange,
  PeriodProjection,
  type PeriodProjectionOptions,
} from './period-projection.ts'
export { type Period, periodFields, validity } from './periods.ts'
export { PersistentMap } from './persistent-map.ts'
export { type Conditional, requireRevision } from './precondition.ts'
export {
  type OrderedProjection,
  type Project,
  type Projection,
  type ProjectionTarget,
  projectionOfEach,
} from './projection.ts'
export { Projector, type ProjectorOptions, projectorKey } from './projector.ts'
export { type HeldStream, heldStreams, isRelay, listHeld, relaysOf, requestRetry } from './quarantine.ts'
export { type ReactorOptions, startReactor } from './reactor.ts'
export { listReadModels } from './read-model-record.ts'
export { type ReadModelState, readModelStates } from './read-model-states.ts'
export { cancelRebuild, joinRebuild, pendingRebuild, requestRebuild } from './rebuild-requests.ts'
export { LOG_POSITION, type Publication, type RelayOptions, startRelay } from './relay.ts'
export { type ReservationOptions, type Reservations, reservations } from './reservation.ts'
export { type EventSchemas, newest, type Upcaster, upcast } from './schema.ts'
export type { SnapshotOptions, SnapshotSchema } from './snapshots.ts'
export { streamCategory, streamId, streamName } from './stream-name.ts'
export { type Log, OperatorNeeded, supervise, type Worker } from './worker.ts'
