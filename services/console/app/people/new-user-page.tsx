import { ButtonLink } from '../parts/links.tsx'
import { notifyDone } from '../parts/notify.ts'
import '../more-styles.ts'
import { Button, Group, Stack, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import { fieldErrors, requireFields } from '../parts/field-errors.ts'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { FormProblem } from '../parts/problem-panel.tsx'
import { Trail } from '../parts/trail.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { bodyOf, FIELDS, NEW_USER, type UserDraft } from './user-draft.ts'
import { UserFields } from './user-fields.tsx'

/** Creates a user. */
export function NewUserPage() {
  const [draft, setDraft] = useState(NEW_USER)
  const navigate = useNavigate()
  const keys = useIdempotencyKey()
  const form = useRef<HTMLFormElement>(null)
  const create = useMutation({
    mutationFn: async (draft: UserDraft) => {
      requireFields(draft, 'username', ...(draft.sso ? [] : ['password' as const]))
      const body = bodyOf(draft)
      return answer(client.createUser({ body }, { idempotencyKey: keys.for(body) }))
    },
    onSuccess: async user => {
      await queries.invalidateQueries({ queryKey: ['users'] })
      notifyDone(`${user.username} is created`)
      await navigate({ to: '/users/$userId', params: { userId: user.id }, ignoreBlocker: true })
    },
  })
  useErrorFocus(form, create.error)
  return (
    <Stack maw={640}>
      <Trail to="/users" label="Users" page="Create user" />
      <Title order={1} size="h2">
        Create user
      </Title>
      <form
        ref={form}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          create.mutate(draft)
        }}
      >
        <Stack>
          <UserFields draft={draft} errors={fieldErrors(create.error, FIELDS)} onChange={setDraft} created />
          <FormProblem what="The user is not created" error={create.error} fields={FIELDS} />
          <Group>
            <Button type="submit" loading={create.isPending}>
              Create
            </Button>
            <ButtonLink variant="default" to="/users">
              Cancel
            </ButtonLink>
          </Group>
        </Stack>
      </form>
      <UnsavedGuard unsaved={draft !== NEW_USER} />
    </Stack>
  )
}
