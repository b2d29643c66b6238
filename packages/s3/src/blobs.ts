import { tmpdir } from 'node:os'
import { type BlobStore, ReadModelsUnavailable } from '@gantry/stores'
import { type Content, contentOf, S3Failed, type S3Location, s3Bucket } from './bucket.ts'
import { drafts, removeAbandoned } from './drafts.ts'
import type { S3Settings } from './settings.ts'

/** Default of `timeoutMs`, below the 20 s after which the gateway gives up a change. */
const TIMEOUT_MS = 15_000
/** A key that no blob has: keys of blobs do not begin with a dot. */
const ABSENT = '.absent'

export interface S3BlobStoreOptions extends S3Location {
  settings: S3Settings
  /** Folder for drafts, which exists. Default: the folder for temporary files. */
  folder?: string
  /** Longest duration of the requests of one call, in milliseconds; for `keys`, of each request. Default: 15,000. */
  timeoutMs?: number
}

export interface S3BlobStore extends BlobStore {
  /** Resolves when the bucket can be read. @throws Error with the reason */
  ping(): Promise<void>
}

/**
 * Stores blobs as objects of a bucket, for any number of processes. Two processes that put different bytes under a new key
 * at the same time both succeed, and the later bytes stay: the key must follow from the bytes, e.g. be their hash.
 * @throws ReadModelsUnavailable from every call while the bucket is unavailable
 * @throws Error from every call when the store refuses the request; the message names BLOB_URL and the reason
 */
export function s3BlobStore(options: S3BlobStoreOptions): S3BlobStore {
  const { folder = tmpdir(), timeoutMs = TIMEOUT_MS, ...location } = options
  const bucket = s3Bucket({ ...location, timeoutMs })

  const reasonOf = ({ message }: Error) => new Error(`BLOB_URL ${bucket.shown}: ${message}`)
  const failed = (error: unknown) => {
    if (!(error instanceof S3Failed)) return error
    return error.unavailable ? new ReadModelsUnavailable(reasonOf(error)) : reasonOf(error)
  }
  const asked = <T>(request: Promise<T>): Promise<T> =>
    request.catch(error => {
      throw failed(error)
    })

  /** S3 replaces an object atomically and answers when it is durable. */
  const store = async (key: string, open: () => Promise<Content>) => {
    const signal = AbortSignal.timeout(timeoutMs)
    if (await asked(bucket.exists(key, { signal }))) return
    await asked(bucket.put(key, await open(), { signal }))
  }

  return {
    put: (key, bytes) => store(key, async () => contentOf(bytes)),
    draft: drafts(folder, store),
    removeAbandoned: () => removeAbandoned(folder),
    get: (key, range) => asked(bucket.get(key, range)),
    delete: key => asked(bucket.delete(key)),
    async *keys() {
      try {
        yield* bucket.keys()
      } catch (error) {
        throw failed(error)
      }
    },
    async ping() {
      await bucket.get(ABSENT).catch(error => {
        throw reasonOf(error)
      })
    },
    close: async () => bucket.close(),
  }
}
