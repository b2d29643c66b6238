import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, tagged } from '../http/client.ts'
import { randomId } from '../http/random-id.ts'
import type { Schemas } from '../http/schemas.ts'
import { fieldErrors, requireFields } from './field-errors.ts'
import { InputDialog } from './input-dialog.tsx'
import { FormProblem, ProblemPanel } from './problem-panel.tsx'
import { Loading } from './states.tsx'

const FIELDS = {
  labels: { name: 'Name', position: 'Position' },
  codes: { 'environment-name-taken': 'name' },
}

interface NewEnvironmentDialogProps {
  onClose: () => void
  onCreated?: (id: string) => void
}

/** Creates an environment with a name, for APIs to be deployed to. */
export function NewEnvironmentDialog({ onClose, onCreated }: NewEnvironmentDialogProps) {
  const [id] = useState(randomId)
  const [unsaved, setUnsaved] = useState(false)
  return (
    <InputDialog title="Create environment" unsaved={unsaved} onClose={onClose}>
      {close => (
        <EnvironmentForm
          body={{ id, name: null, displayName: null, position: null }}
          onUnsaved={setUnsaved}
          onCancel={close}
          onSaved={() => {
            onCreated?.(id)
            onClose()
          }}
        />
      )}
    </InputDialog>
  )
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
      return tagged(client.getEnvironment({ environment_id: id }, { signal }))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <InputDialog
      title={read.data?.body.name ? 'Edit the environment' : 'Name the environment'}
      unsaved={unsaved}
      onClose={onClose}
    >
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
  body: Pick<Schemas['Environment'], 'id' | 'name' | 'displayName' | 'position'>
  /** Absent for a new environment. */
  etag?: string
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
      const displayName = body.displayName === body.name ? null : body.displayName
      const input = { name, displayName, position: position === '' ? null : Number(position) }
      return tagged(client.updateEnvironment({ environment_id: body.id, body: input }, { ifMatch: etag }))
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
          description="Lists and choices show lower positions first. Left empty: after those with a position, in the order of creation"
          value={draft.position}
          error={errors.position}
          onChange={position => change({ position })}
        />
        <FormProblem
          what={`The environment is not ${etag ? 'saved' : 'created'}`}
          error={saving.error}
          fields={FIELDS}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {etag ? 'Save' : 'Create'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
