import type { WebhookEvent } from './operations.generated.ts'

export interface ReceivedWebhook {
  /** Headers of the request, as `Headers` or as those of `node:http`. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as it was received: not parsed and serialized again. */
  body: string | Uint8Array
  /** The secret of the webhook, `whsec_…`, or several of which one must match. */
  secret: string | readonly string[]
  /** How much the time of the request may differ from the clock of this machine. Default: 300. */
  toleranceSeconds?: number
}

export interface VerifiedWebhook<Event> {
  /** The id of the delivery, the same in every attempt: process each once. */
  id: string
  event: Event
}

/** A request is not a genuine request of a webhook, or is an old one. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: 'header-missing' | 'time-outside-tolerance' | 'signature-wrong' | 'body-not-json'

  constructor(reason: WebhookError['reason']) {
    super(`The webhook request is refused: ${reason}`)
    this.reason = reason
  }
}

/**
 * Verifies the signature and the time of a request (Standard Webhooks), and parses its body. After a rotation of the secret,
 * requests have two signatures, of which one must match. WebCrypto compares in constant time.
 *
 * The event is a `WebhookEvent` for webhooks with the format STANDARD; name another type for CloudEvents.
 * @throws WebhookError
 * @throws TypeError when `secret` is not that of a webhook, e.g. empty, whatever the request is
 */
export async function verifyWebhook<Event = WebhookEvent>(
  received: ReceivedWebhook,
): Promise<VerifiedWebhook<Event>> {
  const { headers, body, toleranceSeconds = 300 } = received
  const secrets = secretsOf(received)
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string' || value === '') throw new WebhookError('header-missing')
    return value
  }) as [string, string, string]
  const seconds = /^\d+$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= toleranceSeconds))
    throw new WebhookError('time-outside-tolerance')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  for (const key of await Promise.all(secrets.map(keyOf)))
    for (const signature of signatures.split(' '))
      if (await isSigned(key, signature, signed)) return { id, event: eventOf(bytes) as Event }
  throw new WebhookError('signature-wrong')
}

function secretsOf({ secret }: ReceivedWebhook): Uint8Array<ArrayBuffer>[] {
  const secrets = [secret].flat().map(each => bytesOf(`${each}`.replace(/^whsec_/, '')))
  if (secrets.length === 0 || !secrets.every(bytes => bytes && bytes.length > 0))
    throw new TypeError('secret must be that of a webhook: whsec_, followed by base64')
  return secrets as Uint8Array<ArrayBuffer>[]
}

function eventOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new WebhookError('body-not-json')
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}

const keyOf = (secret: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])

async function isSigned(
  key: Awaited<ReturnType<typeof keyOf>>,
  signature: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const [version, base64 = ''] = signature.split(',')
  const bytes = version === 'v1' ? bytesOf(base64) : undefined
  return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, signed)
}

/** @returns undefined if the text is not base64 */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
