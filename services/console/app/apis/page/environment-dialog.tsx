import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { fieldErrors, requireFields } from '../../parts/field-errors.ts'
import { InputDialog } from '../../parts/input-dialog.tsx'
import { FormProblem, ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'

const FIELDS = {
  labels: { name: 'Name', position: 'Position' },
  codes: { 'environment-name-taken': 'name' },
}

interface EnvironmentDialogProps {
  id: string
  onClose: () => void
}

/** Names an environment and gives it a place in the order. */
export function EnvironmentDialog({ id, onClose }: EnvironmentDialogProps) {
  const [unsaved, setUnsaved] = useState(false)
  const read = useQuery({
    queryKey: ['environments', id],
    queryFn: ({ signal }) => {
      const params = { path: { environment_id: id } }
      return tagged(client.GET('/environments/{environment_id}', { params, signal }))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <InputDialog title="Name the environment" unsaved={unsaved} onClose={onClose}>
      {close => (
        <>
          {read.isPending && <Loading what="the environment" />}
          {read.isError && <ProblemPanel what="The environment cannot be read" error={read.error} />}
          {read.data && (
            <EnvironmentForm {...read.data} onUnsaved={setUnsaved} onCancel={close} onSaved={onClose} />
          )}
        </>
      )}
    </InputDialog>
  )
}

interface EnvironmentFormProps {
  body: Schemas['Environment']
  etag: string
  onUnsaved: (unsaved: boolean) => void
  onCancel: () => void
  onSaved: () => void
}

function EnvironmentForm({ body, etag, onUnsaved, onCancel, onSaved }: EnvironmentFormProps) {
  const queries = useQueryClient()
  const [opened] = useState({ name: body.name ?? '', position: body.position ?? '' })
  const [draft, setDraft] = useState(opened)
  const change = (changes: Partial<typeof draft>) => {
    const next = { ...draft, ...changes }
    setDraft(next)
    onUnsaved(next.name !== opened.name || next.position !== opened.position)
  }
  const saving = useMutation({
    async mutationFn() {
      requireFields(draft, 'name')
      const { name, position } = draft
      const params = { path: { environment_id: body.id }, header: { 'If-Match': etag } }
      const displayName = body.displayName === body.name ? null : body.displayName
      const input = { name, displayName, position: position === '' ? null : Number(position) }
      return tagged(client.PUT('/environments/{environment_id}', { params, body: input }))
    },
    async onSuccess() {
      await Promise.all(
        ['environments', 'api', 'apis', 'reference', 'references'].map(kind =>
          queries.invalidateQueries({ queryKey: [kind] }),
        ),
      )
      onSaved()
    },
  })
  const errors = fieldErrors(saving.error, FIELDS)
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        saving.mutate()
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          placeholder="production"
          value={draft.name}
          error={errors.name}
          onChange={event => change({ name: event.currentTarget.value })}
        />
        <NumberInput
          label="Position"
          allowDecimal={false}
          allowNegative={false}
          description="Place in lists of environments; the last, if it is left empty"
          value={draft.position}
          error={errors.position}
          onChange={position => change({ position })}
        />
        <FormProblem what="The environment is not named" error={saving.error} fields={FIELDS} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
