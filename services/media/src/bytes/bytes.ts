import type { BlobDraft, BlobStore, ByteRange } from '@gantry/stores'

/**
 * The bytes of images and documents by their SHA-256 in hexadecimal: equal bytes are stored once. What is derived from
 * bytes, and can be made again, is stored beside them.
 */
export interface StoredBytes {
  /** Stores bytes; they are durable when this returns. */
  put(sha256: string, bytes: Uint8Array): Promise<void>
  /** Opens a draft that stores bytes as they arrive. It is committed under their SHA-256. */
  draft(): Promise<BlobDraft>
  /** Deletes what uploads of processes that died have left, as the blob store does. */
  removeAbandoned(): Promise<void>
  /** Reads bytes, or a range of them. @throws BytesLost when they are not stored, or an error of the store */
  get(sha256: string, range?: ByteRange): Promise<Buffer>
  /** What was derived from bytes: `name` says how. */
  getDerived(name: string, sha256: string): Promise<Uint8Array | undefined>
  /** Changes nothing when the name exists. */
  putDerived(name: string, sha256: string, derived: Uint8Array): Promise<void>
  deleteDerived(name: string, sha256: string): Promise<void>
  /**
   * Garbage collection in two phases. Bytes that nothing references are set aside; those that an earlier sweep set aside
   * and that are still unreferenced are removed. An upload that runs during a sweep keeps its bytes if it ends before the
   * next sweep.
   * @param mayContinue called before each deletion; after `false` the sweep deletes nothing more
   */
  sweep(referenced: ReadonlySet<string>, mayContinue: () => Promise<boolean>): Promise<void>
}

/** Referenced bytes are not stored. */
export class BytesLost extends Error {
  constructor(sha256: string) {
    super(`the bytes ${sha256} are lost`)
    this.name = 'BytesLost'
  }
}

const SHA256 = /^[0-9a-f]{64}$/
/** A sweep sets bytes aside under this prefix before it removes them, and moves them back if the log names them. */
const ASIDE = 'aside-'

const DERIVED = /^derived-[\w.-]+-([0-9a-f]{64})$/

/** The SHA-256 of the bytes that the store has under a key. */
export const digestInKey = (key: string): string => (key.startsWith(ASIDE) ? key.slice(ASIDE.length) : key)

export function storedBytes(blobs: BlobStore): StoredBytes {
  const put = (sha256: string, bytes: Uint8Array) => blobs.put(sha256, bytes)

  const get = async (sha256: string, range?: ByteRange) => {
    const read = (key: string) => blobs.get(key, range)
    // Reads the first key again at the end: a sweep may have moved the bytes back meanwhile.
    const bytes = (await read(sha256)) ?? (await read(ASIDE + sha256)) ?? (await read(sha256))
    if (!bytes) throw new BytesLost(sha256)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  const sweep = async (referenced: ReadonlySet<string>, mayContinue: () => Promise<boolean>) => {
    /** Copies the bytes before it deletes them, so that they always exist under one of the keys. */
    const move = async (from: string, to: string) => {
      const bytes = await blobs.get(from)
      if (!bytes) return
      await blobs.put(to, bytes)
      if (await mayContinue()) await blobs.delete(from)
    }

    const keys: string[] = []
    for await (const key of blobs.keys()) keys.push(key)
    for (const key of keys.filter(key => key.startsWith(ASIDE))) {
      if (!(await mayContinue())) return
      const sha256 = digestInKey(key)
      if (referenced.has(sha256)) await move(key, sha256)
      else await blobs.delete(key)
    }
    for (const key of keys) {
      const [, sha256] = DERIVED.exec(key) ?? []
      if (sha256 === undefined || referenced.has(sha256)) continue
      if (!(await mayContinue())) return
      await blobs.delete(key)
    }
    for (const key of keys.filter(key => SHA256.test(key) && !referenced.has(key))) {
      if (!(await mayContinue())) return
      await move(key, ASIDE + key)
    }
  }

  return {
    put,
    draft: () => blobs.draft(),
    removeAbandoned: () => blobs.removeAbandoned(),
    get,
    getDerived: (name, sha256) => blobs.get(`derived-${name}-${sha256}`),
    putDerived: (name, sha256, derived) => blobs.put(`derived-${name}-${sha256}`, derived),
    deleteDerived: (name, sha256) => blobs.delete(`derived-${name}-${sha256}`),
    sweep,
  }
}
