import { Group } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { StatusBadge } from '../parts/statuses.tsx'
import { Time } from '../parts/time.tsx'

/** Whether a user may sign in: status and lockout. */
export function UserBadges({ user }: { user: Pick<Schemas['User'], 'status' | 'lockedUntil'> }) {
  return (
    <Group gap={6}>
      <StatusBadge status={user.status} />
      {user.lockedUntil && (
        <StateBadge color="red">
          Locked, ends <Time at={user.lockedUntil} />
        </StateBadge>
      )}
    </Group>
  )
}
