import { Select, SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { TextFilter } from '../parts/text-filter.tsx'
import { TextSearch } from '../parts/text-search.tsx'
import { TimeField } from '../parts/time-field.tsx'
import { type AuditSearch, type AuditSort, SORTS } from './search.ts'

/** Resource types of audit records. */
const RESOURCE_TYPES = [
  'ACCESS_TOKEN',
  'API',
  'API_VERSION',
  'CONFIGURATION',
  'DELIVERY',
  'IMAGE',
  'RECOVERY',
  'SIGNING_KEY',
  'USER',
  'WEBHOOK',
]
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
  const time = (name: 'from' | 'to', label: string) => (
    <TimeField label={label} value={search[name]} onChange={at => onChange({ [name]: at })} />
  )
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
      <TextSearch
        label="Search"
        placeholder="Part of a user id, action or resource"
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
      <TextFilter
        label="Resource"
        placeholder="Type or id"
        proposals={RESOURCE_TYPES}
        value={search.resource}
        onChange={resource => onChange({ resource })}
      />
      {time('from', 'From')}
      {time('to', 'Until')}
      <Select
        label="Order"
        data={Object.entries(SORTS).map(([value, label]) => ({ value, label }))}
        value={search.sort ?? 'timestamp,desc'}
        allowDeselect={false}
        onChange={sort => onChange({ sort: sort === 'timestamp,desc' ? undefined : (sort as AuditSort) })}
      />
    </SimpleGrid>
  )
}
