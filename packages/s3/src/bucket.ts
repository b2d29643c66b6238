import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import type { ByteRange } from '@gantry/stores'
import { clientConfig, type S3Settings } from './settings.ts'

/** A bucket, and the prefix of the keys in it, which neither begins nor ends with a slash. */
export interface S3Location {
  bucket: string
  prefix: string
}

/**
 * Parses s3://bucket/prefix.
 * @returns undefined for another URL, and for one with credentials, a query or a fragment
 */
export function s3Location(text: string): S3Location | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || url.host === '') return undefined
  if (url.username || url.password || url.search || url.hash) return undefined
  try {
    return { bucket: url.host, prefix: decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '') }
  } catch {
    return undefined
  }
}

export interface Content {
  body: Uint8Array | Readable
  length: number
  /** MD5 of the body in base64, which the store compares. */
  md5: string
}

/** The content with these bytes. */
export const contentOf = (body: Uint8Array): Content => ({
  body,
  length: body.length,
  md5: createHash('md5').update(body).digest('base64'),
})

interface PutOptions {
  contentType?: string
  signal?: AbortSignal
}

/** The objects of a bucket whose keys begin with a prefix. Keys are given without the prefix. All calls throw S3Failed. */
export interface Bucket {
  /** URL of the bucket with the prefix, for logs. */
  readonly shown: string
  /** Stores an object, or replaces it. Destroys a body that is a stream, and throws its error if it cannot be read. */
  put(key: string, content: Content, options?: PutOptions): Promise<void>
  exists(key: string, options?: { signal?: AbortSignal }): Promise<boolean>
  /** The bytes of an object, or those of a range in it; undefined when it does not exist. */
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>
  /** Deletes an object if it exists. */
  delete(key: string): Promise<void>
  /** All keys without a slash. */
  keys(): AsyncIterable<string>
  close(): void
}

/** A request that failed. The message has the reason and no secrets: what the SDK adds to its errors is left out. */
export class S3Failed extends Error {
  /** Whether the store could not be reached, or reported a failure of its own: the same request can succeed later. */
  readonly unavailable: boolean
  constructor(reason: string, { unavailable }: { unavailable: boolean }) {
    super(reason)
    this.name = 'S3Failed'
    this.unavailable = unavailable
  }
}

export interface BucketOptions extends S3Location {
  settings: S3Settings
  /** Maximum duration of a request with its answer, in milliseconds. */
  timeoutMs: number
}

const CONNECT_MS = 5_000
const DEFAULT_TYPE = 'application/octet-stream'

/**
 * Opens a bucket. The client is loaded by the first request, so that it takes no memory in processes without any.
 * @throws Error naming settings that cannot be used
 */
