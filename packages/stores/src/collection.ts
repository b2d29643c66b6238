import type { SearchedField, SearchedFields } from './search/impacts.ts'

/** A read model: documents that projections write and queries read. */
export interface Document {
  /** Unique in its collection. */
  id: string
}

/** How a field can be filtered and sorted. `strings` is an array of strings, filtered by its items. */
export type FieldKind = 'string' | 'number' | 'boolean' | 'strings'

/** Declares a collection. Adapters create its indexes from the declaration, and refuse queries on other fields. */
export interface CollectionDefinition<D extends Document> {
  /** `{service}.{plural}`, e.g. catalog.apis. */
  name: string
  /**
   * Increase it when the shape of the documents changes: the collection is then rebuilt from the log at start. Each version
   * has its own documents, so that replicas of two versions do not interfere.
   */
  version: number
  /** Fields that filters and sorts can use: top level, or a dotted path. All are indexed. */
  fields: Readonly<Record<string, FieldKind>>
  /** Fields that `text` of a filter searches. */
  text?: ReadonlyArray<keyof D & string>
  /** Fields that `search` of a filter finds words in. */
  search?: SearchedFields
  /**
   * The fields with the beginning (inclusive) and the end (exclusive) of the time in which a document is valid. Set it if
   * most queries ask for one time, `from <= T < to`: adapters keep an index of both fields.
   */
  validity?: { from: string; to: string }
  /**
   * Each generation has its own documents. Services leave it out: the store then uses the live generation of the group
   * of the collection (see `group` of ReadModels), or generation 0 without a group.
   */
  generation?: number
}

/** Infers D; returns the definition as it is. */
export const defineCollection = <D extends Document>(definition: CollectionDefinition<D>) => definition

export type Scalar = string | number | boolean | null

/**
 * The condition on one field. A scalar means equality; for a `strings` field, that the array contains it. Ranges compare
 * numbers as numbers and strings by code unit (so ISO 8601 timestamps by time). A null or missing value is in no range. The
 * condition null is satisfied by null and by a missing field.
 */
export type Condition =
  | Scalar
  | { in: readonly Scalar[] }
  | { not: Scalar }
  /** The array contains all of them. */
  | { all: readonly string[] }
  | { gt?: string | number; gte?: string | number; lt?: string | number; lte?: string | number }

/**
 * Finds documents by words and ranks them. A document is found if its words weigh most of what those of the best document
 * do; rare words weigh more. The last word may be the beginning of a word, and words of five letters or more may have one
 * typo. A query without letters and digits finds nothing.
 */
export interface Search {
  q: string
  /** Documents of other collections of the same store that describe those of this one, whose id is in `field`. */
  described?: readonly {
    // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
    by: CollectionDefinition<any>
    field: string
  }[]
  /** Texts that stand for values of a field, e.g. names for ids. */
  named?: { field: string; texts: Readonly<Record<string, string>>; as: SearchedField }
}

/** All conditions must hold (AND). */
export interface Filter {
  where?: Readonly<Record<string, Condition>>
  /**
   * Each term must be a substring of at least one of the text fields, compared by foldCase. Terms must not contain
   * whitespace; an empty term is ignored.
   */
  text?: readonly string[]
  /** Values of a `strings` field that a document can have instead of a term, e.g. the ids of what the term names. */
  textAs?: { field: string; values: Readonly<Record<string, readonly string[]>> }
  /** Finds nothing in a collection without `search`. */
  search?: Search
}

export interface Sort {
  field: string
  direction: 'asc' | 'desc'
}

export interface Query extends Filter {
  /**
   * Ties are broken by id, in the direction of the first field, ascending without one. Strings sort by code unit, null
   * before every value. Without a field, a search sorts by relevance.
   */
  sort?: readonly Sort[]
  skip?: number
  /** Maximum number of documents, 1 to 1,000. */
  limit: number
  /** Whether the documents are read once, e.g. for an export: an adapter with a cache does not keep them. */
  once?: boolean
  /**
   * Reads only the id and these parts of the documents, which lack the others: fields, or dotted paths through objects and
   * arrays of objects. For documents that can be large. An adapter with a cache does not keep them.
   */
  parts?: readonly string[]
}

