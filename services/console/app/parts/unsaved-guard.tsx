import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'

/**
 * Asks before the page is left while a form has input that is not saved. The browser asks when the tab is closed or
 * reloaded. Navigations with `ignoreBlocker` pass.
 */
export function UnsavedGuard({ unsaved }: { unsaved: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => unsaved && current.pathname !== next.pathname,
    enableBeforeUnload: unsaved,
    withResolver: true,
  })
  return <Discard opened={status === 'blocked'} onDiscard={() => proceed?.()} onStay={() => reset?.()} />
}

/** Asks whether input that is not saved shall be lost. */
export function Discard(props: { opened: boolean; onDiscard: () => void; onStay: () => void }) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onStay}
      title="Discard your changes?"
      closeButtonProps={{ 'aria-label': 'Keep editing' }}
    >
      <Stack>
        <Text size="sm">What you have changed here is not saved.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onDiscard}>
            Discard
          </Button>
          <Button data-autofocus onClick={props.onStay}>
            Keep editing
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
