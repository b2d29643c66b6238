import { Badge, Group } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { Time } from '../parts/time.tsx'

/** Whether a user may sign in: status and lockout. */
export function UserBadges({ user }: { user: Pick<Schemas['User'], 'status' | 'lockedUntil'> }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Badge color={user.status === 'ACTIVE' ? 'teal.9' : 'gray.7'}>
        {user.status === 'ACTIVE' ? 'Active' : 'Inactive'}
      </Badge>
      {user.lockedUntil && (
        <Badge color="red.9" variant="filled">
          Locked, ends <Time at={user.lockedUntil} />
        </Badge>
      )}
    </Group>
  )
}
