import { createSecretKey, type KeyObject } from 'node:crypto'
import { type EncryptionKeys, sealer } from '@gantry/service-runtime'
import { LRUCache } from 'lru-cache'
import type { SealedSecret } from './webhook.ts'

/** Encrypts signing secrets in the stores, with a key derived from ENCRYPTION_KEY. */
export interface SigningKeys {
  seal(secret: Uint8Array): string
  /** The secret sealed with the first key of ENCRYPTION_KEY; unchanged if it already is. @throws Error when no key opens it */
  renewed(sealed: string): string
  /** The keys that sign at that time, newest first. */
  valid(secrets: readonly SealedSecret[], now: Date): KeyObject[]
}

/** Maximum number of cached decrypted secrets. */
const OPENED = 1_000

export function signingKeys(encryptionKeys: EncryptionKeys): SigningKeys {
  const secrets = sealer(encryptionKeys, 'webhook secrets')
  const opened = new LRUCache<string, KeyObject>({ max: OPENED })

  const open = (sealed: string): KeyObject => {
    const cached = opened.get(sealed)
    if (cached) return cached
    const secret = createSecretKey(secrets.open(sealed))
    opened.set(sealed, secret)
    return secret
  }

  return {
    seal: secrets.seal,
    renewed: secrets.renewed,
    valid(given, now) {
      const at = now.toISOString()
      return given.filter(({ until }) => until === null || until > at).map(({ sealed }) => open(sealed))
    },
  }
}
