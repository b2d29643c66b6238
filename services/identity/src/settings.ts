import { createPublicKey, type KeyObject } from 'node:crypto'
import { UserUpdate } from '@gantry/contracts'
import { s3Location, s3Settings } from '@gantry/s3'
import { duration } from '@gantry/service-kit'
import { z } from 'zod'

const { username, password } = UserUpdate.shape
const HOUR_MS = 3_600_000

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

/** Settings that identity reads from the environment. */
export const identitySettings = z.object({
  /** Username of the administrator that the first start creates. */
  GANTRY_ADMIN_USERNAME: username.default('admin'),
  GANTRY_ADMIN_PASSWORD: z
    .string()
    .refine(value => password.safeParse(value).success, { error: 'must have 12 to 1024 characters' })
    .optional(),
  /** How long backups of the store of user keys are kept, at most 100 years. Default: 30 days. */
  USER_KEY_BACKUP_RETENTION: duration
    .refine(ms => ms <= 36_500 * 24 * HOUR_MS, { error: 'must be at most 36500d' })
    .default(30 * 24 * HOUR_MS),
  /** Where the audit log is pushed. Not set: it is not pushed. */
  AUDIT_PUSH_URL: pushUrl.optional(),
  /** Interval of the pushes. Default: 1 hour. */
  AUDIT_PUSH_EVERY: duration.refine(ms => ms >= 1_000, { error: 'must be at least 1s' }).default(HOUR_MS),
  /** Bearer token for an https URL. */
  AUDIT_PUSH_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters' })
    .optional(),
  ...s3Settings.shape,
  PLATFORM_JWT_JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  PLATFORM_JWT_PUBLIC_KEY: publicKey.optional(),
  PLATFORM_JWT_ISSUER: z.string().optional(),
  PLATFORM_JWT_AUDIENCE: z.string().optional(),
  /** Name of the claim that has the username or the user id. */
  PLATFORM_JWT_USER_CLAIM: z.string().default('sub'),
})
export type IdentitySettings = z.infer<typeof identitySettings>
