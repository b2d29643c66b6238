import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '../http/schemas.ts'
import { DeleteUserDialog } from './delete-user-dialog.tsx'

interface UserEndProps {
  user: Schemas['User']
  etag: string
  onErase: () => void
}

/** Deletion and erasure of a user. */
export function UserEnd({ user, etag, onErase }: UserEndProps) {
  const [deleting, deletion] = useDisclosure()
  return (
    <Paper withBorder p="md">
      <Stack gap="lg">
        <Title order={2} size="h4">
          Delete or erase
        </Title>
        <Group justify="space-between" gap="md">
          <Text size="sm" flex="1 1 18rem">
            Deleting ends the logins of the user and revokes their access tokens. The audit log keeps their
            name.
          </Text>
          <Button variant="default" onClick={deletion.open}>
            Delete the user
          </Button>
        </Group>
        <Group justify="space-between" gap="md">
          <Text size="sm" flex="1 1 18rem">
            Erasing also destroys the key that encrypts their personal data in the log. It cannot be undone.
          </Text>
          <Button color="red.9" onClick={onErase}>
            Erase personal data
          </Button>
        </Group>
      </Stack>
      {deleting && <DeleteUserDialog user={user} etag={etag} onClose={deletion.close} />}
    </Paper>
  )
}
