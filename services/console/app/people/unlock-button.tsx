import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { notifyDone, notifyFailed } from '../parts/notify.ts'

/** Unlocks a user who is locked after wrong passwords. */
export function UnlockButton({ user }: { user: Pick<Schemas['User'], 'id' | 'username'> }) {
  const unlock = useMutation({
    mutationFn: () => answer(client.unlockUser({ user_id: user.id })),
    onSuccess: () => {
      notifyDone(`${user.username} is unlocked and may sign in again`)
      return queries.invalidateQueries({ queryKey: ['users'] })
    },
    onError: error => notifyFailed(`${user.username} is not unlocked`, error),
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
