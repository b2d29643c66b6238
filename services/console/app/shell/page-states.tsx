import { Button, Code, Container, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Session } from '../http/session.ts'
import { AnchorLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { ROLE_NAMES } from '../people/roles.ts'
import { isFailedImport } from './failed-import.ts'

/** A path that the console does not have. */
export function NotFound() {
  return (
    <Message title="There is no such page">
      <Text>The address may be misspelled, or from another version of the console.</Text>
      <AnchorLink to="/">Go to the first page</AnchorLink>
    </Message>
  )
}

/** A page that cannot be shown. */
export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  if (isFailedImport(error)) return <PageOutdated />
  return (
    <Container p="md">
      <ProblemPanel what="The page cannot be shown" error={error} onRetry={reset} />
    </Container>
  )
}

/** A page whose files are being read. */
export const PagePending = () => <Loading what="the page" />

/** A page whose files are gone, because the console was built again while it was open. */
function PageOutdated() {
  return (
    <Message title="This page must be loaded again">
      <Text>
        Its files could not be read. The console may have been updated while it was open, or the connection is
        interrupted. The address and the session are kept.
      </Text>
      <Group justify="center">
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </Group>
    </Message>
  )
}

/** A page that the session may not open. */
export function NoAccessTo({ label, scope }: { label: string; scope: string }) {
  return (
    <Message title={`You have no access to ${label}`}>
      <Text>
        This page needs the scope <Code>{scope}</Code>. Ask an administrator for a role that has it, or sign
        in with an access token that has it.
      </Text>
    </Message>
  )
}

/** The only page of a session that may not open any area. */
export function NoAccess({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const { user, tokenName } = session
  return (
    <Message title="You have no access to any area">
      <Text>
        {tokenName === undefined
          ? `You are signed in as ${user.username} with the role ${ROLE_NAMES[user.role]}, which allows no area of the console.`
          : `You are signed in as ${user.username} with the access token ${tokenName}, which allows no area of the console.`}
      </Text>
      <Text>Ask an administrator for another role, or sign in with other credentials.</Text>
      <Group justify="center">
        <Button onClick={onSignOut}>Sign in with other credentials</Button>
      </Group>
    </Message>
  )
}

function Message({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Container size="sm" py="xl">
      <Stack ta="center" gap="sm">
        <Title order={1} size="h3">
          {title}
        </Title>
        {children}
      </Stack>
    </Container>
  )
}
