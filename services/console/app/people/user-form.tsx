import { Button, Group, Paper, Stack, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { client, tagged } from '../http/client.ts'
import { asProblem } from '../http/problem.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { fieldErrors } from '../parts/field-errors.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import { useErrorFocus } from './use-error-focus.ts'
import { bodyOf, draftOf, FIELDS_OF_CODES, rebased, type UserDraft } from './user-draft.ts'
import { UserFields } from './user-fields.tsx'

interface Tagged {
  user: Schemas['User']
  etag: string
}

/**
 * Changes a user. The form keeps the record that it was opened with: a change by somebody else meanwhile is answered with
 * 412 and shown beside what was typed.
 */
export function UserForm({ user, etag }: Tagged) {
  const [base, setBase] = useState<Tagged>({ user, etag })
  const [draft, setDraft] = useState(() => draftOf(user))
  const form = useRef<HTMLFormElement>(null)
  const unchanged = JSON.stringify(draft) === JSON.stringify(draftOf(base.user))
  // Nothing was typed: the form follows the record.
  if (unchanged && etag !== base.etag) {
    setBase({ user, etag })
    setDraft(draftOf(user))
  }
  const save = useMutation({
    mutationFn: (draft: UserDraft) => {
      const params = { path: { user_id: user.id }, header: { 'If-Match': base.etag } }
      return tagged(client.PUT('/users/{user_id}', { params, body: bodyOf(draft) }))
    },
    onSuccess: saved => {
      setBase({ user: saved.body, etag: saved.etag })
      setDraft(draftOf(saved.body))
      queries.setQueryData(['users', 'one', user.id], saved)
      notifications.show({ color: 'teal.9', message: `${saved.body.username} is saved.` })
      return queries.invalidateQueries({ queryKey: ['users'] })
    },
  })
  useErrorFocus(form, save.error)
  const conflict = save.isError && asProblem(save.error).status === 412
  const resolve = (current: Tagged, mine: boolean) => {
    setDraft(mine ? rebased(draft, draftOf(base.user), draftOf(current.user)) : draftOf(current.user))
    setBase(current)
    save.reset()
  }
  return (
    <Paper withBorder p="md">
      <form
        ref={form}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          save.mutate(draft)
        }}
      >
        <Stack>
          <Title order={2} size="h4">
            Details
          </Title>
          <UserFields
            draft={draft}
            errors={fieldErrors(save.error, FIELDS_OF_CODES)}
            onChange={setDraft}
            existing
          />
          {save.isError && !conflict && <ProblemPanel what="The user is not saved" error={save.error} />}
          {conflict && <ConflictPanel base={base.user} draft={draft} onResolve={resolve} />}
          <Group>
            <Button type="submit" loading={save.isPending} disabled={unchanged}>
              Save
            </Button>
            {!unchanged && (
              <Button variant="default" onClick={() => setDraft(draftOf(base.user))}>
                Discard
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}
