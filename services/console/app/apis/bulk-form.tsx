import { Button, Checkbox, Group, Radio, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useEffectEvent, useState } from 'react'
import type { BulkAction, Change } from './bulk-change.ts'
import { FACETS, useFacet } from './facets.ts'
import { OwnerField } from './form/owner-field.tsx'
import type { Api } from './search.ts'
import type { Picked } from './selection.ts'

interface BulkFormProps {
  action: BulkAction
  apis: readonly Picked[]
  /** @param unsaved whether a change is chosen */
  onUnsaved: (unsaved: boolean) => void
  onCancel: () => void
  onSubmit: (change: Change) => void
}

const countText = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'API' : 'APIs'}`

/** Asks what to change. A deletion is confirmed with the number of APIs. */
export function BulkForm({ action, apis, onUnsaved, onCancel, onSubmit }: BulkFormProps) {
  const [change, setChosen] = useState<Change>()
  const setChange = (chosen: Change | undefined) => {
    setChosen(chosen)
    onUnsaved(chosen !== undefined && action !== 'delete')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (change) onSubmit(change)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Affected apis={apis} />
        {action === 'tags' && <TagsFields onChange={setChange} />}
        {action === 'owner' && <OwnerFields onChange={setChange} />}
        {action === 'status' && <StatusFields onChange={setChange} />}
        {action === 'delete' && <DeleteFields count={apis.length} onChange={setChange} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" disabled={!change} {...(action === 'delete' && { color: 'red' })}>
            {action === 'delete' ? 'Delete' : 'Change'} {countText(apis.length)}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const NAMED = 5

function Affected({ apis }: { apis: readonly Picked[] }) {
  const more = apis.length - NAMED
  const names = apis.slice(0, NAMED).map(({ displayName }) => displayName)
  return (
    <Text size="sm">
      {countText(apis.length)}: {names.join(', ')}
      {more > 0 && ` and ${more.toLocaleString('en')} more`}
    </Text>
  )
}

interface FieldsProps {
  /** Undefined while something is missing. */
  onChange: (change: Change | undefined) => void
}

const [TAGS = { key: 'tags', label: 'Tags' }] = FACETS

function TagsFields({ onChange }: FieldsProps) {
  const [{ add, remove }, setDraft] = useState({ add: NO_TAGS, remove: NO_TAGS })
  const known = useFacet({}, TAGS).data?.map(({ value }) => value) ?? []
  const report = useEffectEvent(onChange)
  useEffect(() => {
    const [adds, removes] = [allOf(add), allOf(remove)]
    const some = adds.length + removes.length > 0
    report(some ? { type: 'tags', add: adds, remove: removes } : undefined)
  }, [add, remove])
  return (
    <>
      <TagsField
        label="Add tags"
        known={known}
        value={add}
        onChange={change =>
          setDraft(({ add, remove }) => ({
            add: { ...add, ...change },
            remove: without(remove, change.tags),
          }))
        }
        data-autofocus
      />
      <TagsField
        label="Remove tags"
        known={known}
        value={remove}
        onChange={change =>
          setDraft(({ add, remove }) => ({
            add: without(add, change.tags),
            remove: { ...remove, ...change },
          }))
        }
      />
    </>
  )
}

/** Tags, and the text after them that Enter makes a tag. */
interface TypedTags {
  tags: string[]
  typed: string
}

const NO_TAGS: TypedTags = { tags: [], typed: '' }

const allOf = ({ tags, typed }: TypedTags) =>
  typed.trim() === '' ? tags : [...new Set([...tags, typed.trim()])]

const without = (value: TypedTags, others: readonly string[] = []): TypedTags =>
  value.tags.some(tag => others.includes(tag))
    ? { ...value, tags: value.tags.filter(tag => !others.includes(tag)) }
    : value

interface TagsFieldProps {
  label: string
  known: string[]
  value: TypedTags
  onChange: (change: Partial<TypedTags>) => void
  'data-autofocus'?: boolean
}

function TagsField({ label, known, value: { tags, typed }, onChange, ...input }: TagsFieldProps) {
  const [opened, setOpened] = useState(false)
  return (
    <TagsInput
      {...input}
      label={label}
      description="Enter adds a further tag"
      data={known}
      value={tags}
      onChange={tags => {
        setOpened(false)
        onChange({ tags })
      }}
      searchValue={typed}
      onSearchChange={typed => onChange({ typed })}
      dropdownOpened={opened}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      acceptValueOnBlur
      // Below them are the buttons of the dialog.
      comboboxProps={{ position: 'top' }}
      clearable
      clearButtonProps={{ 'aria-label': label.replace(' ', ' no ') }}
    />
  )
}

function OwnerFields({ onChange }: FieldsProps) {
  const [owner, setOwner] = useState('')
  return (
    <OwnerField
      label="New owner"
      value={owner}
      error={undefined}
      onChange={id => {
        setOwner(id)
        onChange(id.trim() === '' ? undefined : { type: 'owner', owner: id.trim() })
      }}
    />
  )
}

function StatusFields({ onChange }: FieldsProps) {
  return (
    <Radio.Group
      label="New status"
      onChange={status => onChange({ type: 'status', status: status as Api['status'] })}
    >
      <Group mt="xs">
        <Radio value="ACTIVE" label="Active" data-autofocus />
        <Radio value="INACTIVE" label="Inactive" />
      </Group>
    </Radio.Group>
  )
}

function DeleteFields({ count, onChange }: FieldsProps & { count: number }) {
  const [typed, setTyped] = useState('')
  const [undeploy, setUndeploy] = useState(false)
  const change = (text: string, undeployed: boolean) => {
    setTyped(text)
    setUndeploy(undeployed)
    onChange(text.trim() === String(count) ? { type: 'delete', undeploy: undeployed } : undefined)
  }
  return (
    <>
      <Text size="sm">
        Each API is deleted with its versions and its image. One that has changed since it was listed is kept.
      </Text>
      <Checkbox
        label="Undeploy them from all environments first"
        checked={undeploy}
        onChange={event => change(typed, event.currentTarget.checked)}
      />
      <TextInput
        label={`Type ${count} to confirm`}
        inputMode="numeric"
        autoComplete="off"
        value={typed}
        onChange={event => change(event.currentTarget.value, undeploy)}
        data-autofocus
      />
    </>
  )
}