export function s3Bucket({ bucket: Bucket, prefix, settings, timeoutMs }: BucketOptions): Bucket {
  const config = configOf(settings)
  const folder = prefix && `${prefix}/`
  const keyOf = (key: string) => ({ Bucket, Key: folder + key })
  let opened: Promise<Loaded> | undefined
  const loaded = () => {
    opened ??= load(config).catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }

  /** Sends requests, which may together take `timeoutMs`. */
  const ask = async <T>(
    work: (client: Loaded, options: { abortSignal: AbortSignal }) => Promise<T>,
    ...signals: (AbortSignal | undefined)[]
  ): Promise<T> => {
    const given = signals.filter(signal => signal !== undefined)
    const abortSignal = AbortSignal.any([...given, AbortSignal.timeout(timeoutMs)])
    try {
      return await work(await loaded(), { abortSignal })
    } catch (error) {
      throw failureOf(error, abortSignal)
    }
  }
  const unlessMissing = <T>(asked: Promise<T>): Promise<T | undefined> =>
    asked.catch(error => {
      if (isMissing(error)) return undefined
      throw error
    })

  return {
    shown: `s3://${Bucket}${prefix && `/${prefix}`}`,
    async put(key, { body, length, md5 }, { contentType = DEFAULT_TYPE, signal } = {}) {
      const unreadable = failureToRead(body)
      const described = { ContentType: contentType, ContentLength: length, ContentMD5: md5 }
      const send = ({ client, module }: Loaded, options: { abortSignal: AbortSignal }) =>
        client.send(new module.PutObjectCommand({ ...keyOf(key), Body: body, ...described }), options)
      try {
        await ask(send, signal, unreadable)
      } catch (error) {
        throw unreadable.aborted ? unreadable.reason : error
      } finally {
        if (body instanceof Readable) body.destroy()
      }
    },
    exists: (key, { signal } = {}) =>
      ask(async ({ client, module }, options) => {
        const head = client.send(new module.HeadObjectCommand(keyOf(key)), options)
        return (await unlessMissing(head)) !== undefined
      }, signal),
    get: (key, range) =>
      ask(async ({ client, module }, options) => {
        const Range = range && { Range: `bytes=${range.from}-${range.to - 1}` }
        const command = new module.GetObjectCommand({ ...keyOf(key), ...Range })
        const got = await unlessMissing(client.send(command, options))
        return got && (await got.Body?.transformToByteArray())
      }),
    delete: key =>
      ask(async ({ client, module }, options) => {
        await unlessMissing(client.send(new module.DeleteObjectCommand(keyOf(key)), options))
      }),
    async *keys() {
      let ContinuationToken: string | undefined
      do {
        const page = await ask(({ client, module }, options) => {
          const among = { Bucket, Prefix: folder, Delimiter: '/' }
          return client.send(new module.ListObjectsV2Command({ ...among, ContinuationToken }), options)
        })
        for (const { Key = '' } of page.Contents ?? []) if (Key !== folder) yield Key.slice(folder.length)
        ContinuationToken = page.NextContinuationToken
      } while (ContinuationToken)
    },
    close: () => void opened?.then(({ client }) => client.destroy()).catch(() => {}),
  }
}

interface Loaded {
  module: typeof import('@aws-sdk/client-s3')
  client: S3Client
}

async function load(config: S3ClientConfig): Promise<Loaded> {
  const module = await import('@aws-sdk/client-s3')
  return { module, client: new module.S3Client(config) }
}

/**
 * Aborted with the error of a body that is a stream. The SDK does not listen for it, and without a listener it would end the
 * process.
 */
function failureToRead(body: Content['body']): AbortSignal {
  const failure = new AbortController()
  if (body instanceof Readable) body.once('error', error => failure.abort(error))
  return failure.signal
}

const ignore = () => {}

const configOf = (settings: S3Settings) => ({
  maxAttempts: 1,
  // Without a logger the SDK writes some warnings to the console. The errors of requests have the reasons.
  logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  requestHandler: { connectionTimeout: CONNECT_MS },
  // Other stores than AWS may lack the checksums that are its default. Content-MD5 protects the object everywhere.
  requestChecksumCalculation: 'WHEN_REQUIRED' as const,
  responseChecksumValidation: 'WHEN_REQUIRED' as const,
  ...clientConfig(settings),
})

/** What is known of errors of the SDK. Errors without a status did not come from the store. */
interface SdkError extends Error {
  code?: string
  $metadata?: { httpStatusCode?: number }
}

const statusOf = (error: unknown) => (error as SdkError).$metadata?.httpStatusCode
/** An answer to HEAD has no body, so that a missing bucket and a missing object are the same. */
const isMissing = (error: unknown) => statusOf(error) === 404 && (error as SdkError).name !== 'NoSuchBucket'

function failureOf(error: unknown, signal: AbortSignal): S3Failed {
  if (signal.aborted) {
    const late = (signal.reason as Error).name === 'TimeoutError'
    return new S3Failed(late ? 'the store does not answer' : 'it was ended', { unavailable: true })
  }
  const { name, message, code } = error as SdkError
  if (message === 'Region is missing') return new S3Failed('AWS_REGION must be set', { unavailable: false })
  const status = statusOf(error)
  const unavailable = status === undefined || status >= 500 || status === 429
  const reason = message || code || ''
  return new S3Failed(name === 'Error' ? reason : `${name}: ${reason}`, { unavailable })
}
