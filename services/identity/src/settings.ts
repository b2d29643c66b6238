import { createPublicKey, type KeyObject } from 'node:crypto'
import { UserUpdate } from '@gantry/contracts'
import { duration } from '@gantry/service-kit'
import { z } from 'zod'

const { username, password } = UserUpdate.shape
const HOUR_MS = 3_600_000

/** A PEM (line breaks may be written \n) or a JWK. */
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

/** What identity reads from the environment. */
export const identitySettings = z.object({
  /** Of the administrator that is made at first start. */
  GANTRY_ADMIN_USERNAME: username.default('admin'),
  GANTRY_ADMIN_PASSWORD: z
    .string()
    .refine(value => password.safeParse(value).success, { error: 'must have 12 to 1024 characters' })
    .optional(),
  /** How often the key that signs login tokens is followed by a new one; 0s for never. */
  SIGNING_KEY_ROTATION: duration
    .refine(period => period === 0 || period >= HOUR_MS, { error: 'must be 1h at least, or 0s for never' })
    .default(30 * 24 * HOUR_MS),
  PLATFORM_JWT_JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  PLATFORM_JWT_PUBLIC_KEY: publicKey.optional(),
  PLATFORM_JWT_ISSUER: z.string().optional(),
  PLATFORM_JWT_AUDIENCE: z.string().optional(),
  /** The claim that names the user, by username or id. */
  PLATFORM_JWT_USER_CLAIM: z.string().default('sub'),
})
export type IdentitySettings = z.infer<typeof identitySettings>
