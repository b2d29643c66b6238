import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { FilterGrid } from '../parts/filter-grid.tsx'
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
    <FilterGrid label="Filters of events">
      <Begin search={search} onChange={onChange} />
      {search.from && !search.after && (
        <TimeField label="Time" value={search.from} onChange={from => onChange({ from, event: undefined })} />
      )}
      <Types types={search.type ?? []} onChange={type => onChange({ type })} />
      <ReferencePicker kind="api" label="API" value={search.api} onChange={api => onChange({ api })} />
      {more && (
        <>
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
        </>
      )}
      <Group align="end" mih={36}>
        <Button size="compact-sm" variant="subtle" aria-expanded={more} onClick={() => setMore(!more)}>
          {more ? 'Fewer filters' : 'More filters'}
        </Button>
      </Group>
    </FilterGrid>
  )
}

const BEGINNINGS = [
  ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
  { value: 'all', label: 'The oldest event' },
  { value: 'time', label: 'A time' },
]
const AFTER = { value: 'after', label: 'A position' }
const HOUR_MS = 3_600_000

function Begin({ search, onChange }: FiltersProps) {
  const begin = (since?: Period | 'all', from?: string) =>
    onChange({ since, from, after: undefined, event: undefined })
  return (
    <Select
      label="Begin with"
      data={search.after ? [...BEGINNINGS, AFTER] : BEGINNINGS}
      value={periodOf(search) ?? (search.after ? 'after' : 'time')}
      allowDeselect={false}
      onChange={value => {
        if (value === 'time') begin(undefined, new Date(Date.now() - HOUR_MS).toISOString())
        else if (value !== 'after') begin(value as Period | 'all')
      }}
    />
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
        label="After a position"
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
