import type { Change, CommandMetadata, Decider } from '@gantry/event-sourcing'

/** A key pair for signing login tokens; the private half is sealed with the configured encryption key. */
export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638). */
  kid: string
  /** RFC 8037: the x coordinate of an Ed25519 key, base64url. */
  x: string
  sealedPrivateKey: string
}

export type SigningKeyEvent =
  /** Events from before keys were published ahead have no `signsFrom`: they signed from the start. */
  | { type: 'SigningKeyMade'; data: SigningKey & { madeAt: string; signsFrom?: string } }
  | { type: 'SigningKeyRetired'; data: { kid: string; retiredAt: string } }
  | { type: 'SigningKeyRevoked'; data: { kid: string; revokedAt: string } }

export type KeptKey = SigningKey & {
  madeAt: string
  /** Published from `madeAt` on, it signs from this moment: whoever keeps the published keys for a while knows it then. */
  signsFrom: string
  /** From when on it signs no more, which may be yet to come; null while no other follows it. */
  retiredAt: string | null
  /** Since when nothing that it signed is believed; null unless it became known to others. */
  revokedAt: string | null
}

/** Every key there ever was, in one stream, so that making one and retiring another is one append. */
export type KeyRing = { status: 'Absent'; keys: readonly [] } | { status: 'Live'; keys: readonly KeptKey[] }

export type SigningKeyCommand =
  /** Makes this the first key, unless there is one. */
  | { type: 'EnsureSigningKey'; metadata: CommandMetadata; key: SigningKey }
  /**
   * Makes this the key that signs from a moment on. Does nothing while an earlier rotation is under way, nor when the
   * newest key was made after `unlessMadeAfter`: so replicas that rotate on schedule need no agreement.
   */
  | {
      type: 'RotateSigningKey'
      metadata: CommandMetadata
      key: SigningKey
      signsFrom: string
      unlessMadeAfter?: string
    }
  /** Makes this the key that signs, at once, and has nothing believed that the others signed. */
  | { type: 'ReplaceSigningKeys'; metadata: CommandMetadata; key: SigningKey }

/** The key that signs at a time; by a clock that is behind that of its maker, the first there is. */
export const currentKey = ({ keys }: KeyRing, at: string): KeptKey | undefined => {
  const usable = keys.filter(({ revokedAt }) => revokedAt === null)
  return usable.findLast(({ signsFrom }) => signsFrom <= at) ?? usable[0]
}

export const signingKeyDecider: Decider<KeyRing, SigningKeyCommand, SigningKeyEvent> = {
  initial: { status: 'Absent', keys: [] },
  events: { SigningKeyMade: [], SigningKeyRetired: [], SigningKeyRevoked: [] },
  decide({ keys }, command) {
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
      default: {
        const missing: never = command
        return missing
      }
    }
  },
  evolve(state, event) {
    const { keys } = state
    const changed = (kid: string, change: Partial<KeptKey>): KeyRing => ({
      status: 'Live',
      keys: keys.map(key => (key.kid === kid ? { ...key, ...change } : key)),
    })
    switch (event.type) {
      case 'SigningKeyMade': {
        const { madeAt, signsFrom = madeAt } = event.data
        return {
          status: 'Live',
          keys: [...keys, { ...event.data, signsFrom, retiredAt: null, revokedAt: null }],
        }
      }
      case 'SigningKeyRetired':
        return changed(event.data.kid, { retiredAt: event.data.retiredAt })
      case 'SigningKeyRevoked':
        return changed(event.data.kid, { revokedAt: event.data.revokedAt })
      default:
        event satisfies never
        return state
    }
  },
  describe(before, event, after): Change {
    const { kid } = event.data
    const of = (ring: KeyRing) => {
      const key = ring.keys.find(known => known.kid === kid)
      if (!key) return null
      const { madeAt, signsFrom, retiredAt, revokedAt } = key
      return { kid, madeAt, signsFrom, retiredAt, revokedAt }
    }
    return {
      action: ACTIONS[event.type],
      resourceType: 'SIGNING_KEY',
      resourceId: kid,
      before: of(before),
      after: of(after),
    }
  },
}

const ACTIONS: Readonly<Record<SigningKeyEvent['type'], string>> = {
  SigningKeyMade: 'SIGNING_KEY_CREATED',
  SigningKeyRetired: 'SIGNING_KEY_RETIRED',
  SigningKeyRevoked: 'SIGNING_KEY_REVOKED',
}
