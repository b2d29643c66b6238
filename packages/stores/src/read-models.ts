import type { Collection, CollectionDefinition, Document, Write } from './collection.ts'

/** The exclusive right of one holder, e.g. a process, to do something. It ends when it is released or expires. */
export interface Lease {
  name: string
  holder: string
  /** Fencing token. It grows with every new holder; writes with an older token are refused. */
  token: number
}

export class LeaseLost extends Error {
  constructor(name: string) {
    super(`lease ${name} is held by another`)
    this.name = 'LeaseLost'
  }
}

/**
 * Tombstones are kept for at least REMOVALS_KEPT_MS, and at most for twice that time plus some minutes. Meanwhile they
 * refuse late writes of earlier revisions. A document that is written without a lease must be made from a state that was
 * read less than FRESH_MS ago.
 */
export const REMOVALS_KEPT_MS = 5 * 60_000
export const FRESH_MS = 10_000

/** Positions in the log up to which projectors and relays have come, by name. */
export interface Checkpoints {
  get(name: string): Promise<string | undefined>
  /** @throws LeaseLost when another holder has acquired the lease since */
  save(name: string, position: string, lease?: Lease): Promise<void>
  clear(name: string): Promise<void>
}

export interface Leases {
  /** Acquires or renews a lease; a renewed lease keeps its token. @returns undefined while another holder has the lease */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Releases the lease, so that another holder can acquire it at once. Does nothing when the lease is already lost. */
  release(lease: Lease): Promise<void>
}

/** The generations of a group of collections. */
export interface Generations {
  /** The generation that readers get. */
  live: number
  /**
   * The generations that commands write, `live` included. A greater one is being built. A smaller one was live before,
   * and other processes may still read it.
   */
  written: readonly number[]
  /** The generations that are no longer written. Each is deleted once no process can be writing it. */
  dropped: readonly number[]
  /** The last request for a rebuild that has ended; undefined until the live generation is made. */
  ended?: string | undefined
}

/** Collections whose generations are built, switched and deleted together. */
export interface CollectionGroup {
  /**
   * The generations that the caller may act on now. All processes act on a change at most `settleMs` after it was
   * saved.
   */
  current(): Promise<Generations>
  /** Saves the generations that follow from the stored ones, all at once. @throws LeaseLost */
  change(lease: Lease, next: (generations: Generations) => Generations): Promise<Generations>
  /** The definition of a collection in one generation; the same object for the same arguments. */
  of<D extends Document>(definition: CollectionDefinition<D>, generation: number): CollectionDefinition<D>
  /** Deletes a generation with everything that it takes in the store. No process may use it. */
  discard(generation: number): Promise<void>
  /** Milliseconds. */
  readonly settleMs: number
  /** Time after which no process writes a generation that is no longer written, in milliseconds. */
  readonly unusedMs: number
}

/** A collection as its store names it. */
export type CollectionName = Pick<CollectionDefinition<Document>, 'name' | 'version' | 'generation'>

/** The store of read models of one service. Adapters: packages/embedded (SQLite), packages/stores-mongo. */
export interface ReadModels extends Omit<ReadModelStore, 'discard'> {
  /**
   * The group of these collections, with the name under which its generations are stored. Afterwards `collection` and
   * `write` resolve definitions without a generation. A collection belongs to one group of a process.
   */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  group(name: string, definitions: readonly CollectionDefinition<any>[]): CollectionGroup
}

/** The part of ReadModels that adapters implement. `withGenerations` adds the groups. */
export interface ReadModelStore {
  collection<D extends Document>(definition: CollectionDefinition<D>): Collection<D>
  /**
   * Applies the writes, each guarded by its revision, then saves the checkpoint; never the checkpoint without the writes.
   * After a failure some of the writes may have been applied. Repeating all of them is safe.
   * @throws DocumentTooLarge, LeaseLost
   */
  write(
    writes: readonly Write[],
    checkpoint?: { name: string; position: string; lease?: Lease },
  ): Promise<void>
  readonly checkpoints: Checkpoints
  readonly leases: Leases
  /** Deletes the documents and tombstones of a collection, which can be used meanwhile. */
  drop(definition: CollectionName): Promise<void>
  /** Deletes a collection with everything that it takes in the store. It must not be in use. */
  discard(definition: CollectionName): Promise<void>
  /**
   * Overwrites the content of removed and replaced documents in the files of the store. Does nothing for a store that does
   * not control its files, or for documents that other processes are reading.
   */
  purge(): Promise<void>
  /** Resolves when the store answers. @throws ReadModelsUnavailable */
  ping(): Promise<void>
  /** The time of the store's clock, which is the same for all processes. @throws ReadModelsUnavailable */
  time(): Promise<Date>
  close(): Promise<void>
}
