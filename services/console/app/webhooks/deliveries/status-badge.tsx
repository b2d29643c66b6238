import { StateBadge } from '../../parts/state-badge.tsx'
import type { Delivery } from './delivery-queries.ts'
import type { STATUSES } from './search.ts'

/** The statuses of deliveries, each with its name in the filter and on its badge, and the colour of the badge. */
export const STATUS: Readonly<Record<(typeof STATUSES)[number], { label: string; color: string }>> = {
  CREATED: { label: 'Waiting', color: 'blue' },
  RETRYING: { label: 'Retrying', color: 'orange' },
  SUCCESS: { label: 'Delivered', color: 'teal' },
  GIVE_UP: { label: 'Given up', color: 'red' },
  CANCELLED: { label: 'Cancelled', color: 'gray' },
}

/** The status of a delivery as a badge. */
export function StatusBadge({ delivery }: { delivery: Pick<Delivery, 'status'> }) {
  const { label, color } = STATUS[delivery.status]
  return <StateBadge color={color}>{label}</StateBadge>
}
