import type { Aggregate, CommandMetadata } from '@gantry/event-sourcing'
import { deriveKey, seal, unseal } from '@gantry/service-kit'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { LRUCache } from 'lru-cache'
import {
  currentKey,
  type KeptKey,
  type KeyRing,
  type SigningKey,
  type SigningKeyCommand,
  type SigningKeyEvent,
} from './signingkey.ts'

export const ALGORITHM = 'EdDSA'
/** A retired key verifies for longer than the tokens live that it signed. */
const OVERLAP_MS = 2 * 3_600_000
const RING = 'ring'

export interface SigningKeys {
  /** Makes the first key where there is none. @throws Error when the key cannot be unsealed with this encryption key */
  ensure(): Promise<void>
  /** The key that signs now. */
  current(): Promise<{ kid: string; privateKey: CryptoKey }>
  /** The public key of that id, while it verifies. */
  verifying(kid: string): Promise<CryptoKey | undefined>
  /** What is published (RFC 7517 §5): every key that verifies. */
  jwks(): Promise<{ keys: JWK[] }>
  /** Makes a new key that signs from now on; the old one verifies for two hours more. */
  rotate(metadata: CommandMetadata): Promise<{ kid: string }>
}

export interface SigningKeysOptions {
  ring: Aggregate<KeyRing, SigningKeyCommand, SigningKeyEvent>
  encryptionKey: Uint8Array
  now(): Date
  /** The service's own circumstances, for the first key. */
  metadata(): CommandMetadata
}

export function signingKeys({ ring, encryptionKey, now, metadata }: SigningKeysOptions): SigningKeys {
  const sealingKey = deriveKey(encryptionKey, 'signing keys')
  const imported = new LRUCache<string, CryptoKey>({ max: 100 })

  const make = async (): Promise<SigningKey> => {
    const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
    const { x = '', d = '' } = await exportJWK(pair.privateKey)
    const kid = await calculateJwkThumbprint(publicJwk(x))
    return { kid, x, sealedPrivateKey: seal(sealingKey, d) }
  }

  const load = async () => (await ring.load(RING)).state

  const importOnce = async (name: string, jwk: () => JWK): Promise<CryptoKey> => {
    const known = imported.get(name)
    if (known) return known
    const key = (await importJWK(jwk(), ALGORITHM)) as CryptoKey
    imported.set(name, key)
    return key
  }

  const privateJwk = ({ kid, x, sealedPrivateKey }: KeptKey): JWK => {
    try {
      return { ...publicJwk(x), d: unseal(sealingKey, sealedPrivateKey).toString() }
    } catch (cause) {
      throw new Error(`signing key ${kid} cannot be read: ENCRYPTION_KEY is not the one it was sealed with`, {
        cause,
      })
    }
  }

  const current = async () => {
    const key = currentKey(await load())
    if (!key) throw new Error('there is no signing key yet')
    return { kid: key.kid, privateKey: await importOnce(`private ${key.kid}`, () => privateJwk(key)) }
  }

  const verifies = ({ retiredAt }: KeptKey) =>
    retiredAt === null || Date.parse(retiredAt) + OVERLAP_MS > now().getTime()

  return {
    async ensure() {
      if (!currentKey(await load()))
        await ring.execute(RING, { type: 'EnsureSigningKey', metadata: metadata(), key: await make() })
      await current()
    },
    current,
    async verifying(kid) {
      const key = (await load()).keys.find(known => known.kid === kid)
      return key && verifies(key) ? importOnce(kid, () => publicJwk(key.x)) : undefined
    },
    async jwks() {
      const keys = (await load()).keys.filter(verifies)
      return { keys: keys.map(({ kid, x }) => ({ ...publicJwk(x), kid, alg: ALGORITHM, use: 'sig' })) }
    },
    async rotate(command) {
      const key = await make()
      await ring.execute(RING, { type: 'RotateSigningKey', metadata: command, key })
      return { kid: key.kid }
    },
  }
}

const publicJwk = (x: string): JWK & { kty: string } => ({ kty: 'OKP', crv: 'Ed25519', x })
