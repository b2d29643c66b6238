import type { Schemas } from '../http/schemas.ts'

type Role = Schemas['Role']

/** The roles from the highest to the lowest. */
export const ROLES = [
  'GLOBAL_ADMIN',
  'ADMIN',
  'USER',
  'BILLING_CONTACT',
  'NO_ACCESS',
] as const satisfies readonly Role[]

/** The roles in words. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  GLOBAL_ADMIN: 'Global administrator',
  ADMIN: 'Administrator',
  USER: 'User',
  BILLING_CONTACT: 'Billing contact',
  NO_ACCESS: 'No access',
}

/** What a user with a role may do, in one sentence. */
export const ROLE_TEXTS: Readonly<Record<Role, string>> = {
  GLOBAL_ADMIN: 'May do everything, also across organizations. At least one active user has this role.',
  ADMIN: 'May do everything within the organization: APIs, webhooks, users, configuration and the audit log.',
  USER: 'May read and change APIs, webhooks and their own access tokens. Has no part in administration.',
  BILLING_CONTACT:
    'May read APIs, plans, subscriptions, the organization and metrics, and have access tokens.',
  NO_ACCESS: 'May sign in, but read and change nothing.',
}

const ADMINISTRATORS: readonly Role[] = ['GLOBAL_ADMIN', 'ADMIN']

/**
 * Whether a caller may give a role to a user, and change a user who has it: an administrator role only up to their own. The
 * service decides; this decides what the console offers.
 */
export function mayGrant(own: Role, role: Role): boolean {
  if (!ADMINISTRATORS.includes(role)) return true
  return ADMINISTRATORS.includes(own) && ROLES.indexOf(own) <= ROLES.indexOf(role)
}

type Access = 'none' | 'read' | 'change'

/** What each role may do in each area, for the table of roles. */
export const ROLE_ACCESS: readonly (readonly [area: string, access: Readonly<Record<Role, Access>>])[] = [
  ['APIs, versions, images and deployments', accessOf('change', 'change', 'change', 'read')],
  ['Environments', accessOf('change', 'change', 'change', 'none')],
  ['Rule sets', accessOf('change', 'change', 'read', 'none')],
  ['Jobs', accessOf('read', 'read', 'read', 'none')],
  ['Webhooks and deliveries', accessOf('change', 'change', 'change', 'none')],
  ['Access tokens of their own', accessOf('change', 'change', 'change', 'change')],
  ['Users and lockouts', accessOf('change', 'change', 'none', 'none')],
  ['System, signing keys and read models', accessOf('change', 'change', 'none', 'none')],
  ['Audit log and event feed', accessOf('read', 'read', 'none', 'none')],
  ['Plans and subscriptions of the platform', accessOf('change', 'change', 'change', 'read')],
  ['The organization of the platform', accessOf('change', 'read', 'read', 'read')],
  ['Data of other organizations', accessOf('change', 'none', 'none', 'none')],
]

function accessOf(global: Access, admin: Access, user: Access, billing: Access): Record<Role, Access> {
  return { GLOBAL_ADMIN: global, ADMIN: admin, USER: user, BILLING_CONTACT: billing, NO_ACCESS: 'none' }
}
