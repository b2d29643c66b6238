import { z } from 'zod'
import { Role, Scope } from './scopes.ts'

/** Who is calling, as the gateway found out: what services are told, signed, of every request. */
export const Principal = z.object({
  userId: z.uuid(),
  username: z.string(),
  role: Role,
  /** Scopes of the role that the credential leaves. */
  scopes: z.array(Scope),
  kind: z.enum(['login', 'accessToken', 'platform']),
  /** Id of the access token, when that is the credential. */
  tokenId: z.string().nullable(),
  /** Tells the credential from every other; absent when a gateway or identity service of an earlier release says who is calling. */
  credentialId: z.string().optional(),
  /** When the credential ends, in milliseconds since 1970. */
  expiresAt: z.number(),
})
export type Principal = z.infer<typeof Principal>
