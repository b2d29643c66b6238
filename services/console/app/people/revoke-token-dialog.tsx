import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Time } from '../parts/time.tsx'

interface RevokeTokenDialogProps {
  /** The token that is asked about; undefined while the dialog is closed. */
  token: Schemas['AccessToken'] | undefined
  onClose: () => void
}

/** Asks before an access token is revoked. */
export function RevokeTokenDialog({ token, onClose }: RevokeTokenDialogProps) {
  return (
    <Modal
      opened={token !== undefined}
      onClose={onClose}
      title={`Revoke ${token?.name ?? ''}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {token && <Question key={token.id} token={token} onClose={onClose} />}
    </Modal>
  )
}

function Question({ token, onClose }: { token: Schemas['AccessToken']; onClose: () => void }) {
  const revoke = useMutation({
    mutationFn: () => answer(client.DELETE('/accessTokens/{id}', { params: { path: { id: token.id } } })),
    onSuccess: () => {
      notifications.show({ color: 'teal.9', message: `${token.name} is revoked.` })
      onClose()
      return queries.invalidateQueries({ queryKey: ['tokens'] })
    },
  })
  return (
    <Stack>
      <Text size="sm">
        Programs that use it are refused from now on. It was last used{' '}
        {token.lastUsedAt ? <Time at={token.lastUsedAt} /> : 'never'}. It cannot be undone.
      </Text>
      {revoke.isError && <ProblemPanel what="The token is not revoked" error={revoke.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red.9" loading={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </Group>
    </Stack>
  )
}
