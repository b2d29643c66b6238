import { deriveKey, seal, unseal } from '@gantry/service-kit'
import type { SealedSecret } from './webhook.ts'

/** Keeps signing secrets unreadable in the stores, under a key derived from the configured one. */
export interface SigningKeys {
  seal(secret: Uint8Array): string
  /** The raw keys that sign at that time, the newest first. */
  valid(secrets: readonly SealedSecret[], now: Date): Buffer[]
}

export function signingKeys(encryptionKey: Uint8Array): SigningKeys {
  const key = deriveKey(encryptionKey, 'webhook secrets')
  return {
    seal: secret => seal(key, secret),
    valid(secrets, now) {
      const at = now.toISOString()
      return secrets
        .filter(({ until }) => until === null || until > at)
        .map(({ sealed }) => unseal(key, sealed))
    },
  }
}
