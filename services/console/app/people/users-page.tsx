import { AnchorLink, ButtonLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Button, Group, Select, Stack, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { TextSearch } from '../parts/text-search.tsx'
import { ROLE_NAMES, ROLES } from './roles.ts'
import { RolesDialog } from './roles-dialog.tsx'
import { readUserSearch, STATUSES, type UserSearch, userQuery } from './search.ts'
import { UsersTable } from './users-table.tsx'

const route = getRouteApi('/inside/users')
const SIZE = 25

/** The users with their role, status and lockout. */
export function UsersPage() {
  // The router also passes on what the route has left out.
  const search = readUserSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const mayWrite = useAllowed('USER_WRITE')
  const [rolesShown, roles] = useDisclosure()
  const users = useQuery({
    queryKey: ['users', search],
    queryFn: ({ signal }) => answer(client.listUsers(userQuery(search, SIZE), { signal })),
    placeholderData: keepPreviousData,
  })
  const show = (change: Partial<Record<keyof UserSearch, unknown>>) =>
    navigate({ search: { ...search, page: undefined, ...change } as UserSearch, replace: true })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Users
        </Title>
        <Group gap="xs">
          <Button variant="default" onClick={roles.open}>
            What roles may do
          </Button>
          {mayWrite && <ButtonLink to="/users/new">Create user</ButtonLink>}
        </Group>
      </Group>
      <UserFilters search={search} onChange={show} />
      {users.isPending && <Loading what="the users" />}
      {users.isError && (
        <ProblemPanel
          what="The users cannot be listed"
          error={users.error}
          onRetry={() => void users.refetch()}
        />
      )}
      {users.data?.totalElements === 0 && (
        <Empty title="No user matches">
          <AnchorLink to="/users" search={{}}>
            Show all users
          </AnchorLink>
        </Empty>
      )}
      {users.data && isBeyondEnd(users.data) && <EmptyPage onFirst={() => show({})} />}
      {users.data && users.data.content.length > 0 && (
        <>
          <UsersTable
            users={users.data.content}
            sort={search.sort ?? 'username,asc'}
            onSort={sort => show({ sort })}
          />
          <Pages
            what="users"
            one="user"
            page={users.data}
            onPage={page => show({ page: page > 1 ? page : undefined })}
          />
        </>
      )}
      <RolesDialog opened={rolesShown} onClose={roles.close} />
    </Stack>
  )
}

interface UserFiltersProps {
  search: UserSearch
  onChange: (change: Partial<Record<keyof UserSearch, unknown>>) => void
}

function UserFilters({ search, onChange }: UserFiltersProps) {
  return (
    <Group align="end" gap="sm" component="search">
      <TextSearch
        label="Search"
        placeholder="User name, display name or email"
        value={search.text}
        onChange={text => onChange({ text })}
        flex="1 1 16rem"
      />
      <Select
        label="Role"
        placeholder="Any role"
        data={ROLES.map(value => ({ value, label: ROLE_NAMES[value] }))}
        value={search.role ?? null}
        onChange={role => onChange({ role: role ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Any role' }}
        w={180}
      />
      <Select
        label="Status"
        placeholder="Any status"
        data={STATUSES.map(value => ({ value, label: value === 'ACTIVE' ? 'Active' : 'Inactive' }))}
        value={search.status ?? null}
        onChange={status => onChange({ status: status ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        w={150}
      />
    </Group>
  )
}
