import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { deriveKey, seal, unseal } from '@gantry/service-kit'
import { LRUCache } from 'lru-cache'
import type { SealedSecret } from './webhook.ts'

/** Encrypts signing secrets in the stores, with a key derived from the configured encryption key. */
export interface SigningKeys {
  seal(secret: Uint8Array): string
  /** The keys that sign at that time, newest first. */
  valid(secrets: readonly SealedSecret[], now: Date): KeyObject[]
}

/** Maximum number of cached decrypted secrets. */
const OPENED = 1_000

export function signingKeys(encryptionKey: Uint8Array): SigningKeys {
  const key = deriveKey(encryptionKey, 'webhook secrets')
  const opened = new LRUCache<string, KeyObject>({ max: OPENED })

  const open = (sealed: string): KeyObject => {
    const cached = opened.get(sealed)
    if (cached) return cached
    const secret = createSecretKey(unseal(key, sealed))
    opened.set(sealed, secret)
    return secret
  }

  return {
    seal: secret => seal(key, secret),
    valid(secrets, now) {
      const at = now.toISOString()
      return secrets.filter(({ until }) => until === null || until > at).map(({ sealed }) => open(sealed))
    },
  }
}

const PREFIX = 'whsec_'

/** A signing secret in the format for its owner (Standard Webhooks, "Signature scheme"). @param bytes 24 to 64 */
export const formatSecret = (bytes: Uint8Array) => PREFIX + Buffer.from(bytes).toString('base64')

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