/**
 * A document and the revision of the stream state that it shows. It can be shared between readers and must not be modified.
 */
export interface Stored<D> {
  doc: D
  revision: number
}

export interface Found<D> {
  items: Stored<D>[]
  /** Number of documents that satisfy the filter, over all pages. */
  total: number
}

/** A value of a field, and the number of documents that have it. */
export interface ValueCount {
  value: Exclude<Scalar, null>
  count: number
}

export interface Collection<D extends Document> {
  get(id: string): Promise<Stored<D> | undefined>
  /**
   * What is stored under an id: the document, or null with the revision of its removal (a tombstone); undefined when there
   * is neither. A removed document is stored again only with a revision above that of its tombstone.
   */
  latest(id: string): Promise<Stored<D | null> | undefined>
  /** Several documents by id, in no particular order; missing ones are left out. */
  getMany(ids: readonly string[]): Promise<Stored<D>[]>
  /** Those of the ids that have a document. */
  existing(ids: readonly string[]): Promise<Set<string>>
  /** One page and the total. @throws UnknownField */
  find(query: Query): Promise<Found<D>>
  /** Like find without the total, which it does not compute. @throws UnknownField */
  list(query: Query): Promise<Stored<D>[]>
  count(filter: Filter): Promise<number>
  /**
   * The values of a field among the documents that satisfy the filter, the most frequent first, then by value; at most
   * `limit`. For a `strings` field, which has no item twice, the values are its items. Null and missing values are left out.
   * @throws UnknownField
   */
  facet(filter: Filter, field: string, limit: number): Promise<ValueCount[]>
  /** Ids of all documents, in no particular order. Documents that are added or removed meanwhile may be included. */
  ids(): AsyncIterable<string>
  /**
   * Stores the document unless a document or a tombstone of the same or a newer revision exists.
   * @returns whether it was stored
   */
  put(doc: D, revision: number): Promise<boolean>
  /** Replaces the document by a tombstone unless something of a newer revision exists. @returns whether it was stored */
  remove(id: string, revision: number): Promise<boolean>
  /**
   * Forgets tombstones that existed in a call at least `ageMs` ago, and records the time of this call for tombstones that it
   * sees for the first time. May keep a tombstone that is the last change of the collection.
   * @returns the number of forgotten tombstones, at most 1,000: call again until it is 0
   */
  forgetRemoved(ageMs: number): Promise<number>
}

/** One change of a batch: a document to store, or null to remove it. */
export interface Write {
  // biome-ignore lint/suspicious/noExplicitAny: a batch mixes collections of different documents
  collection: CollectionDefinition<any>
  id: string
  doc: Document | null
  revision: number
  /** Also replaces a document of the same revision, e.g. of a stream that is projected again. */
  force?: boolean
  /**
   * Whether the document lacks the effect of events that its writer does not know. At the same revision a complete document
   * replaces an incomplete one. An incomplete document or tombstone, forced or not, never replaces a complete one.
   */
  incomplete?: boolean
}

export class UnknownField extends Error {
  constructor(collection: string, field: string) {
    super(`${collection} has no field ${field} to filter or sort by`)
    this.name = 'UnknownField'
  }
}

/** The store is unavailable; the call can be tried again later. */
export class ReadModelsUnavailable extends Error {
  /** Carried across bus requests, so that the requesting service also answers 503. */
  readonly code = 'unavailable'
  readonly details = {}
  constructor(cause: unknown) {
    super(`read models unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ReadModelsUnavailable'
  }
}

/** The store cannot hold a document: trying again does not help. The other documents of the batch are stored. */
export class DocumentTooLarge extends Error {
  readonly collection: string
  readonly id: string
  constructor(collection: string, id: string, { bytes, most }: { bytes: number; most: number }) {
    super(`${collection}: the document ${id} has ${bytes} bytes; the store holds at most ${most}`)
    this.name = 'DocumentTooLarge'
    this.collection = collection
    this.id = id
  }
}
