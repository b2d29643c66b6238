import type { AuditKeys } from '@gantry/audit'
import { ALGORITHM, publicJwk } from '../../signingkey/key-material.ts'
import type { SigningKeys } from '../../signingkey/keys.ts'

/** The signing keys of proofs as the audit log uses them. */
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
