import { createHmac, type KeyObject } from 'node:crypto'

const PREFIX = 'whsec_'

/** A signing secret in the format for its owner (Standard Webhooks, "Signature scheme"). @param bytes 24 to 64 */
export const formatSecret = (bytes: Uint8Array) => PREFIX + Buffer.from(bytes).toString('base64')

/** The bytes of a formatted signing secret; undefined when the text is none. */
export function parseSecret(text: string): Buffer | undefined {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64')
  return formatSecret(bytes) === text && bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined
}

/**
 * The headers by which the receiver verifies sender, body and time (Standard Webhooks, "Webhook headers").
 * @param id of the message, the same in every attempt
 * @param timestamp of the attempt, in seconds since 1970
 * @param secrets raw keys or key objects; each adds a signature, so that the receiver needs only one of them
 */
export function signedHeaders(
  id: string,
  timestamp: number,
  body: Uint8Array,
  secrets: readonly (Uint8Array | KeyObject)[],
) {
  const signatures = secrets.map(secret => {
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')
    return `v1,${signature}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
