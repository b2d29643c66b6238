import { ActionIcon, Button, Group, Kbd, Text, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { type ComponentType, useState } from 'react'
import type { Session } from '../http/session.ts'
import { SearchIcon } from './icons.tsx'
import { usePaletteKey } from './keys.ts'
import { MODIFIER } from './modifier.ts'
import type { PaletteProps } from './palette.tsx'
import classes from './shell.module.css'

const LABEL = 'Find a page, an API or a webhook'

/** Opens the command palette, which is read when it is first used. */
export function PaletteButton({ current }: { current: Session }) {
  const [opened, setOpened] = useState(false)
  // Each opening begins with an empty text.
  const [opening, setOpening] = useState<{ number: number; from: Element | null }>({ number: 0, from: null })
  const [read, setRead] = useState<{ Palette: ComponentType<PaletteProps> }>()
  const open = async () => {
    if (opened) return
    const from = document.activeElement
    try {
      setRead(read ?? (await import('./palette.tsx')))
      setOpening({ number: opening.number + 1, from })
      setOpened(true)
    } catch {
      notifications.show(UNREADABLE)
    }
  }
  usePaletteKey(open)
  return (
    <>
      <UnstyledButton className={classes.search} visibleFrom="sm" onClick={open}>
        <Group gap="xs" wrap="nowrap">
          <SearchIcon />
          <Text size="sm" truncate>
            {LABEL}
          </Text>
        </Group>
        <Kbd size="xs">{MODIFIER} K</Kbd>
      </UnstyledButton>
      <ActionIcon variant="default" size="lg" hiddenFrom="sm" onClick={open} aria-label={LABEL}>
        <SearchIcon />
      </ActionIcon>
      {read && (
        <read.Palette
          key={opening.number}
          current={current}
          opened={opened}
          returnTo={opening.from instanceof HTMLElement ? opening.from : null}
          onClose={() => setOpened(false)}
        />
      )}
    </>
  )
}

const UNREADABLE = {
  color: 'red',
  title: 'The command palette could not be read',
  message: (
    <Button size="xs" variant="default" mt="xs" onClick={() => window.location.reload()}>
      Reload
    </Button>
  ),
}
