import { z } from 'zod'

/** All scopes that a token can have (specification, "Authentication", table of scopes). */
export const SCOPES = [
  'API_READ',
  'API_WRITE',
  'ENVIRONMENT_READ',
  'ENVIRONMENT_WRITE',
  'USER_READ',
  'USER_WRITE',
  'ACCESS_TOKEN_MANAGE',
  'APPLICATION_READ',
  'APPLICATION_WRITE',
  'PLAN_READ',
  'PLAN_WRITE',
  'SUBSCRIPTIONS_READ',
  'SUBSCRIPTIONS_WRITE',
  'CONFIGURATION_READ',
  'CONFIGURATION_WRITE',
  'METRICS_READ',
  'ORGANIZATION_READ',
  'ORGANIZATION_WRITE',
  'GIT_CREDENTIALS_READ',
  'GIT_CREDENTIALS_WRITE',
  'DISCOVERY',
  'USER_INVITATION',
  'APPROVAL_REQUEST_READ',
  'APPROVAL_REQUEST_WRITE',
  'AUDIT_LOG_READ',
  'RULE_SETS_READ',
  'RULE_SETS_WRITE',
  'DEV_PORTAL_READ',
  'DEV_PORTAL_WRITE',
  'WEBHOOKS_READ',
  'WEBHOOKS_WRITE',
  'TERMS_OF_USE_READ',
  'TERMS_OF_USE_WRITE',
  'API_GATEWAY_READ',
  'API_GATEWAY_WRITE',
  'JOBS_READ',
  'PLAN_ASSIGN_APIS',
  'READ_GOVERNANCE_DATA',
  'ACCESS_TENANT_DATA',
  'SELF_SERVICE',
  'CROSS_ORGANIZATION_ACCESS',
  'SAML_LOGIN',
] as const
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' })
export type Scope = z.infer<typeof Scope>

export const ROLES = ['GLOBAL_ADMIN', 'ADMIN', 'USER', 'BILLING_CONTACT', 'NO_ACCESS'] as const
export const Role = z.enum(ROLES).meta({ id: 'Role' })
export type Role = z.infer<typeof Role>

const ACROSS_ORGANIZATIONS: readonly Scope[] = [
  'CROSS_ORGANIZATION_ACCESS',
  'ACCESS_TENANT_DATA',
  'ORGANIZATION_WRITE',
]
const ADMINISTRATION: readonly Scope[] = [
  ...ACROSS_ORGANIZATIONS,
  'USER_READ',
  'USER_WRITE',
  'USER_INVITATION',
  'CONFIGURATION_READ',
  'CONFIGURATION_WRITE',
  'AUDIT_LOG_READ',
  'RULE_SETS_WRITE',
  'SAML_LOGIN',
]

/** The scopes of each role. The scopes of an access token are a subset. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  GLOBAL_ADMIN: SCOPES,
  ADMIN: SCOPES.filter(scope => !ACROSS_ORGANIZATIONS.includes(scope)),
  USER: SCOPES.filter(scope => !ADMINISTRATION.includes(scope)),
  BILLING_CONTACT: [
    'API_READ',
    'PLAN_READ',
    'SUBSCRIPTIONS_READ',
    'ORGANIZATION_READ',
    'METRICS_READ',
    'ACCESS_TOKEN_MANAGE',
  ],
  NO_ACCESS: [],
}

/**
 * Administrator roles, from the highest to the lowest. Callers cannot grant a role above their own, and cannot change users
 * with such a role.
 */
export const ADMINISTRATOR_ROLES: readonly Role[] = ['GLOBAL_ADMIN', 'ADMIN']

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
  /** The address of the caller, sealed with the user's key; for the audit log alone. */
  address: z.string().optional(),
})
export type Principal = z.infer<typeof Principal>
