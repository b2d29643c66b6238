import type { KeyObject } from 'node:crypto'
import { aggregate, type CommandMetadata } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-runtime'
import type { CryptoKey, JWK } from 'jose'
import { ALGORITHM, type KeyMaterial, keyMaterial, publicJwk } from './key-material.ts'
import { auditKeyDecider, currentKey, type KeptKey, type KeyRing, signingKeyDecider } from './signingkey.ts'

/** Time between the publication of a key and its first signature, since verifiers may cache the published keys. */
const PUBLISHED_BEFORE_MS = 10 * 60_000
/** Time for which a retired key still verifies. It is longer than the lifetime of the tokens that the key signed. */
const OVERLAP_MS = 2 * 3_600_000
const RING = 'ring'

export interface SigningKeys {
  /** Creates the first key if there is none. @throws Error when the current key cannot be unsealed with ENCRYPTION_KEY */
  ensure(): Promise<void>
  /** The key that signs now. @throws Error when there is none, or it cannot be unsealed with ENCRYPTION_KEY */
  current(): Promise<{ kid: string; privateKey: KeyObject }>
  /** The public key with that id; undefined when it is unknown or no longer verifies. */
  verifying(kid: string): Promise<CryptoKey | undefined>
  /** All keys that ever were, the oldest first. */
  all(): Promise<readonly KeptKey[]>
  /** The keys that ENCRYPTION_KEY opens, the oldest first. `madeAt` is the time that is sealed with the key. */
  own(): Promise<readonly KeptKey[]>
  /** All keys that ever were, the oldest first, with what they do now. */
  states(): Promise<readonly KeyState[]>
  /** The published key set (RFC 7517 §5): all keys that verify. */
  jwks(): Promise<{ keys: JWK[] }>
  /**
   * Publishes a new key, which signs from ten minutes later on. The old key still verifies for two hours after that.
   * Does nothing while the newest key does not sign yet.
   * @returns the newest key
   */
  rotate(metadata: CommandMetadata): Promise<Rotated>
  /** Rotates if the newest key is at least `periodMs` old. @returns the new key; undefined when there was no rotation */
  rotateWhenDue(metadata: CommandMetadata, periodMs: number): Promise<Rotated | undefined>
  /**
   * Seals the private keys unless the first key of ENCRYPTION_KEY sealed them, also revoked ones, which prove old
   * signatures.
   * @returns how many keys there are, and how many were sealed again
   * @throws EncryptionKeyMissing
   */
  reseal(metadata: CommandMetadata): Promise<{ examined: number; resealed: number }>
  /** Signs with a new key at once and revokes all others. For compromised keys. */
  replace(metadata: CommandMetadata): Promise<Rotated>
}

/** The public part of a key with its dates. */
export interface KeyState extends Omit<KeptKey, 'sealedPrivateKey'> {
  status: 'NEXT' | 'CURRENT' | 'RETIRED' | 'REVOKED'
  /** Time until which its signatures verify; null if no end is known. */
  acceptedUntil: string | null
}

export interface Rotated {
  kid: string
  /** ISO 8601 UTC. */
  signsFrom: string
}

/** The rings. Each has a stream of its own, and keys sealed for one ring cannot be opened in the other. */
const RINGS = {
  login: { category: 'signingkey', decider: signingKeyDecider, purpose: 'signing keys' },
  audit: { category: 'auditkey', decider: auditKeyDecider, purpose: 'audit keys' },
} as const

