import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { asProblem } from '../http/problem.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'

/** Unlocks a user who is locked after wrong passwords. */
export function UnlockButton({ user }: { user: Pick<Schemas['User'], 'id' | 'username'> }) {
  const unlock = useMutation({
    mutationFn: () =>
      answer(client.POST('/users/{user_id}/unlock', { params: { path: { user_id: user.id } } })),
    onSuccess: () => {
      notifications.show({ color: 'teal.9', message: `${user.username} is unlocked and may sign in again.` })
      return queries.invalidateQueries({ queryKey: ['users'] })
    },
    onError: error => {
      const { title, detail, requestId } = asProblem(error)
      const message = `${detail}${requestId ? ` Request id ${requestId}` : ''}`
      notifications.show({
        color: 'red',
        title: `${user.username} is not unlocked: ${title}`,
        message,
        autoClose: false,
      })
    },
  })
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={unlock.isPending}
      onClick={() => unlock.mutate()}
      aria-label={`Unlock ${user.username}`}
    >
      Unlock
    </Button>
  )
}
