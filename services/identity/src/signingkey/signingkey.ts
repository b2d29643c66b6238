import { type Change, type CommandMetadata, type Decider, Refusal } from '@gantry/event-sourcing'

/** A key pair for signing login tokens; the private half is sealed with the configured encryption key. */
export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638). */
  kid: string
  /** RFC 8037: the x coordinate of an Ed25519 key, base64url. */
  x: string
  sealedPrivateKey: string
}

export type SigningKeyEvent =
  | { type: 'SigningKeyMade'; data: SigningKey & { madeAt: string } }
  | { type: 'SigningKeyRetired'; data: { kid: string; retiredAt: string } }

export type KeptKey = SigningKey & {
  madeAt: string
  /** Since when it signs no more; null while it does. */
  retiredAt: string | null
}

/** Every key there ever was, in one stream, so that making one and retiring another is one append. */
export type KeyRing = { status: 'Absent'; keys: readonly [] } | { status: 'Live'; keys: readonly KeptKey[] }

export type SigningKeyCommand =
  /** Makes this the first key, unless there is one. */
  | { type: 'EnsureSigningKey'; metadata: CommandMetadata; key: SigningKey }
  /** Makes this the key that signs, and retires the one that did. */
  | { type: 'RotateSigningKey'; metadata: CommandMetadata; key: SigningKey }

export const currentKey = ({ keys }: KeyRing): KeptKey | undefined =>
  keys.findLast(({ retiredAt }) => retiredAt === null)

export const signingKeyDecider: Decider<KeyRing, SigningKeyCommand, SigningKeyEvent> = {
  initial: { status: 'Absent', keys: [] },
  decide(ring, { type, key, metadata }) {
    const made: SigningKeyEvent = { type: 'SigningKeyMade', data: { ...key, madeAt: metadata.now } }
    const current = currentKey(ring)
    if (!current) return [made]
    if (type === 'EnsureSigningKey') return []
    if (current.kid === key.kid) throw new Refusal('write-conflict')
    return [made, { type: 'SigningKeyRetired', data: { kid: current.kid, retiredAt: metadata.now } }]
  },
  evolve({ keys }, event) {
    switch (event.type) {
      case 'SigningKeyMade':
        return { status: 'Live', keys: [...keys, { ...event.data, retiredAt: null }] }
      case 'SigningKeyRetired': {
        const { kid, retiredAt } = event.data
        return { status: 'Live', keys: keys.map(key => (key.kid === kid ? { ...key, retiredAt } : key)) }
      }
      default: {
        const missing: never = event
        return missing
      }
    }
  },
  describe(before, event, after): Change {
    const { kid } = event.data
    const of = (ring: KeyRing) => {
      const key = ring.keys.find(known => known.kid === kid)
      return key ? { kid, madeAt: key.madeAt, retiredAt: key.retiredAt } : null
    }
    return {
      action: event.type === 'SigningKeyMade' ? 'SIGNING_KEY_CREATED' : 'SIGNING_KEY_RETIRED',
      resourceType: 'SIGNING_KEY',
      resourceId: kid,
      before: of(before),
      after: of(after),
    }
  },
}