/** The keys of one ring. @param metadata that of the command that creates the first key */
export function signingKeys(
  name: keyof typeof RINGS,
  dependencies: Pick<Instrumented, 'eventStore' | 'unknownEvent' | 'encryptionKeys' | 'now'>,
  metadata: () => CommandMetadata,
): SigningKeys {
  const { category, decider, purpose } = RINGS[name]
  const { encryptionKeys, now } = dependencies
  const ring = aggregate({ ...dependencies, category, decider })
  const material = keyMaterial(encryptionKeys, purpose)
  const load = async () => (await ring.load(RING)).state

  const current = async () => {
    const key = currentKey(await load(), now().toISOString())
    if (!key) throw new Error('there is no signing key yet')
    return { kid: key.kid, privateKey: material.privateKey(key) }
  }

  /** Makes the key of a rotation. Fails if the current key cannot be unsealed, so that all have one ENCRYPTION_KEY. */
  const makeNext = () => current().then(() => material.make(now().toISOString()))

  const verifies = ({ retiredAt, revokedAt }: KeptKey) =>
    revokedAt === null && (retiredAt === null || Date.parse(retiredAt) + OVERLAP_MS > now().getTime())

  const rotate = async (command: CommandMetadata, unlessMadeAfter?: string) => {
    const signsFrom = new Date(Date.parse(command.now) + PUBLISHED_BEFORE_MS).toISOString()
    const { state, events } = await ring.execute(RING, {
      type: 'RotateSigningKey',
      metadata: command,
      key: await makeNext(),
      signsFrom,
      ...(unlessMadeAfter && { unlessMadeAfter }),
    })
    return { next: publicPart(newest(state)), rotated: events.length > 0 }
  }

  return {
    async ensure() {
      if ((await load()).status === 'Absent')
        await ring.execute(RING, {
          type: 'EnsureSigningKey',
          metadata: metadata(),
          key: await material.make(now().toISOString()),
        })
      await current()
    },
    current,
    async verifying(kid) {
      const key = (await load()).keys.find(known => known.kid === kid)
      return key && verifies(key) ? material.publicKey(key) : undefined
    },
    all: async () => (await load()).keys,
    own: async () => ownKeys(await load(), material),
    states: async () => statesOf(await load(), now()),
    async jwks() {
      const keys = (await load()).keys.filter(verifies)
      return { keys: keys.map(({ kid, x }) => ({ ...publicJwk(x), kid, alg: ALGORITHM, use: 'sig' })) }
    },
    rotate: async command => (await rotate(command)).next,
    async rotateWhenDue(command, periodMs) {
      const dueSince = new Date(Date.parse(command.now) - periodMs).toISOString()
      if (newest(await load()).madeAt > dueSince) return undefined
      const { next, rotated } = await rotate(command, dueSince)
      return rotated ? next : undefined
    },
    async reseal(command) {
      const renewed = renewedKeys(await load(), material)
      const { events } = await ring.execute(RING, { type: 'ResealSigningKeys', metadata: command, renewed })
      return { examined: renewed.size, resealed: events.length }
    },
    async replace(command) {
      const { state } = await ring.execute(RING, {
        type: 'ReplaceSigningKeys',
        metadata: command,
        key: await makeNext(),
      })
      return publicPart(newest(state))
    },
  }
}

/** The keys that can be opened, with the times that are sealed with them. */
const ownKeys = ({ keys }: KeyRing, { madeAt }: KeyMaterial): KeptKey[] =>
  keys.flatMap(key => {
    const sealed = madeAt(key)
    return sealed === undefined ? [] : [{ ...key, madeAt: sealed }]
  })

function statesOf(ring: KeyRing, now: Date): KeyState[] {
  const at = now.toISOString()
  const signing = currentKey(ring, at)?.kid
  return ring.keys.map(({ kid, x, madeAt, signsFrom, retiredAt, revokedAt }) => {
    const unsigning = signsFrom > at ? 'NEXT' : 'RETIRED'
    const end = retiredAt && new Date(Date.parse(retiredAt) + OVERLAP_MS).toISOString()
    return {
      ...{ kid, x, madeAt, signsFrom, retiredAt, revokedAt },
      status: revokedAt !== null ? 'REVOKED' : kid === signing ? 'CURRENT' : unsigning,
      acceptedUntil: revokedAt ?? end,
    }
  })
}

/** The private keys, sealed with the first key of ENCRYPTION_KEY, by the stored values. */
const renewedKeys = ({ keys }: KeyRing, { renewed }: KeyMaterial): Map<string, string> =>
  new Map(keys.map(({ sealedPrivateKey }) => [sealedPrivateKey, renewed(sealedPrivateKey)]))

function newest({ keys }: KeyRing): KeptKey {
  const key = keys.at(-1)
  if (!key) throw new Error('there is no signing key yet')
  return key
}

const publicPart = ({ kid, signsFrom }: KeptKey): Rotated => ({ kid, signsFrom })
