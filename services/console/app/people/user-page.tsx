import '../more-styles.ts'
import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { client, tagged } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed, useSession } from '../http/session.ts'
import { isProblem } from '../parts/field-errors.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { Trail } from '../parts/trail.tsx'
import { EraseUserDialog } from './erase-user-dialog.tsx'
import { GoneUser } from './gone-user.tsx'
import { mayGrant, ROLE_NAMES } from './roles.ts'
import { UnlockButton } from './unlock-button.tsx'
import { UserBadges } from './user-badges.tsx'
import { UserDetails } from './user-details.tsx'
import { UserEnd } from './user-end.tsx'
import { UserForm } from './user-form.tsx'
import { UserPassword } from './user-password.tsx'
import { UserTokens } from './user-tokens.tsx'

const route = getRouteApi('/inside/users/$userId')

/** One user: details, role and status, lockout, deletion and erasure. */
export function UserPage() {
  const { userId } = route.useParams()
  const user = useQuery({
    queryKey: ['users', 'one', userId],
    queryFn: ({ signal }) => tagged(client.getUser({ user_id: userId }, { signal })),
  })
  const gone = isProblem(user.error, 'user-not-found')
  // The query keeps what it has read before the user was deleted.
  const current = gone ? undefined : user.data
  const [erasing, erasure] = useDisclosure()
  return (
    <Stack maw={720}>
      <Trail to="/users" label="Users" page={current?.body.displayName ?? 'User'} />
      {!current && (
        <Title order={1} size="h2">
          User
        </Title>
      )}
      {user.isPending && <Loading what="the user" />}
      {gone && <GoneUser id={userId} onErase={erasure.open} />}
      {user.isError && !gone && (
        <ProblemPanel
          what="The user cannot be shown"
          error={user.error}
          onRetry={() => void user.refetch()}
        />
      )}
      {current && <Loaded key={userId} user={current.body} etag={current.etag} onErase={erasure.open} />}
      {/* Here, because its result stays when the erased user is read again. */}
      <EraseUserDialog
        key={`erasure ${userId}`}
        id={userId}
        name={current?.body.username ?? userId}
        {...(current && { etag: current.etag })}
        opened={erasing}
        onClose={erasure.close}
      />
    </Stack>
  )
}

interface LoadedProps {
  user: Schemas['User']
  etag: string
  onErase: () => void
}

function Loaded({ user, etag, onErase }: LoadedProps) {
  const current = useSession()
  const mayWrite = useAllowed('USER_WRITE')
  const [editing, edit] = useDisclosure()
  const above = !mayGrant(current?.user.role ?? 'NO_ACCESS', user.role)
  return (
    <>
      <Group gap="sm">
        <Title order={1} size="h2">
          {user.displayName}
        </Title>
        <Badge>{ROLE_NAMES[user.role]}</Badge>
        <UserBadges user={user} />
        {current?.user.id === user.id && <Badge>You</Badge>}
      </Group>
      {user.lockedUntil && <Lockout user={user} mayUnlock={mayWrite && !above} />}
      {mayWrite && above && (
        <Alert color="yellow" title="You cannot change this user">
          Their role is above your own.
        </Alert>
      )}
      {editing ? (
        <UserForm user={user} etag={etag} onClose={edit.close} />
      ) : (
        <Paper withBorder p="md">
          <Stack align="start">
            <Title order={2} size="h4">
              Details
            </Title>
            <UserDetails user={user} />
            {mayWrite && !above && <Button onClick={edit.open}>Edit</Button>}
          </Stack>
        </Paper>
      )}
      {mayWrite && !above && (
        <>
          <UserTokens user={user.id} />
          <UserPassword user={user} etag={etag} />
          <UserEnd user={user} etag={etag} onErase={onErase} />
        </>
      )}
    </>
  )
}

function Lockout({ user, mayUnlock }: { user: Schemas['User']; mayUnlock: boolean }) {
  return (
    <Alert color="red" title="Locked after too many wrong passwords">
      <Stack gap="xs" align="start">
        <Text size="sm">
          No password is accepted; the lock ends {user.lockedUntil && <Time at={user.lockedUntil} />}. Access
          tokens still work.
        </Text>
        {mayUnlock && <UnlockButton user={user} />}
      </Stack>
    </Alert>
  )
}
