import { ActionIcon } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { KeyboardIcon } from './icons.tsx'
import { useSingleKey } from './keys.ts'

const ShortcutsDialog = lazy(async () => ({
  default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog,
}))

/** The button and the dialog of the keyboard shortcuts. */
export function Shortcuts() {
  const [opened, { open, close }] = useDisclosure()
  useSingleKey('?', open)
  useSingleKey('/', focusSearch)
  return (
    <>
      <ActionIcon variant="default" size="lg" visibleFrom="sm" onClick={open} aria-label="Keyboard shortcuts">
        <KeyboardIcon />
      </ActionIcon>
      {opened && (
        <Suspense>
          <ShortcutsDialog onClose={close} />
        </Suspense>
      )}
    </>
  )
}

function focusSearch() {
  document.querySelector<HTMLInputElement>('main input[type="search"]')?.focus()
}
