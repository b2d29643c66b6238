import type { Scope } from '../http/schemas.ts'

/** The areas of the console in the order of the navigation, with the scope that each needs. */
export const AREAS = [
  { to: '/apis', label: 'APIs', scope: 'API_READ' },
  { to: '/webhooks', label: 'Webhooks', scope: 'WEBHOOKS_READ' },
] as const satisfies readonly { to: string; label: string; scope: Scope }[]
