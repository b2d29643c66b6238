import type { Collection, CollectionDefinition, Document, Write } from './collection.ts'

/** The right to be the only one who does something, until it expires or is taken over. */
export interface Lease {
  name: string
  holder: string
  /** Grows with every new holder: what is written under an older one is refused. */
  token: number
}

export class LeaseLost extends Error {
  constructor(name: string) {
    super(`lease ${name} is held by another`)
    this.name = 'LeaseLost'
  }
}

/**
 * A removal is remembered for at least this long, and for at most twice as long and some minutes: long enough to keep off
 * late writes of what came before it. What is written without a lease must have been read less than FRESH_MS ago.
 */
export const REMOVALS_KEPT_MS = 5 * 60_000
export const FRESH_MS = 10_000

/** How far a follower of the log has come. */
export interface Checkpoints {
  get(name: string): Promise<string | undefined>
  /** @throws LeaseLost when a newer lease of that name's holder has been given out */
  save(name: string, position: string, lease?: Lease): Promise<void>
  clear(name: string): Promise<void>
}

export interface Leases {
  /** @returns undefined while another holder's lease runs; the holder's own lease is renewed and keeps its token */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Gives it up, so that the next holder need not wait; does nothing when it is lost already. */
  release(lease: Lease): Promise<void>
}

/** The store of read models of one service. Adapters: packages/embedded (SQLite), packages/read-models-mongo. */
export interface ReadModels {
  collection<D extends Document>(definition: CollectionDefinition<D>): Collection<D>
  /**
   * Applies the writes, each guarded by its revision, then the checkpoint: never the checkpoint without them. When it
   * fails, some may be made; making all of them again does no harm.
   * @throws DocumentTooLarge
   */
  write(
    writes: readonly Write[],
    checkpoint?: { name: string; position: string; lease?: Lease },
  ): Promise<void>
  readonly checkpoints: Checkpoints
  readonly leases: Leases
  /** Forgets the collection's documents, so that a rebuild starts from nothing. */
  drop(definition: Pick<CollectionDefinition<Document>, 'name' | 'version'>): Promise<void>
  /** Resolves when the store answers. @throws ReadModelsUnavailable */
  ping(): Promise<void>
  /** What time it is by the clock of the store, which is the same for all who use it. @throws ReadModelsUnavailable */
  time(): Promise<Date>
  close(): Promise<void>
}

/** A blob that is being written, piece by piece, and has no key yet. One call at a time. */
export interface BlobDraft {
  /** Appends; memory is not needed for the piece when it returns. All pieces but the last have the same length. */
  write(piece: Uint8Array): Promise<void>
  /** What was written so far. */
  bytes(): Promise<Uint8Array>
  /** The last call but `discard`. Durable under the key when it returns; changes nothing when the key is there already. */
  commit(key: string): Promise<void>
  /** Nothing is left of a draft that was not committed. What a process that died has left goes after an hour. */
  discard(): Promise<void>
}

/** Bytes by name. Adapters: a folder (packages/embedded), GridFS (packages/read-models-mongo). */
export interface BlobStore {
  /** Durable when it returns. Storing the same key again changes nothing. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Begins a blob that is written while it comes, and may be given up. */
  draft(): Promise<BlobDraft>
  get(key: string): Promise<Uint8Array | undefined>
  delete(key: string): Promise<void>
  /** Keys in no order. */
  keys(): AsyncIterable<string>
  close(): Promise<void>
}
