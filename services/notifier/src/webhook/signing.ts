import { createSecretKey, type KeyObject } from 'node:crypto'
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
