import type { BlobDraft, BlobStore } from '@gantry/read-models'

/** The bytes of images by their SHA-256 in hexadecimal: images of the same content share them. */
export interface ImageBytes {
  /** Durable when it returns. */
  put(sha256: string, bytes: Uint8Array): Promise<void>
  /** Bytes that are stored while they come; committed with their SHA-256. */
  draft(): Promise<BlobDraft>
  /** @throws Error when they are lost */
  get(sha256: string): Promise<Buffer>
  /**
   * Sets aside what no image names, and removes for good what an earlier sweep had set aside and still no image names.
   * An upload that was under way during a sweep loses nothing when it ends before the next one.
   * @param mayGoOn asked before each delete; after `false` the sweep deletes nothing
   */
  sweep(named: ReadonlySet<string>, mayGoOn: () => Promise<boolean>): Promise<void>
}

const SHA256 = /^[0-9a-f]{64}$/
const ASIDE = 'aside-'

export function imageBytes(blobs: BlobStore): ImageBytes {
  const put = (sha256: string, bytes: Uint8Array) => blobs.put(sha256, bytes)

  const get = async (sha256: string) => {
    // Once more at the end, since a sweep may just have put it back.
    const bytes = (await blobs.get(sha256)) ?? (await blobs.get(ASIDE + sha256)) ?? (await blobs.get(sha256))
    if (!bytes) throw new Error(`the bytes of image ${sha256} are lost`)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  const sweep = async (named: ReadonlySet<string>, mayGoOn: () => Promise<boolean>) => {
    /** Never without the bytes under one of the two keys. */
    const move = async (from: string, to: string) => {
      const bytes = await blobs.get(from)
      if (!bytes) return
      await blobs.put(to, bytes)
      if (await mayGoOn()) await blobs.delete(from)
    }

    const keys: string[] = []
    for await (const key of blobs.keys()) keys.push(key)
    for (const key of keys.filter(key => key.startsWith(ASIDE))) {
      if (!(await mayGoOn())) return
      const sha256 = key.slice(ASIDE.length)
      if (named.has(sha256)) await move(key, sha256)
      else await blobs.delete(key)
    }
    for (const key of keys.filter(key => SHA256.test(key) && !named.has(key))) {
      if (!(await mayGoOn())) return
      await move(key, ASIDE + key)
    }
  }

  return { put, draft: () => blobs.draft(), get, sweep }
}
