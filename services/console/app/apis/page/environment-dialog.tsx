import { Button, Group, Modal, NumberInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { fieldErrors, requireFields } from '../../parts/field-errors.ts'
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
    <Modal opened onClose={onClose} title="Name the environment" closeButtonProps={{ 'aria-label': 'Close' }}>
      {read.isPending && <Loading what="the environment" />}
      {read.isError && <ProblemPanel what="The environment cannot be read" error={read.error} />}
      {read.data && <EnvironmentForm {...read.data} onClose={onClose} />}
    </Modal>
  )
}

interface EnvironmentFormProps {
  body: Schemas['Environment']
  etag: string
  onClose: () => void
}

function EnvironmentForm({ body, etag, onClose }: EnvironmentFormProps) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState({ name: body.name ?? '', position: body.position ?? '' })
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
      onClose()
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
          onChange={event => setDraft({ ...draft, name: event.currentTarget.value })}
        />
        <NumberInput
          label="Position"
          description="Place in lists of environments; the last, if it is left empty"
          value={draft.position}
          error={errors.position}
          onChange={position => setDraft({ ...draft, position })}
        />
        <FormProblem what="The environment is not named" error={saving.error} fields={FIELDS} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
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
