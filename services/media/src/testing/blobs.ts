import type { BlobStore } from '@gantry/stores'

/**
 * A store of bytes in memory, without uploads in parts.
 * @param reached called at the end of each call, with its name and key
 */
export const blobsIn = (
  stored: Map<string, Uint8Array>,
  reached: (call: string) => Promise<void>,
): BlobStore => ({
  async put(key, content) {
    if (!stored.has(key)) stored.set(key, content)
    await reached(`put ${key}`)
  },
  draft: () => Promise.reject(new Error('nothing is uploaded here')),
  async removeAbandoned() {},
  async get(key, range) {
    const content = stored.get(key)?.subarray(range?.from, range?.to)
    await reached(`get ${key}`)
    return content
  },
  async delete(key) {
    stored.delete(key)
    await reached(`delete ${key}`)
  },
  async *keys() {
    yield* [...stored.keys()]
    await reached('keys')
  },
  async close() {},
})
