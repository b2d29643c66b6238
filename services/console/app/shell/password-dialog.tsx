import '../more-styles.ts'
import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { client } from '../http/client.ts'
import { sessionOf } from '../http/credentials.ts'
import { session } from '../http/session.ts'
import { fieldErrors, requireFields } from '../parts/field-errors.ts'
import { InputDialog } from '../parts/input-dialog.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem } from '../parts/problem-panel.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'

const FIELDS = { labels: { password: 'Current password', newPassword: 'New password' } }
const EMPTY = { password: '', newPassword: '' }

/** Changes the password, and continues the session with the new token of the answer. @throws ProblemError or RequestFailed */
async function changePassword(body: typeof EMPTY): Promise<void> {
  requireFields(body, 'password', 'newPassword')
  const { headers } = await client.changePassword({ body })
  const token = headers.get('authorization')?.replace(/^Bearer /, '')
  if (token) session.begin(await sessionOf(token))
}

/** Changes the person's own password. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY)
  const form = useRef<HTMLFormElement>(null)
  const change = useMutation({
    mutationFn: () => changePassword(draft),
    gcTime: 0,
    onSuccess() {
      notifyDone('The password is changed')
      onClose()
    },
  })
  useErrorFocus(form, change.error)
  const errors = fieldErrors(change.error, FIELDS)
  const field = (name: keyof typeof EMPTY) => ({
    label: FIELDS.labels[name],
    error: errors[name],
    value: draft[name],
    required: true,
    visibilityToggleButtonProps: { 'aria-label': 'Show or hide the password', tabIndex: 0 },
    onChange: (event: { currentTarget: { value: string } }) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  })
  return (
    <InputDialog
      title="Change password"
      unsaved={Object.values(draft).some(value => value !== '') && !change.isPending}
      onClose={onClose}
    >
      {close => (
        <form
          ref={form}
          noValidate
          onSubmit={event => {
            event.preventDefault()
            change.mutate()
          }}
        >
          <Stack>
            <Text size="sm">Your other logins end. Access tokens stay valid.</Text>
            <PasswordInput {...field('password')} autoComplete="current-password" data-autofocus />
            <PasswordInput
              {...field('newPassword')}
              description="At least 12 characters"
              autoComplete="new-password"
            />
            <FormProblem what="The password is not changed" error={change.error} fields={FIELDS} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" loading={change.isPending}>
                Change password
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </InputDialog>
  )
}
