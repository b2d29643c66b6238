import { createPublicKey, type KeyObject } from 'node:crypto'
import { UserUpdate } from '@gantry/contracts'
import { s3Location, s3Settings } from '@gantry/s3'
import { duration } from '@gantry/service-runtime'
import { z } from 'zod'

const { username, password } = UserUpdate.shape
const DAY_MS = 86_400_000

/** A public key as PEM, in which line breaks may be written as \n, or as JWK. */
const publicKey = z.string().transform((text, context): KeyObject => {
  const trimmed = text.trim().replaceAll('\\n', '\n')
  try {
    return trimmed.startsWith('{')
      ? createPublicKey({ key: JSON.parse(trimmed), format: 'jwk' })
      : createPublicKey(trimmed)
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a public key as PEM or JWK' })
    return z.NEVER
  }
})

/** Never shows the value in an error: it may contain a secret. */
const pushUrl = z.string().transform((text, context): URL => {
  const url = URL.parse(text)
  if (url && s3Location(text)) return url
  if (url?.protocol === 'https:' && !url.username && !url.password) return url
  context.addIssue({
    code: 'custom',
    message:
      'must be s3://bucket/prefix, or an https URL; without credentials, which are settings of their own',
  })
  return z.NEVER
})

export const identitySettings = z.object({
  GANTRY_ADMIN_USERNAME: username
    .prefault('admin')
    .describe('User name of the administrator that the first start creates.'),
  GANTRY_ADMIN_PASSWORD: z
    .string()
    .refine(value => password.safeParse(value).success, { error: 'must have 12 to 1024 characters' })
    .optional()
    .meta({
      description: 'Its password; a generated one is in the log of identity, once.',
      shown: 'generated',
    }),
  USER_KEY_BACKUP_RETENTION: duration
    .refine(ms => ms <= 36_500 * DAY_MS, { error: 'must be at most 36500d' })
    .prefault('30d')
    .describe(
      'How long you keep backups of the keys of users, at most 36500d; shown in answers to erasures.',
    ),
  AUDIT_PUSH_URL: pushUrl
    .optional()
    .describe(
      'Where the audit log is pushed, `s3://bucket/prefix` or an https URL: see ' +
        '[Pushing the audit log](#pushing-the-audit-log).',
    ),
  AUDIT_PUSH_EVERY: duration
    .refine(ms => ms >= 1_000, { error: 'must be at least 1s' })
    .prefault('1h')
    .describe('How often it is pushed, at least 1s.'),
  AUDIT_PUSH_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters' })
    .optional()
    .meta({ description: 'Bearer token for an https URL.', secret: true }),
  ...s3Settings.shape,
  PLATFORM_JWT_JWKS_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe(
      'URL of the keys (JWKS) of tokens of the platform, to accept these tokens: for Ed25519, ECDSA with P-256, P-384 or ' +
        'P-521, or RSA with at least 2048 bits.',
    ),
  PLATFORM_JWT_PUBLIC_KEY: publicKey.optional().describe('Instead of the URL: the key, as PEM or JWK.'),
  PLATFORM_JWT_ISSUER: z.string().optional().describe('Expected claim `iss` of these tokens.'),
  PLATFORM_JWT_AUDIENCE: z.string().optional().describe('Expected claim `aud` of these tokens.'),
  PLATFORM_JWT_USER_CLAIM: z
    .string()
    .default('sub')
    .describe('Name of the claim that has the username or the user id.'),
})
export type IdentitySettings = z.infer<typeof identitySettings>
