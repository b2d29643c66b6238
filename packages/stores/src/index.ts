export type { BlobDraft, BlobStore, ByteRange } from './blob-store.ts'
export {
  type Collection,
  type CollectionDefinition,
  type Condition,
  type Document,
  DocumentTooLarge,
  defineCollection,
  type FieldKind,
  type Filter,
  type Found,
  type Query,
  ReadModelsUnavailable,
  type Scalar,
  type Sort,
  type Stored,
  UnknownField,
  type ValueCount,
  type Write,
} from './collection.ts'
export { storedGenerations, withGenerations } from './generations.ts'
export {
  type Checkpoints,
  type CollectionGroup,
  type CollectionName,
  FRESH_MS,
  foldCase,
  type Generations,
  type Lease,
  LeaseLost,
  type Leases,
  REMOVALS_KEPT_MS,
  type ReadModelStore,
  type ReadModels,
} from './read-models.ts'
export { type UserKey, type UserKeys, UserKeysUnavailable } from './user-keys.ts'
