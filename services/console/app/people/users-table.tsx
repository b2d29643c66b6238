import { Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed, useSession } from '../http/session.ts'
import { AnchorLink } from '../parts/links.tsx'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { SortHeader } from '../parts/sort-header.tsx'
import { Time } from '../parts/time.tsx'
import { mayGrant, ROLE_NAMES } from './roles.ts'
import { UnlockButton } from './unlock-button.tsx'
import { UserBadges } from './user-badges.tsx'

interface UsersTableProps {
  users: readonly Schemas['User'][]
  sort: string
  onSort: (sort: string) => void
}

export function UsersTable({ users, sort, onSort }: UsersTableProps) {
  const sorting = { sort, onSort }
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table verticalSpacing="sm" highlightOnHover aria-label="Users">
        <Table.Thead>
          <Table.Tr>
            <SortHeader field="username" {...sorting}>
              User
            </SortHeader>
            <SortHeader field="email" visibleFrom="sm" {...sorting}>
              Email
            </SortHeader>
            <SortHeader field="role" visibleFrom="sm" {...sorting}>
              Role
            </SortHeader>
            <SortHeader field="status" {...sorting}>
              Status
            </SortHeader>
            <SortHeader field="createdAt" visibleFrom="md" {...sorting}>
              Created
            </SortHeader>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {users.map(user => (
            <UserRow key={user.id} user={user} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function UserRow({ user }: { user: Schemas['User'] }) {
  const mayWrite = useAllowed('USER_WRITE')
  const current = useSession()?.user
  const own = current?.id === user.id
  const mayUnlock = mayWrite && mayGrant(current?.role ?? 'NO_ACCESS', user.role)
  return (
    <Table.Tr {...OPENS_ITS_LINK}>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Stack gap={0}>
          <Group gap="xs">
            <AnchorLink to="/users/$userId" params={{ userId: user.id }} fw={600}>
              {user.username}
            </AnchorLink>
            {own && <Badge size="sm">You</Badge>}
          </Group>
          {user.displayName !== user.username && <Text size="sm">{user.displayName}</Text>}
          {user.email && (
            <Text size="xs" hiddenFrom="sm">
              {user.email}
            </Text>
          )}
          <Text size="xs" hiddenFrom="sm">
            {ROLE_NAMES[user.role]}
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
        {user.email ?? '–'}
      </Table.Td>
      <Table.Td visibleFrom="sm">{ROLE_NAMES[user.role]}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          <UserBadges user={user} />
          {mayUnlock && user.lockedUntil && <UnlockButton user={user} />}
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Time at={user.createdAt} />
      </Table.Td>
    </Table.Tr>
  )
}
