import { Button, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../http/schemas.ts'
import { fieldErrors, requireFields } from '../parts/field-errors.ts'
import { InputDialog } from '../parts/input-dialog.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem } from '../parts/problem-panel.tsx'
import { draftOf, FIELDS } from './user-draft.ts'
import { putUser } from './user-form.tsx'

interface UserPasswordProps {
  user: Schemas['User']
  etag: string
}

/** Gives a user another password. */
export function UserPassword({ user, etag }: UserPasswordProps) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Title order={2} size="h4">
          Password
        </Title>
        <Group justify="space-between" gap="md">
          <Text size="sm" flex="1 1 18rem">
            A new password ends the logins of the user. Access tokens stay valid.
          </Text>
          <Button variant="default" onClick={open}>
            Set a new password
          </Button>
        </Group>
      </Stack>
      {opened && <PasswordDialog user={user} etag={etag} onClose={close} />}
    </Paper>
  )
}

function PasswordDialog({ user, etag, onClose }: UserPasswordProps & { onClose: () => void }) {
  const [password, setPassword] = useState('')
  const setting = useMutation({
    async mutationFn() {
      requireFields({ password }, 'password')
      return putUser(user.id, { ...draftOf(user), password }, etag)
    },
    gcTime: 0,
    onSuccess() {
      notifyDone(`${user.username} has a new password`)
      onClose()
    },
  })
  return (
    <InputDialog
      title={`New password of ${user.username}`}
      unsaved={password !== '' && !setting.isPending}
      onClose={onClose}
    >
      {cancel => (
        <form
          noValidate
          onSubmit={event => {
            event.preventDefault()
            setting.mutate()
          }}
        >
          <Stack>
            <PasswordInput
              label="Password"
              description="At least 12 characters"
              autoComplete="new-password"
              required
              data-autofocus
              value={password}
              error={fieldErrors(setting.error, FIELDS).password}
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password', tabIndex: 0 }}
              onChange={event => setPassword(event.currentTarget.value)}
            />
            <FormProblem what="The password is not set" error={setting.error} fields={FIELDS} />
            <Group justify="flex-end">
              <Button variant="default" onClick={cancel}>
                Cancel
              </Button>
              <Button type="submit" loading={setting.isPending}>
                Set the password
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </InputDialog>
  )
}
