import type { WebhookState } from './search.ts'
import type { Webhook } from './webhook-queries.ts'

/** The state of a webhook, as the list filters and sorts by it. */
export function stateOf({ active, health }: Pick<Webhook, 'active' | 'health'>): WebhookState {
  if (!active) return 'inactive'
  if (!health || health.attempts === 0) return 'untried'
  return health.consecutiveFailures > 0 ? 'failing' : 'healthy'
}

/** The states with the worst one first, each with its name and the colour of its badge. */
export const STATES: Readonly<Record<WebhookState, { label: string; color: string }>> = {
  failing: { label: 'Failing', color: 'red' },
  inactive: { label: 'Inactive', color: 'gray' },
  untried: { label: 'No attempts yet', color: 'blue' },
  healthy: { label: 'Healthy', color: 'teal' },
}
