import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type EncryptionKeys, sealer } from '@gantry/service-kit'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { LRUCache } from 'lru-cache'
import type { SigningKey } from './signingkey.ts'

export const ALGORITHM = 'EdDSA' as const

/** Makes key pairs and imports them for signing and verifying. Private keys are sealed with ENCRYPTION_KEY. */
export interface KeyMaterial {
  make(): Promise<SigningKey>
  /** The private key sealed with the first key of ENCRYPTION_KEY; unchanged if it already is. @throws EncryptionKeyMissing */
  renewed(sealedPrivateKey: string): string
  publicKey(key: SigningKey): Promise<CryptoKey>
  /** @throws Error when the key cannot be unsealed with ENCRYPTION_KEY */
  privateKey(key: SigningKey): KeyObject
}

/** @param purpose keys of one purpose cannot be unsealed as those of another */
export function keyMaterial(encryptionKeys: EncryptionKeys, purpose: string): KeyMaterial {
  const sealed = sealer(encryptionKeys, purpose)
  const imported = new LRUCache<string, CryptoKey>({ max: 100 })
  const unsealed = new LRUCache<string, KeyObject>({ max: 100 })

  const privateJwk = ({ kid, x, sealedPrivateKey }: SigningKey): JWK => {
    try {
      return { ...publicJwk(x), d: sealed.open(sealedPrivateKey).toString() }
    } catch (cause) {
      throw new Error(`signing key ${kid} cannot be read: ENCRYPTION_KEY is not the one it was sealed with`, {
        cause,
      })
    }
  }

  return {
    async make() {
      const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
      const { x = '', d = '' } = await exportJWK(pair.privateKey)
      const kid = await calculateJwkThumbprint(publicJwk(x))
      return { kid, x, sealedPrivateKey: sealed.seal(d) }
    },
    renewed: sealed.renewed,
    async publicKey({ kid, x }) {
      const known = imported.get(kid)
      if (known) return known
      const key = (await importJWK(publicJwk(x), ALGORITHM)) as CryptoKey
      imported.set(kid, key)
      return key
    },
    privateKey(key) {
      const known = unsealed.get(key.kid)
      if (known) return known
      const privateKey = createPrivateKey({ key: privateJwk(key), format: 'jwk' })
      unsealed.set(key.kid, privateKey)
      return privateKey
    },
  }
}

/** A public key (RFC 8037 §2). */
export const publicJwk = (x: string): JWK & { kty: string } => ({ kty: 'OKP', crv: 'Ed25519', x })
