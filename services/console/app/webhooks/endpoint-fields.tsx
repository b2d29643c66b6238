import { Radio, Stack, Switch, TextInput } from '@mantine/core'
import { fieldErrors } from '../parts/field-errors.ts'
import { type Draft, FIELDS, FORMATS } from './draft.ts'

interface EndpointFieldsProps {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
  /** The failure of the latest submission, whose field errors are shown at the fields. */
  error: unknown
}

/** The fields of a webhook except its event types. */
export function EndpointFields({ draft, onChange, error }: EndpointFieldsProps) {
  const errors = fieldErrors(error, FIELDS)
  return (
    <Stack>
      <TextInput
        label="Display name"
        description="What people call it, e.g. the receiving system"
        required
        maxLength={255}
        value={draft.displayName}
        error={errors.displayName}
        onChange={event => onChange({ displayName: event.currentTarget.value })}
      />
      <TextInput
        type="url"
        label="URL"
        description="Receives a POST request for each event: http or https, without credentials. An operator has to allow private addresses, by the setting WEBHOOK_ALLOWED_CIDRS"
        placeholder="https://example.com/hook"
        required
        value={draft.url}
        error={errors.url}
        onChange={event => onChange({ url: event.currentTarget.value })}
      />
      <TextInput
        label="Name"
        description="For scripts. Left empty, it is made from the display name"
        maxLength={255}
        value={draft.name}
        error={errors.name}
        onChange={event => onChange({ name: event.currentTarget.value })}
      />
      <Radio.Group
        label="Format of the body"
        value={draft.format}
        error={errors.format}
        onChange={value => onChange({ format: value as Draft['format'] })}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(FORMATS).map(([value, { label, description }]) => (
            <Radio key={value} value={value} label={label} description={description} />
          ))}
        </Stack>
      </Radio.Group>
      <Switch
        label="Deliver in order"
        description="The events of a resource are delivered one after another: each waits until the one before has succeeded or was given up. One failing delivery delays those behind it"
        checked={draft.ordered}
        error={errors.ordered}
        onChange={event => onChange({ ordered: event.currentTarget.checked })}
      />
      <Switch
        label="Active"
        description="An inactive webhook gets no events, except tests. Missed events can be recovered later"
        checked={draft.active}
        error={errors.active}
        onChange={event => onChange({ active: event.currentTarget.checked })}
      />
    </Stack>
  )
}
