import { contentOf, type S3Settings, s3Bucket, s3Location } from '@gantry/s3'

/** A part of the audit log, as it is pushed. */
export interface PushedObject {
  /** First and last position in the log and the time of the first try. The same for every try. */
  name: string
  body: Buffer
}

/** Where the audit log is pushed. */
export interface Destination {
  /** The URL without secrets, for logs. */
  readonly shown: string
  /** Stores an object. Storing it again replaces it. @throws Error whose message has no secrets */
  put(object: PushedObject, signal: AbortSignal): Promise<void>
  close(): void
}

export interface DestinationSettings {
  url: URL
  /** Bearer token for https. */
  token: string | undefined
  s3: S3Settings
}

const CONTENT_TYPE = 'application/x-ndjson'
const TIMEOUT_MS = 60_000

export const destinationOf = (settings: DestinationSettings): Destination =>
  settings.url.protocol === 's3:' ? s3Destination(settings) : httpsDestination(settings)

/** Key of an object: `{prefix}/audit-{name}.ndjson`. @throws Error when it is not an s3: URL */
function s3Destination({ url, s3 }: DestinationSettings): Destination {
  const location = s3Location(url.href)
  if (!location) throw new Error(`not s3://bucket/prefix: ${url.protocol}//${url.host}`)
  const { shown, put, close } = s3Bucket({ ...location, settings: s3, timeoutMs: TIMEOUT_MS })
  return {
    shown,
    async put({ name, body }, signal) {
      const options = { contentType: CONTENT_TYPE, signal }
      await put(`audit-${name}.ndjson`, contentOf(body), options).catch((error: Error) => {
        throw new Error(`S3 did not store the object: ${error.message}`)
      })
    },
    close,
  }
}

/** Sends POST requests with the name as Idempotency-Key. */
function httpsDestination({ url, token }: DestinationSettings): Destination {
  const shown = `${url.origin}${url.pathname}`
  return {
    shown,
    async put({ name, body }, signal) {
      const answer = await fetch(url, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: {
          'content-type': CONTENT_TYPE,
          'idempotency-key': name,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      }).catch((error: Error & { cause?: Error }) => {
        throw new Error(`cannot reach ${shown}: ${error.cause?.message || error.message}`)
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`${shown} answered ${answer.status}`)
    },
    close() {},
  }
}
