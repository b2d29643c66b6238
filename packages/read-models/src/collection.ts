/** A read model: documents that projections write and queries read. */
export interface Document {
  /** Unique in its collection. */
  id: string
}

/** How a field may be filtered and sorted on. `strings` is an array of strings, filtered by what it contains. */
export type FieldKind = 'string' | 'number' | 'boolean' | 'strings'

/** Declares a collection once; adapters make its indexes from it and refuse queries on other fields. */
export interface CollectionDefinition<D extends Document> {
  /** `{service}.{plural}`, e.g. catalog.apis. */
  name: string
  /**
   * Bump it when documents change shape: the collection is then rebuilt from the log at start. Each version has
   * documents of its own, so replicas of two versions do not disturb each other.
   */
  version: number
  /** Fields of the document (top level, or a dotted path) that filters and sorts name. All are indexed. */
  fields: Readonly<Record<string, FieldKind>>
  /** Fields that `text` searches. */
  text?: ReadonlyArray<keyof D & string>
  /**
   * The field that most lists are sorted by, of a collection that grows with the age of an installation. An adapter keeps
   * no index of such a collection in memory.
   */
  listedBy?: string
}

/** Infers D while keeping the definition a plain value. */
export const defineCollection = <D extends Document>(definition: CollectionDefinition<D>) => definition

export type Scalar = string | number | boolean | null

/**
 * What one field must satisfy. A plain value means equality; on a `strings` field, that the array contains it.
 * Ranges compare numbers as numbers and strings by code unit (so ISO 8601 timestamps by time); a null or missing
 * value satisfies no range, and `eq: null` is satisfied by null and by a missing field.
 */
export type Condition =
  | Scalar
  | { in: readonly Scalar[] }
  | { not: Scalar }
  /** The array contains every one. */
  | { all: readonly string[] }
  | { gt?: string | number; gte?: string | number; lt?: string | number; lte?: string | number }

/** All named conditions hold (AND). */
export interface Filter {
  where?: Readonly<Record<string, Condition>>
  /**
   * Every term is a substring of at least one of the collection's text fields, compared by foldCase. Terms have no
   * whitespace in them; an empty one restricts nothing.
   */
  text?: readonly string[]
}

export interface Sort {
  field: string
  direction: 'asc' | 'desc'
}

export interface Query extends Filter {
  /** Ties are broken by id, ascending. Strings sort by code unit, null before every value. */
  sort?: readonly Sort[]
  /** Documents to leave out at the beginning. */
  skip?: number
  /** At most this many documents, 1..1,000. */
  limit: number
}

/** A document and the revision of the stream state it was made from. Readers may share it, so it is not theirs to change. */
export interface Stored<D> {
  doc: D
  revision: number
}

export interface Found<D> {
  items: Stored<D>[]
  /** Documents that satisfy the filter, over all pages. */
  total: number
}

export interface Collection<D extends Document> {
  get(id: string): Promise<Stored<D> | undefined>
  /**
   * What was stored last under an id: the document, or null when it was removed; undefined when there never was any. To
   * be stored again, a document that was removed needs a newer revision than its removal has.
   */
  latest(id: string): Promise<Stored<D | null> | undefined>
  /** Many by id, in no order; those that do not exist are left out. */
  getMany(ids: readonly string[]): Promise<Stored<D>[]>
  /** Those of the ids under which there is a document. */
  existing(ids: readonly string[]): Promise<Set<string>>
  /** One page and the total, from one state of the collection. @throws UnknownField */
  find(query: Query): Promise<Found<D>>
  /** Like find without the total, which it does not compute. @throws UnknownField */
  list(query: Query): Promise<Stored<D>[]>
  count(filter: Filter): Promise<number>
  /** Ids of all documents, in no order; one that comes or goes meanwhile may be among them. */
  ids(): AsyncIterable<string>
  /**
   * Stores the document unless one of the same or a newer revision is there (removed ones count).
   * @returns whether it was stored
   */
  put(doc: D, revision: number): Promise<boolean>
  /** Removes the document unless one of a newer revision is there; remembers the revision. */
  remove(id: string, revision: number): Promise<boolean>
  /**
   * Documents whose mark is older than a generation, in no order; one that comes, goes or is marked meanwhile may be
   * among them.
   */
  olderThan(generation: number): AsyncIterable<Version>
  /**
   * Removes those of the documents, at most 1,000, that still have that revision and an older mark than the generation.
   * No revision is remembered: any may be stored under the id from then on.
   * @returns how many were removed
   */
  removeOlder(generation: number, documents: readonly Version[]): Promise<number>
  /**
   * Forgets removals, with their revisions, that were there already in a call at least `ageMs` ago; those that it meets
   * for the first time it takes note of. It may keep the removal that is the last change of the collection.
   * @returns how many were forgotten, at most 1,000: to be called again until there are none
   */
  forgetRemoved(ageMs: number): Promise<number>
}

/** A document at a revision. */
export interface Version {
  id: string
  revision: number
}

/** One change of a batch: a document to store, or null to remove it. */
export interface Write {
  // biome-ignore lint/suspicious/noExplicitAny: a batch mixes collections of different documents
  collection: CollectionDefinition<any>
  id: string
  doc: Document | null
  revision: number
  /** Stores a document of the same revision again: what a rebuild does. */
  force?: boolean
  /**
   * The rebuild that writes it, from 1. It marks what is under the id from then on, also where that is newer and stays.
   * The mark only grows. Writes without a generation leave it as it is; a document that never had one is older than all.
   */
  generation?: number
  /**
   * The document lacks the effect of events that its writer does not know. At the same revision a complete document
   * replaces an incomplete one, and an incomplete one, forced or a removal, never replaces a complete one.
   */
  incomplete?: boolean
}

export class UnknownField extends Error {
  constructor(collection: string, field: string) {
    super(`${collection} has no field ${field} to filter or sort by`)
    this.name = 'UnknownField'
  }
}

/** The read model store is away; try again later. */
export class ReadModelsUnavailable extends Error {
  /** For who asked whoever met this: the same is true of him. */
  readonly code = 'unavailable'
  readonly details = {}
  constructor(cause: unknown) {
    super(`read models unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ReadModelsUnavailable'
  }
}

/** A document that the store cannot hold: trying again does not help. All that was to be written with it is stored. */
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
