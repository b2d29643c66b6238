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
  /** Deletes a draft that was not committed. */
  discard(): Promise<void>
}

/** The bytes from an offset on, up to another one, which is exclusive and greater. */
export interface ByteRange {
  from: number
  to: number
}

/** Bytes by key. Adapters: a folder (packages/embedded), GridFS (packages/stores-mongo), S3 (packages/s3). */
export interface BlobStore {
  /** Stores a blob durably. Changes nothing when the key exists. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Begins a blob whose bytes are written as they arrive. */
  draft(): Promise<BlobDraft>
  /**
   * Deletes drafts and incomplete blobs that have not changed for an hour: their processes have died. Processes may call it
   * concurrently. If drafts are files of a machine, it deletes the files of this machine.
   */
  removeAbandoned(): Promise<void>
  /** The bytes of a blob or of a range in it; fewer if the blob ends before the range. */
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>
  delete(key: string): Promise<void>
  /** All keys, in no particular order. */
  keys(): AsyncIterable<string>
  close(): Promise<void>
}
