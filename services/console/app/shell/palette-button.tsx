import { ActionIcon, Button, Group, Kbd, Modal, Text, UnstyledButton } from '@mantine/core'
import { type ComponentType, useState } from 'react'
import { SearchIcon } from './icons.tsx'
import { usePaletteKey } from './keys.ts'
import { MODIFIER } from './modifier.ts'
import type { PaletteProps } from './palette.tsx'
import classes from './shell.module.css'

const LABEL = 'Find pages, actions, APIs and more'

/** Opens the command palette, which is read when it is first used. */
export function PaletteButton({ current, onDialog }: Pick<PaletteProps, 'current' | 'onDialog'>) {
  const [opened, setOpened] = useState(false)
  const [unreadable, setUnreadable] = useState(false)
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
      setUnreadable(true)
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
      <Unreadable opened={unreadable} onClose={() => setUnreadable(false)} />
      {read && (
        <read.Palette
          key={opening.number}
          current={current}
          opened={opened}
          returnTo={opening.from instanceof HTMLElement ? opening.from : null}
          onClose={() => setOpened(false)}
          onDialog={onDialog}
        />
      )}
    </>
  )
}

/** A dialog, because the files of notifications may be gone as well. */
function Unreadable({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="The command palette could not be read"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text size="sm">
        The console may have been updated while it was open, or the connection is interrupted. Save what you
        have typed on this page before you reload it.
      </Text>
      <Group justify="flex-end" mt="md">
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </Group>
    </Modal>
  )
}
