import { Text } from '@mantine/core'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notifyDone } from '../parts/notify.ts'
import { Time } from '../parts/time.tsx'

interface RevokeTokenDialogProps {
  token: Schemas['AccessToken']
  /** Id of the user who has it; undefined for the person who is signed in. */
  owner: string | undefined
  onClose: () => void
}

/** Asks before an access token is revoked. */
export function RevokeTokenDialog({ token, owner, onClose }: RevokeTokenDialogProps) {
  const revoke = async () => {
    const { id } = token
    await answer(
      owner === undefined
        ? client.deleteAccessToken({ id })
        : client.deleteUserAccessToken({ user_id: owner, id }),
    )
    notifyDone(`${token.name} is revoked`)
    queries.invalidateQueries({ queryKey: ['tokens'] })
  }
  return (
    <ConfirmDialog
      title={`Revoke ${token.name}?`}
      action="Revoke"
      failed="The token is not revoked"
      color="red"
      onConfirm={revoke}
      onClose={onClose}
    >
      <Text size="sm">
        Programs that use it are refused from now on. It{' '}
        {token.lastUsedAt ? (
          <>
            was last used <Time at={token.lastUsedAt} />
          </>
        ) : (
          'was never used'
        )}
        . It cannot be undone.
      </Text>
    </ConfirmDialog>
  )
}
