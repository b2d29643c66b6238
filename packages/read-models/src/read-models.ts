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

/** The store of read models of one service. Adapters: packages/embedded (SQLite), packages/read-models-mongo. */
export interface ReadModels {
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
  /** Deletes the documents and tombstones of a collection, so that a rebuild starts with an empty collection. */
  drop(definition: Pick<CollectionDefinition<Document>, 'name' | 'version'>): Promise<void>
  /** Resolves when the store answers. @throws ReadModelsUnavailable */
  ping(): Promise<void>
  /** The time of the store's clock, which is the same for all processes. @throws ReadModelsUnavailable */
  time(): Promise<Date>
  close(): Promise<void>
}

/** A blob that is written piece by piece and has no key yet. Calls must not overlap. */
export interface BlobDraft {
  /** Appends a piece; afterwards its memory may be reused. All pieces but the last must have the same length. */
  write(piece: Uint8Array): Promise<void>
  /** The bytes written so far. */
  bytes(): Promise<Uint8Array>
  /**
   * Stores the blob under the key, durably. Changes nothing when the key exists. Afterwards only `discard` may be called.
   */
  commit(key: string): Promise<void>
  /** Deletes a draft that was not committed. Drafts of processes that died are deleted after an hour. */
  discard(): Promise<void>
}

/** Bytes by key. Adapters: a folder (packages/embedded), GridFS (packages/read-models-mongo). */
export interface BlobStore {
  /** Stores a blob durably. Changes nothing when the key exists. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Begins a blob whose bytes are written as they arrive. */
  draft(): Promise<BlobDraft>
  get(key: string): Promise<Uint8Array | undefined>
  delete(key: string): Promise<void>
  /** All keys, in no particular order. */
  keys(): AsyncIterable<string>
  close(): Promise<void>
}
