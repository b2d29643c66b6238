import type { Scope } from '../http/schemas.ts'
import type { Session } from '../http/session.ts'

const GROUPS = ['Catalogue', 'Webhooks', 'Activity', 'Administration'] as const

interface Area {
  to: string
  label: string
  group: (typeof GROUPS)[number]
  scope: Scope
}

/** The areas of the console, with the scope that each needs. */
const AREAS = [
  { to: '/apis', label: 'APIs', group: 'Catalogue', scope: 'API_READ' },
  { to: '/operations', label: 'Operations', group: 'Catalogue', scope: 'API_READ' },
  { to: '/environments', label: 'Environments', group: 'Catalogue', scope: 'ENVIRONMENT_READ' },
  { to: '/jobs', label: 'Jobs', group: 'Catalogue', scope: 'JOBS_READ' },
  { to: '/rule-sets', label: 'Rule sets', group: 'Catalogue', scope: 'RULE_SETS_READ' },
  { to: '/webhooks', label: 'Webhooks', group: 'Webhooks', scope: 'WEBHOOKS_READ' },
  { to: '/deliveries', label: 'Deliveries', group: 'Webhooks', scope: 'WEBHOOKS_READ' },
  { to: '/users', label: 'Users', group: 'Administration', scope: 'USER_READ' },
  { to: '/tokens', label: 'Access tokens', group: 'Administration', scope: 'ACCESS_TOKEN_MANAGE' },
  { to: '/system', label: 'System', group: 'Administration', scope: 'CONFIGURATION_READ' },
  { to: '/events', label: 'Events', group: 'Activity', scope: 'AUDIT_LOG_READ' },
  { to: '/audit', label: 'Audit log', group: 'Activity', scope: 'AUDIT_LOG_READ' },
] as const satisfies readonly Area[]

export type ListedArea = (typeof AREAS)[number]

/** The areas that a session may open, in the order of the navigation. */
export const areasOf = ({ scopes }: Session): ListedArea[] =>
  GROUPS.flatMap(group => AREAS.filter(area => area.group === group && scopes.includes(area.scope)))

/** The same by group. Groups without an area are left out. */
export const groupsOf = (session: Session): { group: string; areas: ListedArea[] }[] =>
  GROUPS.map(group => ({ group, areas: areasOf(session).filter(area => area.group === group) })).filter(
    ({ areas }) => areas.length > 0,
  )

/** The area of a path of the console, e.g. that of the APIs for /apis/1. */
const areaAt = (path: string): ListedArea | undefined =>
  AREAS.find(({ to }) => path === to || path.startsWith(`${to}/`))

/** The scopes that the forms of an area need besides its own. */
const FORM_SCOPES: { [To in ListedArea['to']]?: Scope } = {
  '/apis': 'API_WRITE',
  '/rule-sets': 'RULE_SETS_WRITE',
  '/webhooks': 'WEBHOOKS_WRITE',
  '/users': 'USER_WRITE',
}

/** What a session lacks for a path of the console: the label of the area and the scope. */
export function lackAt(path: string, { scopes }: Session): { label: string; scope: Scope } | undefined {
  const area = areaAt(path)
  if (!area) return undefined
  const form = /\/(new|edit|import)$/.test(path) ? FORM_SCOPES[area.to] : undefined
  const scope = [area.scope, form].find(each => each !== undefined && !scopes.includes(each))
  return scope && { label: scope === form ? `the forms of ${area.label}` : area.label, scope }
}
