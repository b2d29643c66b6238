import type { AuditKeySet, AuditSigner } from '@gantry/audit-proofs'
import { ALGORITHM, publicJwk } from '../../signingkey/key-material.ts'
import type { SigningKeys } from '../../signingkey/keys.ts'

/** The keys that sign audit proofs. */
export interface AuditKeys {
  /** The key that signs now. @throws Error when it cannot be unsealed with ENCRYPTION_KEY */
  signer(): Promise<AuditSigner>
  /** All public keys that ever were, so that old proofs can be verified for ever. */
  published(): Promise<AuditKeySet>
}

export const auditKeys = (keys: Pick<SigningKeys, 'current' | 'all'>): AuditKeys => ({
  signer: () => keys.current(),
  async published() {
    const all = await keys.all()
    return {
      keys: all.map(({ kid, x, signsFrom: validFrom, retiredAt: validUntil, revokedAt }) => ({
        ...(publicJwk(x) as { kty: 'OKP'; crv: 'Ed25519'; x: string }),
        kid,
        alg: ALGORITHM,
        use: 'sig',
        validFrom,
        validUntil,
        revokedAt,
      })),
    }
  },
})
