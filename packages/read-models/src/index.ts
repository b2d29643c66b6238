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
  type Write,
} from './collection.ts'
export { foldCase } from './fold-case.ts'
export {
  type BlobStore,
  type Checkpoints,
  type Lease,
  LeaseLost,
  type Leases,
  type ReadModels,
} from './read-models.ts'
