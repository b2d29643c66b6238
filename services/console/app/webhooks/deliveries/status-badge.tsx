import { StateBadge } from '../../parts/state-badge.tsx'
import type { Delivery, Pause } from './delivery-queries.ts'
import type { STATUSES } from './search.ts'

/** The statuses of deliveries, each with its name and the colour of its badge. */
export const STATUS: Readonly<Record<(typeof STATUSES)[number], { label: string; color: string }>> = {
  CREATED: { label: 'Sending', color: 'blue' },
  RETRYING: { label: 'Retrying', color: 'orange' },
  SUCCESS: { label: 'Delivered', color: 'teal' },
  GIVE_UP: { label: 'Given up', color: 'red' },
  CANCELLED: { label: 'Cancelled', color: 'gray' },
}

interface StatusBadgeProps {
  delivery: Pick<Delivery, 'status' | 'waitsFor'>
  pause?: Pause | undefined
}

/** The status of a delivery as a badge. */
export function StatusBadge({ delivery, pause }: StatusBadgeProps) {
  const { label, color } = pause
    ? { label: 'Paused', color: 'orange' }
    : delivery.waitsFor
      ? { label: 'Waiting', color: 'blue' }
      : STATUS[delivery.status]
  return <StateBadge color={color}>{label}</StateBadge>
}
