import { z } from 'zod'
import { Role, Scope } from './scopes.ts'

/** The authenticated caller. The gateway signs it and passes it to the services with every request. */
export const Principal = z.object({
  userId: z.uuid(),
  username: z.string(),
  role: Role,
  /** Scopes that both the role and the credential have. */
  scopes: z.array(Scope),
  kind: z.enum(['login', 'accessToken', 'platform']),
  /** Id of the access token, if the credential is one; else null. */
  tokenId: z.string().nullable(),
  /** Unique id of the credential. */
  credentialId: z.string(),
  /** When the credential expires, in milliseconds since 1970. */
  expiresAt: z.number(),
})
export type Principal = z.infer<typeof Principal>
