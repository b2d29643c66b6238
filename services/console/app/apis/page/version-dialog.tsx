import { Button, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useEdited } from '../../parts/edited.tsx'
import { fieldErrors, requireFields } from '../../parts/field-errors.ts'
import { useIdempotencyKey } from '../../parts/idempotency.ts'
import { InputDialog } from '../../parts/input-dialog.tsx'
import { FormProblem, ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import type { Stored } from '../../parts/three-way.ts'
import { readAgain } from './reads.ts'

type Version = Schemas['Version']

interface VersionDraft {
  name: string
  displayName: string
  description: string
  status: Version['status']
}

const LABELS: Readonly<Record<keyof VersionDraft, string>> = {
  name: 'Name',
  displayName: 'Display name',
  description: 'Description',
  status: 'Status',
}
const FIELDS = { labels: LABELS, codes: { 'version-name-taken': 'name' } }
const STATUSES = [
  { value: 'DEVELOPMENT', label: 'In development' },
  { value: 'ACTIVE', label: 'Active' },
  { value: 'DEPRECATED', label: 'Deprecated' },
  { value: 'RETIRED', label: 'Retired' },
  { value: 'INACTIVE', label: 'Inactive' },
]
const NEW: Stored<VersionDraft> = {
  draft: { name: '', displayName: '', description: '', status: 'ACTIVE' },
  etag: '',
}

const inputOf = ({ name, displayName, description, status }: VersionDraft): Schemas['VersionInput'] => ({
  name,
  displayName: displayName || null,
  description: description || null,
  status,
})

interface VersionPath {
  api_id: string
  version_id: string
}

async function open(path: VersionPath): Promise<Stored<VersionDraft>> {
  return storedOf(await tagged(client.getVersion(path)))
}

async function put(path: VersionPath, draft: VersionDraft, etag: string): Promise<Stored<VersionDraft>> {
  const body = inputOf(draft)
  return storedOf(await tagged(client.updateVersion({ ...path, body }, { ifMatch: etag })))
}

const storedOf = ({ body, etag }: { body: Version; etag: string }): Stored<VersionDraft> => {
  const { name, displayName, description, status } = body
  return { draft: { name, displayName, description: description ?? '', status }, etag }
}

interface VersionDialogProps {
  api: string
  /** Absent to create one. */
  version?: Version
  onClose: () => void
}

/** Creates or changes a version of an API. */
export function VersionDialog({ api, version, onClose }: VersionDialogProps) {
  const [dirty, setDirty] = useState(false)
  const opened = useQuery({
    queryKey: ['api', api, 'edited version', version?.id ?? 'new'],
    queryFn: () => (version ? open({ api_id: api, version_id: version.id }) : NEW),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <InputDialog
      title={version ? `Edit version ${version.name}` : 'Add a version'}
      unsaved={dirty}
      onClose={onClose}
    >
      {close => (
        <>
          {opened.isPending && <Loading what="the version" />}
          {opened.isError && (
            <ProblemPanel
              what="The version cannot be read"
              error={opened.error}
              onRetry={() => opened.refetch()}
            />
          )}
          {opened.data && (
            <VersionForm
              api={api}
              version={version?.id}
              opened={opened.data}
              onDirty={setDirty}
              onCancel={close}
              onSaved={onClose}
            />
          )}
        </>
      )}
    </InputDialog>
  )
}

interface VersionFormProps {
  api: string
  version: string | undefined
  opened: Stored<VersionDraft>
  onDirty: (dirty: boolean) => void
  onCancel: () => void
  onSaved: () => void
}

function VersionForm({ api, version, opened, onDirty, onCancel, onSaved }: VersionFormProps) {
  const queries = useQueryClient()
  const create = useCreation(api)
  const path = version !== undefined && { api_id: api, version_id: version }
  const { base, draft, setDraft, save, saving, comparison } = useEdited({
    opened,
    async put(mine, etag) {
      requireFields(mine, 'name')
      return path ? put(path, mine, etag) : create(mine)
    },
    read: async () => (path ? open(path) : NEW),
    async onSaved() {
      await readAgain(queries, api)
      onSaved()
    },
    what: 'version',
    labels: LABELS,
    textOf: value => value,
  })
  const change = (next: VersionDraft) => {
    setDraft(next)
    onDirty(JSON.stringify(next) !== JSON.stringify(base.draft))
  }
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <Stack>
        <VersionFields draft={draft} onChange={change} error={saving.error} />
        <FormProblem what="The version is not saved" error={saving.error} fields={FIELDS} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {version ? 'Save' : 'Add version'}
          </Button>
        </Group>
      </Stack>
      {comparison}
    </form>
  )
}

/** Creates a version. Repeating it after a lost response does not create another one. */
function useCreation(api: string) {
  const keys = useIdempotencyKey()
  return async (draft: VersionDraft): Promise<Stored<VersionDraft>> => {
    const body = inputOf(draft)
    const created = await tagged(
      client.createVersion({ api_id: api, body }, { idempotencyKey: keys.for(body) }),
    )
    keys.done()
    return storedOf(created)
  }
}

interface VersionFieldsProps {
  draft: VersionDraft
  onChange: (draft: VersionDraft) => void
  error: unknown
}

function VersionFields({ draft, onChange, error }: VersionFieldsProps) {
  const errors = fieldErrors(error, FIELDS)
  const field = (key: keyof VersionDraft) => ({
    label: LABELS[key],
    value: draft[key],
    error: errors[key],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...draft, [key]: event.currentTarget.value }),
  })
  return (
    <>
      <TextInput {...field('name')} required data-autofocus autoComplete="off" placeholder="1.2.0" />
      <TextInput {...field('displayName')} autoComplete="off" description="The name, if it is left empty" />
      <Textarea {...field('description')} autosize minRows={2} maxRows={8} />
      <NativeSelect {...field('status')} data={STATUSES} />
    </>
  )
}
