import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { FilterGrid } from '../parts/filter-grid.tsx'
import { ReferencePicker } from '../parts/reference-picker.tsx'
import { TimeField } from '../parts/time-field.tsx'
import { groupOf } from './describe.ts'
import classes from './events.module.css'
import { type EventsSearch, isOldestFirst, PERIODS, type Period, periodOf } from './search.ts'

interface FiltersProps {
  search: EventsSearch
  onChange(change: Partial<Record<keyof EventsSearch, EventsSearch[keyof EventsSearch]>>): void
}

const ORDERS = [
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
]
/** Characters of the name of an API that its field shows. */
const API_SHOWN = { wide: 43, narrow: 32, besideTime: 18 }
const WIDE = '(min-width: 75em)'

/** What the feed has: where it begins, which events pass, and their order. */
export function Filters({ search, onChange }: FiltersProps) {
  const isWide = useMediaQuery(WIDE, true)
  const hasTime = search.from !== undefined && search.after === undefined
  return (
    <FilterGrid
      label="Filters of events"
      className={classes.filters}
      active={
        [search.type, search.api, search.webhook, search.user, search.to, search.after].filter(Boolean).length
      }
      moreSet={Boolean(search.webhook || search.user || search.to || search.after)}
      more={<MoreFilters search={search} onChange={onChange} />}
    >
      {/* Each field is one element of the grid: a select has further ones. */}
      <div>
        <Begin search={search} onChange={onChange} />
      </div>
      <div>
        <Select
          label="Order"
          data={ORDERS}
          value={isOldestFirst(search) ? 'oldest' : 'newest'}
          disabled={periodOf(search) === 'all'}
          title={periodOf(search) === 'all' ? 'The list reads forward from the oldest event' : undefined}
          allowDeselect={false}
          onChange={order => onChange({ order: order === 'oldest' ? order : undefined, event: search.event })}
        />
      </div>
      {hasTime && (
        <TimeField label="Time" value={search.from} onChange={from => onChange({ from, event: undefined })} />
      )}
      <div>
        <Types types={search.type ?? []} onChange={type => onChange({ type })} />
      </div>
      <div>
        <ReferencePicker
          kind="api"
          label="API"
          shown={hasTime ? API_SHOWN.besideTime : isWide ? API_SHOWN.wide : API_SHOWN.narrow}
          value={search.api}
          onChange={api => onChange({ api })}
        />
      </div>
    </FilterGrid>
  )
}

function MoreFilters({ search, onChange }: FiltersProps) {
  return (
    <>
      <ReferencePicker
        kind="webhook"
        label="Webhook"
        value={search.webhook}
        onChange={webhook => onChange({ webhook })}
      />
      <ReferencePicker kind="user" label="User" value={search.user} onChange={user => onChange({ user })} />
      <TimeField label="Until" isEnd value={search.to} onChange={to => onChange({ to })} />
      <AfterPosition key={search.after} after={search.after} onChange={onChange} />
    </>
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
