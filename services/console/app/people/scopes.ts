import type { Scope } from '../http/schemas.ts'

/** Scopes about one resource. */
export interface ScopeGroup {
  name: string
  /** True if no operation of Gantry needs them: they are for programs of the platform around it. */
  platform: boolean
  scopes: readonly { scope: Scope; text: string }[]
}

/** The group of each scope, and what the scope allows. A scope without an entry does not compile. */
const SCOPE_TEXTS: Readonly<Record<Scope, readonly [group: string, text: string]>> = {
  API_READ: ['APIs', 'Read APIs with their versions, images, deployments and history.'],
  API_WRITE: ['APIs', 'Create, change, deploy, restore and delete APIs with their versions and images.'],
  WEBHOOKS_READ: ['Webhooks', 'Read webhooks, their deliveries and their recoveries.'],
  WEBHOOKS_WRITE: ['Webhooks', 'Create, change, test and delete webhooks; retry and cancel deliveries.'],
  ACCESS_TOKEN_MANAGE: ['Access tokens', 'Read, create and revoke the access tokens of the user.'],
  USER_READ: ['Users', 'Read users with their role, status and lockout.'],
  USER_WRITE: ['Users', 'Create, change, unlock, delete and erase users.'],
  USER_INVITATION: ['Users', 'Invite users. No operation of Gantry needs it.'],
  AUDIT_LOG_READ: ['Audit', 'Read and export the audit log with its proofs, and follow the event feed.'],
  CONFIGURATION_READ: ['Configuration', 'Read the state of the services, signing keys and read models.'],
  CONFIGURATION_WRITE: ['Configuration', 'Publish events of the platform, and rebuild read models.'],
  ENVIRONMENT_READ: ['Environments', 'Read environments.'],
  ENVIRONMENT_WRITE: ['Environments', 'Create and change environments.'],
  APPLICATION_READ: ['Applications', 'Read applications.'],
  APPLICATION_WRITE: ['Applications', 'Create, change and delete applications.'],
  PLAN_READ: ['Plans', 'Read plans.'],
  PLAN_WRITE: ['Plans', 'Create, change and delete plans.'],
  PLAN_ASSIGN_APIS: ['Plans', 'Assign APIs to plans.'],
  SUBSCRIPTIONS_READ: ['Subscriptions', 'Read subscriptions; let webhooks receive events about them.'],
  SUBSCRIPTIONS_WRITE: ['Subscriptions', 'Create, change and end subscriptions.'],
  METRICS_READ: ['Metrics', 'Read metrics of the use of APIs.'],
  ORGANIZATION_READ: ['Organizations', 'Read the organization.'],
  ORGANIZATION_WRITE: ['Organizations', 'Create, change and delete organizations.'],
  ACCESS_TENANT_DATA: ['Organizations', 'Read data of a whole tenant.'],
  CROSS_ORGANIZATION_ACCESS: ['Organizations', 'Read and change data of other organizations.'],
  GIT_CREDENTIALS_READ: ['Git credentials', 'Read credentials for Git repositories.'],
  GIT_CREDENTIALS_WRITE: ['Git credentials', 'Create, change and delete credentials for Git repositories.'],
  DISCOVERY: ['Discovery', 'Discover APIs on API gateways.'],
  APPROVAL_REQUEST_READ: [
    'Approval requests',
    'Read approval requests; let webhooks receive events about them.',
  ],
  APPROVAL_REQUEST_WRITE: ['Approval requests', 'Approve and decline approval requests.'],
  RULE_SETS_READ: ['Rule sets', 'Read rule sets.'],
  RULE_SETS_WRITE: ['Rule sets', 'Create, change and delete rule sets.'],
  READ_GOVERNANCE_DATA: ['Rule sets', 'Read the scores of documents, and what rules find in them.'],
  DEV_PORTAL_READ: ['Developer portals', 'Read developer portals.'],
  DEV_PORTAL_WRITE: ['Developer portals', 'Create, change and delete developer portals.'],
  TERMS_OF_USE_READ: ['Terms of use', 'Read terms of use.'],
  TERMS_OF_USE_WRITE: ['Terms of use', 'Create, change and delete terms of use.'],
  API_GATEWAY_READ: ['API gateways', 'Read API gateways.'],
  API_GATEWAY_WRITE: ['API gateways', 'Create, change and delete API gateways.'],
  JOBS_READ: ['Jobs', 'Read bulk changes and imports with their progress and results.'],
  SELF_SERVICE: ['Self-service', 'Use the self-service of the platform.'],
  SAML_LOGIN: ['Single sign-on', 'Sign in users with SAML.'],
}

/** What a scope allows. */
export const scopeText = (scope: Scope): string => SCOPE_TEXTS[scope][1]

/** The groups with scopes that operations of Gantry need. */
const OF_GANTRY = [
  'APIs',
  'Webhooks',
  'Access tokens',
  'Users',
  'Audit',
  'Configuration',
  'Environments',
  'Rule sets',
  'Jobs',
]

/** The scopes that a session may give to an access token, by group, those of Gantry first. */
export function scopeGroups(allowed: readonly Scope[]): ScopeGroup[] {
  const entries = Object.entries(SCOPE_TEXTS) as [Scope, readonly [string, string]][]
  const offered = entries.filter(([scope]) => allowed.includes(scope))
  const groups = Map.groupBy(offered, ([, [group]]) => group)
  const all = [...groups].map(([name, members]) => ({
    name,
    platform: !OF_GANTRY.includes(name),
    scopes: members.map(([scope, [, text]]) => ({ scope, text })),
  }))
  return all.sort((left, right) => Number(left.platform) - Number(right.platform))
}

/** The groups with the scopes that match every word of a search, in the scope, its group or its text. */
export function matchingScopes(groups: readonly ScopeGroup[], search: string): ScopeGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return groups.flatMap(group => {
    const scopes = group.scopes.filter(({ scope, text }) => {
      const searched = `${group.name} ${scope} ${text}`.toLowerCase()
      return words.every(word => searched.includes(word))
    })
    return scopes.length > 0 ? [{ ...group, scopes }] : []
  })
}
