import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { FilterGrid } from '../parts/filter-grid.tsx'
import { TextFilter } from '../parts/text-filter.tsx'
import { TextSearch } from '../parts/text-search.tsx'
import { TimeField } from '../parts/time-field.tsx'
import { NamedResources, ResourceFilter } from './resource-filter.tsx'
import { type AuditSearch, type AuditSort, isReversed, SORTS } from './search.ts'

/** Actions that are no public events. */
const ACTIONS = [
  'ACCESS_TOKEN_CREATED',
  'SIGNING_KEY_CREATED',
  'SIGNING_KEY_RETIRED',
  'USER_LOCKED',
  'USER_LOGGED_IN',
  'USER_LOGIN_FAILED',
]

interface FiltersProps {
  search: AuditSearch
  onChange(change: AuditSearch): void
}

/** All filters of the audit log and its order. */
export function Filters({ search, onChange }: FiltersProps) {
  const schemas = useQuery(schemasOfEvents)
  const actions = new Set([...ACTIONS, ...(schemas.data ?? []).map(({ type }) => type)])
  const set = [search.text, search.user, search.action, search.resource, search.from, search.to]
  const named = search.text && (
    <NamedResources text={search.text} onChoose={resource => onChange({ resource, text: undefined })} />
  )
  return (
    <FilterGrid label="Filters of the audit log" active={set.filter(Boolean).length} below={named}>
      <TextSearch
        label="Search"
        placeholder="Name, id, action or type"
        value={search.text}
        onChange={text => onChange({ text })}
      />
      <TextSearch
        label="User"
        placeholder="User name or id"
        value={search.user}
        onChange={user => onChange({ user })}
      />
      <TextFilter
        label="Action"
        placeholder="All"
        proposals={[...actions].sort()}
        value={search.action}
        onChange={action => onChange({ action })}
      />
      <ResourceFilter value={search.resource} onChange={resource => onChange({ resource })} />
      <TimeField label="From" value={search.from} onChange={at => onChange({ from: at })} />
      <TimeField
        label="Until"
        isEnd
        value={search.to}
        error={isReversed(search) && 'Until must be after From'}
        onChange={at => onChange({ to: at })}
      />
      <Select
        label="Order"
        data={Object.entries(SORTS).map(([value, label]) => ({ value, label }))}
        value={search.sort ?? 'timestamp,desc'}
        allowDeselect={false}
        onChange={sort => onChange({ sort: sort === 'timestamp,desc' ? undefined : (sort as AuditSort) })}
      />
    </FilterGrid>
  )
}
