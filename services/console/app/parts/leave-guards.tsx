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

/** Asks before the page is left, or reloaded, while changes are being made that would end with it. */
export function RunningGuard({ running }: { running: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => running,
    enableBeforeUnload: running,
    withResolver: true,
  })
  return (
    <Leave
      opened={status === 'blocked'}
      title="Stop the changes?"
      text="The changes end when the page is left. What is changed until then stays changed."
      leave="Stop and leave"
      stay="Stay"
      onLeave={() => proceed?.()}
      onStay={() => reset?.()}
    />
  )
}

/** Asks whether to discard input that is not saved. */
export const Discard = (props: { opened: boolean; onDiscard: () => void; onStay: () => void }) => (
  <Leave
    opened={props.opened}
    title="Discard your changes?"
    text="What you have changed here is not saved."
    leave="Discard"
    stay="Keep editing"
    onLeave={props.onDiscard}
    onStay={props.onStay}
  />
)

interface LeaveProps {
  opened: boolean
  title: string
  text: string
  /** Text of the button that leaves. */
  leave: string
  stay: string
  onLeave: () => void
  onStay: () => void
}

const Leave = ({ opened, title, text, leave, stay, onLeave, onStay }: LeaveProps) => (
  <Modal opened={opened} onClose={onStay} title={title} closeButtonProps={{ 'aria-label': stay }}>
    <Stack>
      <Text size="sm">{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onLeave}>
          {leave}
        </Button>
        <Button data-autofocus onClick={onStay}>
          {stay}
        </Button>
      </Group>
    </Stack>
  </Modal>
)
