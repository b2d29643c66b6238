import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useNetwork } from '@mantine/hooks'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { INTERFACE_PATH } from '../http/place.ts'
import { type Session, useSession } from '../http/session.ts'
import { ReloginDialog } from '../login/relogin-dialog.tsx'
import { signOut } from '../login/sign-in.ts'
import { AREAS } from './areas.ts'
import { Offline } from './offline.tsx'

/** The frame of all pages after the login: areas, user menu and the states that concern every page. */
export function Shell() {
  const current = useSession()
  const router = useRouter()
  const { online } = useNetwork()
  const [opened, { toggle, close }] = useDisclosure()
  // The session has ended on this page or in the dialog.
  useEffect(() => {
    if (!current) router.invalidate()
  }, [current, router])
  if (!current) return null
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Areas" />
            <Text fw={700} size="lg">
              Gantry
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ThemeButton />
            <UserMenu current={current} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Areas">
        <Areas scopes={current.scopes} onOpen={close} />
      </AppShell.Navbar>
      <AppShell.Main>
        <Offline online={online} />
        <Outlet />
      </AppShell.Main>
      <ReloginDialog />
    </AppShell>
  )
}

function Areas({ scopes, onOpen }: { scopes: Session['scopes']; onOpen: () => void }) {
  return AREAS.filter(({ scope }) => scopes.includes(scope)).map(({ to, label }) => (
    <NavLink
      key={to}
      label={label}
      renderRoot={props => (
        <Link
          to={to}
          activeProps={{ 'data-active': true, 'aria-current': 'page' }}
          {...props}
          onClick={onOpen}
        />
      )}
    />
  ))
}

function ThemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon variant="default" aria-label={`Use the ${other} theme`} onClick={() => setColorScheme(other)}>
      {scheme === 'dark' ? '☀' : '☾'}
    </ActionIcon>
  )
}

function UserMenu({ current }: { current: Session }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <UnstyledButton px="xs" aria-label={`User menu of ${current.user.username}`}>
          <Text size="sm">{current.user.displayName} ▾</Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {current.user.username}, {current.user.role}
        </Menu.Label>
        <Menu.Item component="a" href={`${INTERFACE_PATH}/docs`}>
          Documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
