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
  type Search,
  type Sort,
  type Stored,
  UnknownField,
  type ValueCount,
  type Write,
} from './collection.ts'
export { foldCase } from './fold-case.ts'
export { storedGenerations, withGenerations } from './generations.ts'
export { idsOf, pagesOf } from './pages.ts'
export { queryChecks } from './query-checks.ts'
export {
  type Checkpoints,
  type CollectionGroup,
  type CollectionName,
  FRESH_MS,
  type Generations,
  type Lease,
  LeaseLost,
  type Leases,
  REMOVALS_KEPT_MS,
  type ReadModelStore,
  type ReadModels,
} from './read-models.ts'
export { highlightsIn, type Range } from './search/highlights.ts'
export { impactsOf, isPair, type SearchedField, type SearchedFields, WORDING } from './search/impacts.ts'
export { MemoryWords } from './search/memory-words.ts'
export {
  matchOf,
  mayBeMistyped,
  type Posting,
  pairsOf,
  type Ranking,
  rank,
  type Term,
  termsOf,
  type WordSource,
} from './search/ranking.ts'
export { stemOf, wordsOf } from './search/words.ts'
export { type UserKey, type UserKeys, UserKeysUnavailable } from './user-keys.ts'
