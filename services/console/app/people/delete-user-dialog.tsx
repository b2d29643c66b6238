import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { session, useSession } from '../http/session.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notifyDone } from '../parts/notify.ts'

interface DeleteUserDialogProps {
  user: Schemas['User']
  etag: string
  onClose: () => void
}

/** Asks before a user is deleted. */
export function DeleteUserDialog({ user, etag, onClose }: DeleteUserDialogProps) {
  const own = useSession()?.user.id === user.id
  const navigate = useNavigate()
  const remove = async () => {
    await answer(client.deleteUser({ user_id: user.id }, { ifMatch: etag })).catch(async error => {
      // The page below shows what has changed, and the next confirmation is about that.
      await queries.invalidateQueries({ queryKey: ['users', 'one', user.id] })
      throw error
    })
    if (own) return session.end()
    notifyDone(`${user.username} is deleted`)
    await navigate({ to: '/users', ignoreBlocker: true })
    queries.removeQueries({ queryKey: ['users', 'one', user.id] })
    await queries.invalidateQueries({ queryKey: ['users'] })
  }
  return (
    <ConfirmDialog
      title={`Delete ${user.username}?`}
      action="Delete"
      failed="The user is not deleted"
      color="red"
      onConfirm={remove}
      onClose={onClose}
    >
      <Text size="sm">
        Their logins end, their access tokens are revoked and their webhooks are disabled at once. Their APIs
        stay. The audit log keeps their name; to remove it, erase the user instead.
      </Text>
      {own && (
        <Text size="sm" fw={700}>
          This is your own user: you are signed out.
        </Text>
      )}
    </ConfirmDialog>
  )
}
