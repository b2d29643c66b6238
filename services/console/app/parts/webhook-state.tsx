import type { Schemas } from '../http/schemas.ts'
import { StateBadge } from './state-badge.tsx'

type Webhook = Pick<Schemas['Webhook'], 'active' | 'health'>

/** The states with the worst one first, each with its name and the colour of its badge. */
export const STATES = {
  failing: { label: 'Failing', color: 'red' },
  inactive: { label: 'Inactive', color: 'gray' },
  untried: { label: 'No attempts yet', color: 'blue' },
  healthy: { label: 'Healthy', color: 'teal' },
}

export type WebhookState = keyof typeof STATES

/** The state of a webhook, as the list filters and sorts by it. */
export function stateOf({ active, health }: Webhook): WebhookState {
  if (!active) return 'inactive'
  if (!health || health.attempts === 0) return 'untried'
  return health.consecutiveFailures > 0 ? 'failing' : 'healthy'
}

/** The state of a webhook as a badge. */
export function WebhookStateBadge({ webhook }: { webhook: Webhook }) {
  const { label, color } = STATES[stateOf(webhook)]
  return <StateBadge color={color}>{label}</StateBadge>
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

/** A share of attempts as text; a dash without an attempt. */
export const rateText = (rate: number | null | undefined): string =>
  rate == null ? '–' : percent.format(rate)
