import type { AuditKey, AuditKeys } from '@gantry/audit'
import { ALGORITHM, publicJwk } from '../../signingkey/key-material.ts'
import type { SigningKeys } from '../../signingkey/keys.ts'
import type { KeptKey } from '../../signingkey/signingkey.ts'

/** The signing keys of proofs as the audit log uses them. */
export const auditKeys = (keys: Pick<SigningKeys, 'current' | 'all' | 'own'>): AuditKeys => ({
  signer: () => keys.current(),
  published: async () => ({ keys: (await keys.all()).map(published) }),
  own: async () => (await keys.own()).map(published),
  async since() {
    if ((await keys.all()).length === 0) return undefined
    return (await keys.own())[0]?.madeAt ?? new Date(0).toISOString()
  },
})

const published = ({
  kid,
  x,
  signsFrom: validFrom,
  retiredAt: validUntil,
  revokedAt,
}: KeptKey): AuditKey => ({
  ...(publicJwk(x) as { kty: 'OKP'; crv: 'Ed25519'; x: string }),
  kid,
  alg: ALGORITHM,
  use: 'sig',
  validFrom,
  validUntil,
  revokedAt,
})
