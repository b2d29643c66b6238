import { createHash } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'

/** A part of the audit log, as it is pushed. */
export interface PushedObject {
  /** First and last position in the log, e.g. 0000000000000012-0000000000000340. The same for every try. */
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

interface S3Settings {
  /** Address of a store other than that of AWS. */
  endpoint?: string | undefined
  region?: string | undefined
  /** Left out to use a role that the AWS SDK finds. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
}

const CONTENT_TYPE = 'application/x-ndjson'
const TIMEOUT_MS = 60_000

export const destinationOf = (settings: DestinationSettings): Destination =>
  settings.url.protocol === 's3:' ? s3Destination(settings) : httpsDestination(settings)

/** Key of an object: `{prefix}/audit-{name}.ndjson`. */
function s3Destination({ url, s3 }: DestinationSettings): Destination {
  const { endpoint, region, credentials } = s3
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  let opened: Promise<{ client: S3Client; module: typeof import('@aws-sdk/client-s3') }> | undefined
  /** The client is loaded by the first push, so that a process without pushes does not keep it in memory. */
  const open = async () => {
    const module = await import('@aws-sdk/client-s3')
    const client = new module.S3Client({
      maxAttempts: 1,
      // Other stores than AWS may lack the checksums that are its default. Content-MD5 protects the object everywhere.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(endpoint && { endpoint, forcePathStyle: true }),
      ...(region && { region }),
      ...(credentials && { credentials }),
    })
    return { client, module }
  }
  return {
    shown: `s3://${url.host}${prefix && `/${prefix}`}`,
    async put({ name, body }, signal) {
      opened ??= open()
      const { client, module } = await opened
      const key = `audit-${name}.ndjson`
      const command = new module.PutObjectCommand({
        Bucket: url.host,
        Key: prefix ? `${prefix}/${key}` : key,
        Body: body,
        ContentType: CONTENT_TYPE,
        ContentMD5: createHash('md5').update(body).digest('base64'),
      })
      const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      await client.send(command, { abortSignal }).catch((error: Error) => {
        throw new Error(`S3 did not store the object: ${error.name}: ${error.message}`)
      })
    },
    close: () => void opened?.then(({ client }) => client.destroy()).catch(() => {}),
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
