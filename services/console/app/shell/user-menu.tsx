import { Group, Menu, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { INTERFACE_PATH } from '../http/place.ts'
import type { Session } from '../http/session.ts'
import { signOut } from '../login/sign-in.ts'
import { timeText } from '../parts/time.tsx'
import { ROLE_NAMES } from '../people/roles.ts'
import { ChevronIcon } from './icons.tsx'

const PasswordDialog = lazy(async () => ({
  default: (await import('./password-dialog.tsx')).PasswordDialog,
}))
const SignOutDialog = lazy(async () => ({
  default: (await import('./sign-out-dialog.tsx')).SignOutDialog,
}))

/** Who is signed in, and the ways to sign out. */
export function UserMenu({ current }: { current: Session }) {
  const { user, tokenName, expiresAt } = current
  const [asked, { open, close }] = useDisclosure()
  const [changing, password] = useDisclosure()
  return (
    <>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false} width={260}>
        <Menu.Target>
          <UnstyledButton px={4} aria-label={`User menu of ${user.displayName}`}>
            <Group gap={4} wrap="nowrap">
              <Text size="sm" maw={{ base: 'min(90px, calc(100vw - 300px))', sm: 180 }} truncate>
                {user.displayName}
              </Text>
              <ChevronIcon />
            </Group>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="sm" c="var(--mantine-color-text)" fw={600} truncate>
              {user.username}
            </Text>
            <Text size="xs" c="var(--mantine-color-text)">
              {ROLE_NAMES[user.role]}
              {tokenName !== undefined && `, by the access token ${tokenName}`}
            </Text>
            <Text size="xs" c="var(--mantine-color-text)">
              The session ends {timeText(new Date(expiresAt).toISOString())}
            </Text>
          </Menu.Label>
          <Menu.Divider />
          <Menu.Item component="a" href={`${INTERFACE_PATH}/docs`}>
            REST API documentation
          </Menu.Item>
          <Menu.Divider />
          {current.credential === 'LOGIN' && <Menu.Item onClick={password.open}>Change password…</Menu.Item>}
          <Menu.Item onClick={signOut}>Sign out</Menu.Item>
          <Menu.Item onClick={open}>Sign out everywhere…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>
        {changing && <PasswordDialog onClose={password.close} />}
        {asked && <SignOutDialog current={current} onClose={close} />}
      </Suspense>
    </>
  )
}
