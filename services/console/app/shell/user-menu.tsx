import { Group, Menu, Text, UnstyledButton } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import { type ComponentPropsWithRef, lazy, Suspense } from 'react'
import { INTERFACE_PATH } from '../http/place.ts'
import type { Session } from '../http/session.ts'
import { isByPassword, signOut } from '../login/sign-in.ts'
import { timeText } from '../parts/time.tsx'
import { ROLE_NAMES } from '../people/roles.ts'
import type { AccountDialog } from './commands.ts'
import { ChevronIcon } from './icons.tsx'

const PasswordDialog = lazy(async () => ({
  default: (await import('./password-dialog.tsx')).PasswordDialog,
}))
const SignOutDialog = lazy(async () => ({
  default: (await import('./sign-out-dialog.tsx')).SignOutDialog,
}))

const LinkItem = createLink((props: ComponentPropsWithRef<'a'>) => <Menu.Item component="a" {...props} />)

interface UserMenuProps {
  current: Session
  dialog: AccountDialog | undefined
  onDialog: (dialog?: AccountDialog) => void
}

/** Who is signed in, what is their own, and the ways to sign out. */
export function UserMenu({ current, dialog, onDialog }: UserMenuProps) {
  const { user, tokenName, expiresAt, scopes } = current
  const close = () => onDialog()
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
          {scopes.includes('USER_READ') && (
            <LinkItem to="/users/$userId" params={{ userId: user.id }}>
              Your user
            </LinkItem>
          )}
          {scopes.includes('ACCESS_TOKEN_MANAGE') && <LinkItem to="/tokens">Your access tokens</LinkItem>}
          <Menu.Item component="a" href={`${INTERFACE_PATH}/docs`}>
            REST API documentation
          </Menu.Item>
          <Menu.Divider />
          {isByPassword(current) && (
            <Menu.Item onClick={() => onDialog('password')}>Change password…</Menu.Item>
          )}
          <Menu.Item onClick={signOut}>Sign out</Menu.Item>
          <Menu.Item onClick={() => onDialog('sign-out')}>Sign out everywhere…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>
        {dialog === 'password' && <PasswordDialog onClose={close} />}
        {dialog === 'sign-out' && <SignOutDialog current={current} onClose={close} />}
      </Suspense>
    </>
  )
}
