import { Button, Group, MultiSelect, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { fromLocalInput, toLocalInput } from '../parts/local-time.ts'
import { ReferencePicker } from '../parts/reference-picker.tsx'
import { TimeField } from '../parts/time-field.tsx'
import { groupOf } from './describe.ts'
import { type EventsSearch, PERIODS, type Period, periodOf } from './search.ts'

interface FiltersProps {
  search: EventsSearch
  onChange(change: Partial<Record<keyof EventsSearch, EventsSearch[keyof EventsSearch]>>): void
}

/** What the feed has: where it begins, and which events pass. */
export function Filters({ search, onChange }: FiltersProps) {
  const [more, setMore] = useState(Boolean(search.webhook || search.user || search.to || search.after))
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
        <Begin search={search} onChange={onChange} />
        <JumpToTime key={search.from} from={search.from} onChange={onChange} />
        <Types types={search.type ?? []} onChange={type => onChange({ type })} />
        <ReferencePicker kind="api" label="API" value={search.api} onChange={api => onChange({ api })} />
      </SimpleGrid>
      {more && (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
          <ReferencePicker
            kind="webhook"
            label="Webhook"
            value={search.webhook}
            onChange={webhook => onChange({ webhook })}
          />
          <ReferencePicker
            kind="user"
            label="User"
            value={search.user}
            onChange={user => onChange({ user })}
          />
          <TimeField label="Until" value={search.to} onChange={to => onChange({ to })} />
          <AfterPosition key={search.after} after={search.after} onChange={onChange} />
        </SimpleGrid>
      )}
      <Group gap="xs">
        <Button size="compact-sm" variant="subtle" aria-expanded={more} onClick={() => setMore(!more)}>
          {more ? 'Fewer filters' : 'More filters'}
        </Button>
      </Group>
    </Stack>
  )
}

const BEGINNINGS = [
  ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
  { value: 'all', label: 'The oldest event' },
]

function Begin({ search, onChange }: FiltersProps) {
  const period = periodOf(search)
  const given = search.after ? 'After a position' : 'At a time'
  return (
    <Select
      label="Begin with"
      data={period ? BEGINNINGS : [...BEGINNINGS, { value: 'given', label: given }]}
      value={period ?? 'given'}
      allowDeselect={false}
      onChange={value => {
        if (value !== 'given')
          onChange({ since: value as Period | 'all', from: undefined, after: undefined, event: undefined })
      }}
    />
  )
}

function JumpToTime({ from, onChange }: { from: string | undefined; onChange: FiltersProps['onChange'] }) {
  const [typed, setTyped] = useState(toLocalInput(from))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const at = fromLocalInput(typed)
    if (at) onChange({ from: at, after: undefined, since: undefined, event: undefined })
  }
  return (
    <Group component="form" gap="xs" align="end" wrap="nowrap" onSubmit={submit}>
      <TextInput
        type="datetime-local"
        step={1}
        label="Jump to a time"
        flex={1}
        miw={0}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Jump
      </Button>
    </Group>
  )
}

function AfterPosition({
  after,
  onChange,
}: {
  after: string | undefined
  onChange: FiltersProps['onChange']
}) {
  const [typed, setTyped] = useState(after ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange({ after: typed.trim() || undefined, from: undefined, since: undefined, event: undefined })
  }
  return (
    <Group component="form" gap="xs" align="end" wrap="nowrap" onSubmit={submit}>
      <TextInput
        label="Follow after a position"
        flex={1}
        miw={0}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Follow
      </Button>
    </Group>
  )
}

function Types({ types, onChange }: { types: readonly string[]; onChange(types?: string[]): void }) {
  const schemas = useQuery(schemasOfEvents)
  const known = [...new Set([...(schemas.data ?? []).map(({ type }) => type), ...types])]
  const groups = Map.groupBy(known, type => groupOf(type).group)
  return (
    <MultiSelect
      label="Event types"
      placeholder={types.length === 0 ? 'All' : undefined}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear event types' }}
      data={[...groups].map(([group, items]) => ({ group, items }))}
      value={[...types]}
      onChange={value => onChange(value.length > 0 ? value : undefined)}
    />
  )
}
