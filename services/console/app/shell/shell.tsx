import { AppShell, Burger, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useIsMutating } from '@tanstack/react-query'
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useRef, useState } from 'react'
import { readSessionAgain } from '../http/credentials.ts'
import { type Session, useSession } from '../http/session.ts'
import { ReloginDialog } from '../login/relogin-dialog.tsx'
import { signOut } from '../login/sign-in.ts'
import { Brand } from '../parts/brand.tsx'
import { SlowNotice } from '../parts/slow.tsx'
import { areasOf, lackAt } from './areas.ts'
import type { AccountDialog } from './commands.ts'
import { Navigation } from './navigation.tsx'
import { Offline } from './offline.tsx'
import { NoAccess, NoAccessTo } from './page-states.tsx'
import { PaletteButton } from './palette-button.tsx'
import classes from './shell.module.css'
import { Shortcuts } from './shortcuts.tsx'
import { ThemeMenu } from './theme-menu.tsx'
import { UserMenu } from './user-menu.tsx'

/** The frame of all pages after the login: areas, user menu and the states that concern every page. */
export function Shell() {
  const current = useSession()
  const router = useRouter()
  // The session has ended on this page or in the dialog.
  useEffect(() => {
    if (!current) router.invalidate()
  }, [current, router])
  // The role or the scopes may have changed since the session was kept in this tab.
  useEffect(() => void readSessionAgain(), [])
  return current ? <Frame current={current} /> : null
}

function Frame({ current }: { current: Session }) {
  const [opened, { toggle, close }] = useDisclosure()
  const main = useRef<HTMLElement>(null)
  const [dialog, setDialog] = useState<AccountDialog>()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <SkipLink onSkip={() => main.current?.focus()} />
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Areas"
              aria-expanded={opened}
            />
            <Brand />
          </Group>
          <PaletteButton current={current} onDialog={setDialog} />
          <Group gap="xs" wrap="nowrap">
            <Shortcuts />
            <ThemeMenu />
            <UserMenu current={current} dialog={dialog} onDialog={setDialog} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Areas" className={opened ? undefined : classes.closed}>
        <Navigation current={current} onOpen={close} />
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} className={classes.main}>
        <Offline />
        <SlowNotice waiting={useIsMutating() > 0} floating />
        <Page current={current} />
      </AppShell.Main>
      <ReloginDialog />
    </AppShell>
  )
}

/** A link would change the address, because the URLs of the page start at the console. */
function SkipLink({ onSkip }: { onSkip: () => void }) {
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    onSkip()
  }
  return (
    <a className={classes.skip} href={window.location.href} onClick={skip}>
      Skip to the content
    </a>
  )
}

/** The page of the address, unless the session may not open it. */
function Page({ current }: { current: Session }) {
  const path = useRouterState({ select: state => state.location.pathname })
  if (areasOf(current).length === 0) return <NoAccess session={current} onSignOut={signOut} />
  const lack = lackAt(path, current)
  if (lack) return <NoAccessTo {...lack} />
  return <Outlet />
}
