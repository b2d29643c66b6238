import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { session, useSession } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'

interface DeleteUserDialogProps {
  user: Schemas['User']
  etag: string
  opened: boolean
  onClose: () => void
}

/** Asks before a user is deleted. */
export function DeleteUserDialog({ user, etag, opened, onClose }: DeleteUserDialogProps) {
  const own = useSession()?.user.id === user.id
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { user_id: user.id }, header: { 'If-Match': etag } }
      return answer(client.DELETE('/users/{user_id}', { params }))
    },
    onSuccess: async () => {
      if (own) {
        queries.clear()
        return session.end()
      }
      notifications.show({ color: 'teal.9', message: `${user.username} is deleted.` })
      await navigate({ to: '/users', ignoreBlocker: true })
      queries.removeQueries({ queryKey: ['users', 'one', user.id] })
      await queries.invalidateQueries({ queryKey: ['users'] })
    },
    onError: () => queries.invalidateQueries({ queryKey: ['users', 'one', user.id] }),
  })
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Delete ${user.username}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          Their logins end, their access tokens are revoked and their webhooks are disabled at once. Their
          APIs stay. The audit log keeps their name; to remove it, erase the user instead.
        </Text>
        {own && (
          <Text size="sm" fw={700}>
            This is your own user: you are signed out.
          </Text>
        )}
        {remove.isError && <ProblemPanel what="The user is not deleted" error={remove.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
