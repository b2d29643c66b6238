import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { type EncryptionKeys, sealer } from '@gantry/service-runtime'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { LRUCache } from 'lru-cache'
import type { SigningKey } from './signingkey.ts'

export const ALGORITHM = 'EdDSA' as const

/** Makes key pairs and imports them for signing and verifying. Private keys are sealed with ENCRYPTION_KEY. */
export interface KeyMaterial {
  /** @param at time that is sealed with the private key */
  make(at: string): Promise<SigningKey>
  /** The time at which a key was made, which is sealed with it; undefined when ENCRYPTION_KEY does not open the key. */
  madeAt(key: SigningKey): string | undefined
  /** The private key sealed with the first key of ENCRYPTION_KEY; unchanged if it already is. @throws EncryptionKeyMissing */
  renewed(sealedPrivateKey: string): string
  publicKey(key: SigningKey): Promise<CryptoKey>
  /** @throws Error when the key cannot be unsealed with ENCRYPTION_KEY */
  privateKey(key: SigningKey): KeyObject
}

/** @param purpose part of the sealing: a key sealed for one purpose cannot be unsealed for another */
export function keyMaterial(encryptionKeys: EncryptionKeys, purpose: string): KeyMaterial {
  const sealed = sealer(encryptionKeys, purpose)
  const imported = new LRUCache<string, CryptoKey>({ max: 100 })
  const unsealed = new LRUCache<string, KeyObject>({ max: 100 })

  const opened = (sealedPrivateKey: string) => {
    const [d = '', at = ''] = sealed.open(sealedPrivateKey).toString().split(' ')
    return { d, at }
  }
  const privateJwk = ({ kid, x, sealedPrivateKey }: SigningKey): JWK => {
    try {
      return { ...publicJwk(x), d: opened(sealedPrivateKey).d }
    } catch (cause) {
      throw new Error(`signing key ${kid} cannot be read: ENCRYPTION_KEY is not the one it was sealed with`, {
        cause,
      })
    }
  }

  return {
    async make(at) {
      const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
      const { x = '', d = '' } = await exportJWK(pair.privateKey)
      const kid = await calculateJwkThumbprint(publicJwk(x))
      return { kid, x, sealedPrivateKey: sealed.seal(`${d} ${at}`) }
    },
    renewed: sealed.renewed,
    madeAt(key) {
      try {
        const { x } = createPublicKey(createPrivateKey({ key: privateJwk(key), format: 'jwk' })).export({
          format: 'jwk',
        })
        return x === key.x ? opened(key.sealedPrivateKey).at : undefined
      } catch {
        return undefined
      }
    },
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
