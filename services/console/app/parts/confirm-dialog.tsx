import { Button, Group, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { InputDialog } from './input-dialog.tsx'
import { ProblemPanel } from './problem-panel.tsx'

interface ConfirmDialogProps {
  title: string
  /** Text of the button that confirms, e.g. "Delete version". */
  action: string
  /** What failed, e.g. "The version is not deleted". */
  failed: string
  /** Red for actions that remove something. */
  color?: 'red'
  disabled?: boolean
  /** Whether `children` have input that closing the dialog would lose. */
  unsaved?: boolean
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}

/**
 * Asks before an action, shows its progress, and stays open until it has ended, and with the reason when it fails. Cancel
 * has the focus unless a field in `children` asks for it with `data-autofocus`.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const action = useMutation({ mutationFn: props.onConfirm, onSuccess: props.onClose })
  const cancel = () => {
    if (!action.isPending) props.onClose()
  }
  return (
    <InputDialog title={props.title} unsaved={(props.unsaved ?? false) && !action.isPending} onClose={cancel}>
      {close => (
        <form
          onSubmit={event => {
            event.preventDefault()
            action.mutate()
          }}
        >
          <Stack>
            {props.children}
            {action.isError && <ProblemPanel what={props.failed} error={action.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close} disabled={action.isPending} data-autofocus>
                Cancel
              </Button>
              <Button
                type="submit"
                {...(props.color && { color: props.color })}
                disabled={props.disabled ?? false}
                loading={action.isPending}
              >
                {props.action}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </InputDialog>
  )
}
