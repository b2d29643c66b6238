import { deriveKey, seal, unseal } from '@gantry/service-kit'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { LRUCache } from 'lru-cache'
import type { SigningKey } from './signingkey.ts'

export const ALGORITHM = 'EdDSA'

/** Makes key pairs and imports them for signing and verifying. Private keys are sealed with ENCRYPTION_KEY. */
export interface KeyMaterial {
  make(): Promise<SigningKey>
  publicKey(key: SigningKey): Promise<CryptoKey>
  /** @throws Error when the key cannot be unsealed with ENCRYPTION_KEY */
  privateKey(key: SigningKey): Promise<CryptoKey>
}

export function keyMaterial(encryptionKey: Uint8Array): KeyMaterial {
  const sealingKey = deriveKey(encryptionKey, 'signing keys')
  const imported = new LRUCache<string, CryptoKey>({ max: 100 })

  const importOnce = async (name: string, jwk: () => JWK): Promise<CryptoKey> => {
    const known = imported.get(name)
    if (known) return known
    const key = (await importJWK(jwk(), ALGORITHM)) as CryptoKey
    imported.set(name, key)
    return key
  }

  const privateJwk = ({ kid, x, sealedPrivateKey }: SigningKey): JWK => {
    try {
      return { ...publicJwk(x), d: unseal(sealingKey, sealedPrivateKey).toString() }
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
      return { kid, x, sealedPrivateKey: seal(sealingKey, d) }
    },
    publicKey: key => importOnce(key.kid, () => publicJwk(key.x)),
    privateKey: key => importOnce(`private ${key.kid}`, () => privateJwk(key)),
  }
}

/** A public key (RFC 8037 §2). */
export const publicJwk = (x: string): JWK & { kty: string } => ({ kty: 'OKP', crv: 'Ed25519', x })
