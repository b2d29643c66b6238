import { z } from 'zod'
import { operation } from './operation.ts'
import { Timestamp } from './primitives.ts'

export const SigningKeyRecord = z
  .object({
    kid: z.string().meta({ description: 'Thumbprint of the public key (RFC 7638)' }),
    purpose: z.enum(['LOGIN', 'AUDIT']).meta({
      description: 'LOGIN: signs login tokens. AUDIT: signs audit proofs; never accepted for a login',
    }),
    status: z.enum(['NEXT', 'CURRENT', 'RETIRED', 'REVOKED']).meta({
      description: 'NEXT: published, and signs from signsFrom on. REVOKED: its signatures are refused',
    }),
    publicKey: z
      .looseObject({ kty: z.string(), crv: z.string(), x: z.string() })
      .meta({ description: 'JSON Web Key (RFC 8037)' }),
    madeAt: Timestamp,
    signsFrom: Timestamp,
    retiredAt: Timestamp.nullable().meta({
      description: 'Time from which the next key signs instead; may be in the future',
    }),
    revokedAt: Timestamp.nullable(),
    acceptedUntil: Timestamp.nullable().meta({
      description: 'Time until which its signatures are accepted; null if no end is known',
    }),
  })
  .meta({ id: 'SigningKey' })
export type SigningKeyRecord = z.infer<typeof SigningKeyRecord>

const example: SigningKeyRecord = {
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  purpose: 'LOGIN',
  status: 'CURRENT',
  publicKey: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
  madeAt: '2026-11-21T09:00:00.000Z',
  signsFrom: '2026-11-21T09:10:00.000Z',
  retiredAt: null,
  revokedAt: null,
  acceptedUntil: null,
}

export const listSigningKeys = operation({
  id: 'listSigningKeys',
  method: 'GET',
  path: '/signingKeys',
  service: 'identity',
  tag: 'System',
  summary: 'List the keys that sign login tokens and audit proofs',
  description:
    'All keys that ever were, by purpose, the newest first. Only their public parts. Programs that verify signatures use the key sets under /.well-known, which need no credentials.',
  scope: 'CONFIGURATION_READ',
  responses: {
    200: { description: 'The keys', schema: z.array(SigningKeyRecord), example: [example] },
  },
})
