import type { Change } from '@gantry/contracts'
import type { CommandMetadata, Decider } from '@gantry/event-sourcing'

/** An Ed25519 key pair. The private key is sealed with ENCRYPTION_KEY. */
export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638). */
  kid: string
  /** The public key: `x` of an Ed25519 JWK (RFC 8037), base64url. */
  x: string
  sealedPrivateKey: string
}

export type SigningKeyEvent =
  | { type: 'SigningKeyMade'; data: SigningKey & { madeAt: string; signsFrom: string } }
  | { type: 'SigningKeyRetired'; data: { kid: string; retiredAt: string } }
  /** The same private key, sealed with another key of ENCRYPTION_KEY. */
  | { type: 'SigningKeyResealed'; data: { kid: string; sealedPrivateKey: string } }
  | { type: 'SigningKeyRevoked'; data: { kid: string; revokedAt: string } }

export type KeptKey = SigningKey & {
  madeAt: string
  /** The key signs from this time on. It is published from `madeAt` on, so that verifiers with a cache know it by then. */
  signsFrom: string
  /** Time from which the next key signs instead, which may be in the future; null if it was not rotated. */
  retiredAt: string | null
  /** Time since which its signatures are refused; null unless it was compromised. */
  revokedAt: string | null
}

/** All keys, including retired and revoked ones, in one stream, so that adding and retiring a key is one append. */
export type KeyRing = { status: 'Absent'; keys: readonly [] } | { status: 'Live'; keys: readonly KeptKey[] }

export type SigningKeyCommand =
  /** Adds the first key. Does nothing if there is a key. */
  | { type: 'EnsureSigningKey'; metadata: CommandMetadata; key: SigningKey }
  /**
   * Adds the key that signs from `signsFrom` on. Does nothing while the newest key does not sign yet, or if it was made
   * after `unlessMadeAfter`, so that replicas that rotate on schedule need no coordination.
   */
  | {
      type: 'RotateSigningKey'
      metadata: CommandMetadata
      key: SigningKey
      signsFrom: string
      unlessMadeAfter?: string
    }
  /** Adds a key that signs at once, and revokes all others. */
  | { type: 'ReplaceSigningKeys'; metadata: CommandMetadata; key: SigningKey }
  /** The values that are sealed again, by the stored ones. */
  | { type: 'ResealSigningKeys'; metadata: CommandMetadata; renewed: ReadonlyMap<string, string> }

/** The key that signs at a time. If no key signs yet by this clock, which may be behind: the oldest that is not revoked. */
export const currentKey = ({ keys }: KeyRing, at: string): KeptKey | undefined => {
  const usable = keys.filter(({ revokedAt }) => revokedAt === null)
  return usable.findLast(({ signsFrom }) => signsFrom <= at) ?? usable[0]
}

/** The keys of one purpose. @param resourceType what the audit log calls a key */
const keyRingDecider = (
  resourceType: 'SIGNING_KEY' | 'AUDIT_KEY',
): Decider<KeyRing, SigningKeyCommand, SigningKeyEvent> => ({
  initial: { status: 'Absent', keys: [] },
  events: { SigningKeyMade: [], SigningKeyRetired: [], SigningKeyResealed: [], SigningKeyRevoked: [] },
  decide({ keys }, command) {
    if (command.type === 'ResealSigningKeys') return resealed(keys, command.renewed)
    const { key, metadata } = command
    const { now } = metadata
    const made = (signsFrom: string): SigningKeyEvent => ({
      type: 'SigningKeyMade',
      data: { ...key, madeAt: now, signsFrom },
    })
    const newest = keys.at(-1)
    if (!newest) return [made(now)]
    switch (command.type) {
      case 'EnsureSigningKey':
        return []
      case 'RotateSigningKey': {
        const { signsFrom, unlessMadeAfter } = command
        if (newest.signsFrom > now) return []
        if (unlessMadeAfter !== undefined && newest.madeAt > unlessMadeAfter) return []
        return [
          made(signsFrom),
          { type: 'SigningKeyRetired', data: { kid: newest.kid, retiredAt: signsFrom } },
        ]
      }
      case 'ReplaceSigningKeys':
        return [
          made(now),
          ...keys
            .filter(({ revokedAt }) => revokedAt === null)
            .map(
              ({ kid }): SigningKeyEvent => ({ type: 'SigningKeyRevoked', data: { kid, revokedAt: now } }),
            ),
        ]
      default:
        return command satisfies never
    }
  },
  evolve(state, event) {
    const { keys } = state
    const changed = (kid: string, change: Partial<KeptKey>): KeyRing => ({
      status: 'Live',
      keys: keys.map(key => (key.kid === kid ? { ...key, ...change } : key)),
    })
    switch (event.type) {
      case 'SigningKeyMade':
        return { status: 'Live', keys: [...keys, { ...event.data, retiredAt: null, revokedAt: null }] }
      case 'SigningKeyRetired':
        return changed(event.data.kid, { retiredAt: event.data.retiredAt })
      case 'SigningKeyResealed':
        return changed(event.data.kid, { sealedPrivateKey: event.data.sealedPrivateKey })
      case 'SigningKeyRevoked':
        return changed(event.data.kid, { revokedAt: event.data.revokedAt })
      default:
        event satisfies never
        return state
    }
  },
  describe(before, event, after): Change | null {
    if (event.type === 'SigningKeyResealed') return null
    const { kid } = event.data
    return {
      action: `${resourceType}_${ENDINGS[event.type]}`,
      resourceType,
      resourceId: kid,
      before: publicKeyIn(before, kid),
      after: publicKeyIn(after, kid),
    } as Change
  },
})

function publicKeyIn({ keys }: KeyRing, kid: string) {
  const key = keys.find(known => known.kid === kid)
  if (!key) return null
  const { madeAt, signsFrom, retiredAt, revokedAt } = key
  return { kid, madeAt, signsFrom, retiredAt, revokedAt }
}

const resealed = (keys: readonly KeptKey[], renewed: ReadonlyMap<string, string>): SigningKeyEvent[] =>
  keys.flatMap(({ kid, sealedPrivateKey }) => {
    const next = renewed.get(sealedPrivateKey) ?? sealedPrivateKey
    if (next === sealedPrivateKey) return []
    return [{ type: 'SigningKeyResealed' as const, data: { kid, sealedPrivateKey: next } }]
  })

/** The keys of login tokens. */
export const signingKeyDecider = keyRingDecider('SIGNING_KEY')
/** The keys of audit proofs. They are in a ring of their own, so that none is ever accepted for a login. */
export const auditKeyDecider = keyRingDecider('AUDIT_KEY')

const ENDINGS = {
  SigningKeyMade: 'CREATED',
  SigningKeyRetired: 'RETIRED',
  SigningKeyRevoked: 'REVOKED',
} as const satisfies Readonly<Record<Exclude<SigningKeyEvent['type'], 'SigningKeyResealed'>, string>>
