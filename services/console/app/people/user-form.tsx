import { Button, Group, Paper, Stack, Title } from '@mantine/core'
import { useRef } from 'react'
import { client, tagged } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { useEdited } from '../parts/edited.tsx'
import { fieldErrors, requireFields } from '../parts/field-errors.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem } from '../parts/problem-panel.tsx'
import type { Stored } from '../parts/three-way.ts'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { bodyOf, draftOf, FIELDS, LABELS, textOf, type UserDraft } from './user-draft.ts'
import { UserFields } from './user-fields.tsx'

type StoredUser = Stored<UserDraft>

const same = (one: UserDraft, other: UserDraft) => JSON.stringify(one) === JSON.stringify(other)

async function read(id: string): Promise<StoredUser> {
  const { body, etag } = await tagged(client.getUser({ user_id: id }))
  return { draft: draftOf(body), etag }
}

/** @returns the user as it is stored then, which the page shows too */
export async function putUser(id: string, draft: UserDraft, etag: string): Promise<StoredUser> {
  const saved = await tagged(client.updateUser({ user_id: id, body: bodyOf(draft) }, { ifMatch: etag }))
  queries.setQueryData(['users', 'one', id], saved)
  return { draft: draftOf(saved.body), etag: saved.etag }
}

interface UserFormProps {
  user: Schemas['User']
  etag: string
  onClose: () => void
}

/**
 * Changes a user. The form keeps the record that it was opened with. When another person has changed the user meanwhile, both
 * changes are compared.
 */
export function UserForm({ user, etag, onClose }: UserFormProps) {
  const opened = { draft: draftOf(user), etag }
  const { base, draft, setDraft, follow, save, saving, comparison } = useEdited({
    opened,
    async put(mine, ifMatch) {
      requireFields(mine, 'username')
      return putUser(user.id, mine, ifMatch)
    },
    read: () => read(user.id),
    onSaved({ username }) {
      notifyDone(`${username} is saved`)
      onClose()
      return queries.invalidateQueries({ queryKey: ['users'] })
    },
    what: 'user',
    labels: LABELS,
    textOf,
  })
  const unchanged = same(draft, base.draft)
  // The page has the saved record a moment later than the form.
  if (unchanged && etag !== base.etag && !saving.isPending) follow(opened)
  return (
    <Paper withBorder p="md">
      <EditedFields
        draft={draft}
        unchanged={unchanged}
        error={saving.error}
        pending={saving.isPending}
        onChange={setDraft}
        onSave={save}
        onDiscard={onClose}
      />
      {comparison}
      <UnsavedGuard unsaved={!unchanged} />
    </Paper>
  )
}

interface EditedFieldsProps {
  draft: UserDraft
  unchanged: boolean
  error: unknown
  pending: boolean
  onChange: (draft: UserDraft) => void
  onSave: () => void
  onDiscard: () => void
}

function EditedFields(props: EditedFieldsProps) {
  const form = useRef<HTMLFormElement>(null)
  useErrorFocus(form, props.error)
  return (
    <form
      ref={form}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        props.onSave()
      }}
    >
      <Stack>
        <Title order={2} size="h4">
          Details
        </Title>
        <UserFields draft={props.draft} errors={fieldErrors(props.error, FIELDS)} onChange={props.onChange} />
        <FormProblem what="The user is not saved" error={props.error} fields={FIELDS} />
        <Group>
          <Button type="submit" loading={props.pending} disabled={props.unchanged}>
            Save
          </Button>
          <Button variant="default" onClick={props.onDiscard}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
