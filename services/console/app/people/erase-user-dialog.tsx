import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { session, useSession } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Time } from '../parts/time.tsx'

interface EraseUserDialogProps {
  id: string
  /** What is typed to confirm: the user name, or the id of a deleted user. */
  name: string
  /** Entity tag of the user; undefined for a deleted one. */
  etag?: string
  opened: boolean
  onClose: () => void
}

/** Asks for the name of a user before their personal data are erased, and says when the last backup loses them. */
export function EraseUserDialog({ id, name, etag, opened, onClose }: EraseUserDialogProps) {
  const own = useSession()?.user.id === id
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const erase = useMutation({
    mutationFn: () => answer(client.eraseUser({ user_id: id }, { ifMatch: etag })),
    onError: () => queries.invalidateQueries({ queryKey: ['users', 'one', id] }),
  })
  const close = async () => {
    if (erase.isPending) return
    if (!erase.isSuccess) return onClose()
    if (own) return session.end()
    await navigate({ to: '/users', ignoreBlocker: true })
    queries.removeQueries({ queryKey: ['users', 'one', id] })
    await queries.invalidateQueries({ queryKey: ['users'] })
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="lg"
      title={erase.isSuccess ? 'The personal data are erased' : `Erase the personal data of ${name}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {erase.isSuccess ? (
        <Erased erasure={erase.data} onDone={close} />
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault()
            if (typed === name) erase.mutate()
          }}
        >
          <Stack>
            <Consequences />
            <TextInput
              label={`Type ${name} to confirm`}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={typed}
              onChange={event => setTyped(event.currentTarget.value)}
              data-autofocus
            />
            {erase.isError && <ProblemPanel what="The data are not erased" error={erase.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close} disabled={erase.isPending}>
                Cancel
              </Button>
              <Button type="submit" color="red.9" loading={erase.isPending} disabled={typed !== name}>
                Erase for ever
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

function Consequences() {
  return (
    <List size="sm" spacing={4}>
      <List.Item>The user is deleted: their logins end, and their access tokens are revoked.</List.Item>
      <List.Item>
        The key that their personal data are encrypted with is destroyed. User name, display name and email
        can no longer be read, in the event log and the audit log as well.
      </List.Item>
      <List.Item>Audit records stay with the id of the user, and their proofs stay valid.</List.Item>
      <List.Item>It cannot be undone.</List.Item>
    </List>
  )
}

function Erased({ erasure, onDone }: { erasure: Schemas['Erasure']; onDone: () => void }) {
  return (
    <Stack>
      <Text size="sm" role="status">
        The key of the user {erasure.id} was destroyed <Time at={erasure.erasedAt} />. Backups of the keys of
        users may still have it. The last of them is to be deleted by{' '}
        {new Date(erasure.backupsErasedAt).toLocaleDateString('sv')}.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
