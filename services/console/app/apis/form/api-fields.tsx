import {
  Autocomplete,
  Fieldset,
  Radio,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import { CredentialField } from './credential-field.tsx'
import type { ApiDraft } from './draft.ts'
import { LABELS, renamed } from './draft.ts'
import { OwnerField } from './owner-field.tsx'

const MAX_DESCRIPTION = 1_000

interface ApiFieldsProps {
  draft: ApiDraft
  onChange: (draft: ApiDraft) => void
  /** Whether the API is being created. */
  isNew: boolean
  errors: Readonly<Record<string, string>>
  /** Name of the present owner, for those who may not list users. */
  ownerName?: string | null | undefined
}

/** Tags and platform types that other APIs have. The form works without them. */
const useKnownValues = () =>
  useQuery({
    queryKey: ['apis', 'facets', 'all'],
    queryFn: ({ signal }) => answer(client.getApiFacets({}, { signal })),
    staleTime: 60_000,
  }).data

/** The inputs for the fields of an API. */
export function ApiFields({ draft, onChange, isNew, errors, ownerName }: ApiFieldsProps) {
  const known = useKnownValues()
  const field = <Key extends keyof ApiDraft>(key: Key) => ({
    label: LABELS[key],
    value: draft[key],
    error: errors[key],
    onChange: (value: ApiDraft[Key]) => onChange({ ...draft, [key]: value }),
  })
  const line = (key: 'name' | 'displayName' | 'url' | 'gitUrl' | 'description') => {
    const { onChange: change, ...rest } = field(key)
    return {
      ...rest,
      onChange: (event: { currentTarget: { value: string } }) => change(event.currentTarget.value),
    }
  }
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          {...line('displayName')}
          required
          autoComplete="off"
          description="The name for people"
          {...(isNew && {
            onChange: event => onChange(renamed(draft, event.currentTarget.value)),
          })}
        />
        <TextInput
          {...line('name')}
          required
          autoComplete="off"
          description={isNew ? 'Unique, for scripts. Proposed from the display name' : 'Unique, for scripts'}
        />
      </SimpleGrid>
      <Textarea
        {...line('description')}
        autosize
        minRows={3}
        maxRows={12}
        description={<Length text={draft.description} />}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
      />
      <Radio.Group
        {...field('status')}
        onChange={value => field('status').onChange(value as ApiDraft['status'])}
      >
        <Stack gap="xs" mt={4}>
          <Radio value="ACTIVE" label="Active" />
          <Radio value="INACTIVE" label="Inactive" />
        </Stack>
      </Radio.Group>
      <TagsInput
        {...field('tags')}
        data={known?.tags.map(({ value }) => value) ?? []}
        limit={50}
        maxTags={50}
        splitChars={[',']}
        description="Enter adds a tag"
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <OwnerField {...field('owner')} name={ownerName} />
        <Autocomplete
          {...field('platformType')}
          data={known?.platformType.map(({ value }) => value) ?? []}
          description="Type of the gateway. Those of other APIs are suggested"
        />
      </SimpleGrid>
      <TextInput {...line('url')} placeholder="/payments" />
      <Fieldset legend="Source">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput {...line('gitUrl')} placeholder="https://git.example.com/payments.git" />
          <CredentialField {...field('gitCredential')} />
        </SimpleGrid>
      </Fieldset>
    </Stack>
  )
}

function Length({ text }: { text: string }) {
  const length = [...text].length
  return (
    <Text span inherit {...(length > MAX_DESCRIPTION && { c: 'var(--mantine-color-error)', fw: 600 })}>
      {length.toLocaleString('en')} of {MAX_DESCRIPTION.toLocaleString('en')} characters
    </Text>
  )
}
