import { Box, Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useAllowed } from '../../http/session.ts'
import { ReferencePicker } from '../../parts/reference-picker.tsx'
import { TextSearch } from '../../parts/text-search.tsx'
import { TimeField } from '../../parts/time-field.tsx'
import { isUuid } from '../../parts/uuid.ts'
import { eventTypeNamesQuery } from './delivery-queries.ts'
import { type DeliverySearch, type DeliverySort, FILTERS, STATUSES } from './search.ts'
import { STATUS } from './status-badge.tsx'

interface FiltersProps {
  search: DeliverySearch
  /** Whether the list has the deliveries of several webhooks. */
  byWebhook: boolean
  onChange: (changes: { [Name in keyof DeliverySearch]: DeliverySearch[Name] | undefined }) => void
  /** How many deliveries there are. */
  children: ReactNode
}

const STATUS_OPTIONS = STATUSES.map(value => ({ value, label: STATUS[value].label }))
const NEWEST = 'newest'
const SORT_OPTIONS: { value: DeliverySort | typeof NEWEST; label: string }[] = [
  { value: NEWEST, label: 'Newest first' },
  { value: 'createdAt,asc', label: 'Oldest first' },
  { value: 'lastAttemptAt,desc', label: 'Latest attempt first' },
]

/** The filters that a wide screen shows on demand, so that the first deliveries are in sight. */
const FOLDED = ['api', 'apiName', 'eventId', 'from', 'to'] as const
const GRID = { cols: { base: 1, sm: 2, md: 4 }, spacing: 'sm', verticalSpacing: 'xs' }

/** The filters of a list of deliveries. */
export function Filters({ search, byWebhook, onChange, children }: FiltersProps) {
  const types = useQuery(eventTypeNamesQuery)
  const [opened, { toggle }] = useDisclosure()
  const [more, { toggle: toggleMore }] = useDisclosure(FOLDED.some(name => search[name] !== undefined))
  const isFiltered = FILTERS.some(name => search[name] !== undefined)
  return (
    <search aria-label="Filters of deliveries">
      <Button hiddenFrom="sm" variant="default" aria-expanded={opened} onClick={toggle}>
        {opened ? 'Hide the filters' : 'Show the filters'}
      </Button>
      <Box pt={{ base: 'sm', sm: 0 }} {...(!opened && { visibleFrom: 'sm' })}>
        <SimpleGrid {...GRID}>
          <Select
            label="Status"
            placeholder="Any"
            data={STATUS_OPTIONS}
            value={search.status ?? null}
            onChange={value => onChange({ status: (value as DeliverySearch['status']) ?? undefined })}
            clearable
            clearButtonProps={{ 'aria-label': 'Remove the filter for the status' }}
          />
          <Select
            label="Event type"
            placeholder="Any"
            data={withChosen(types.data ?? [], search.eventType)}
            value={search.eventType ?? null}
            onChange={value => onChange({ eventType: (value ?? undefined) as DeliverySearch['eventType'] })}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Remove the filter for the event type' }}
            nothingFoundMessage="No such event type"
          />
          {byWebhook && (
            <ReferencePicker
              kind="webhook"
              label="Webhook"
              value={search.webhook}
              onChange={webhook => onChange({ webhook })}
            />
          )}
          <Select
            label="Order"
            data={SORT_OPTIONS}
            value={search.sort ?? NEWEST}
            onChange={sort => onChange({ sort: sort === NEWEST ? undefined : (sort as DeliverySort) })}
            allowDeselect={false}
          />
        </SimpleGrid>
        <SimpleGrid {...GRID} mt="xs" {...(!more && { hiddenFrom: 'sm' })}>
          <ApiFilters search={search} onChange={onChange} />
          <EventIdField
            key={search.eventId}
            eventId={search.eventId}
            onChange={eventId => onChange({ eventId })}
          />
          <TimeField label="Created from" value={search.from} onChange={from => onChange({ from })} />
          <TimeField label="Created until" isEnd value={search.to} onChange={to => onChange({ to })} />
        </SimpleGrid>
      </Box>
      <Group mt="sm">
        <Button visibleFrom="sm" size="xs" variant="default" aria-expanded={more} onClick={toggleMore}>
          {more ? 'Fewer filters' : 'More filters'}
        </Button>
        {isFiltered && (
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange(Object.fromEntries(FILTERS.map(name => [name, undefined])))}
          >
            Remove all filters
          </Button>
        )}
        {children}
      </Group>
    </search>
  )
}

/** One API, or those with a part of a name. */
function ApiFilters({ search, onChange }: Pick<FiltersProps, 'search' | 'onChange'>) {
  if (!useAllowed('API_READ')) return null
  return (
    <>
      <ReferencePicker
        kind="api"
        label="API"
        value={search.api}
        onChange={api => onChange({ api, apiName: undefined })}
      />
      <TextSearch
        label="API name contains"
        placeholder="Any"
        value={search.apiName}
        onChange={apiName => onChange({ apiName, api: undefined })}
      />
    </>
  )
}

const withChosen = (values: readonly string[], chosen: string | undefined) =>
  chosen === undefined || values.includes(chosen) ? values : [...values, chosen]

/** A field for the id of an event. A text that is not an id changes nothing. */
function EventIdField({ eventId = '', onChange }: { eventId?: string; onChange: (id?: string) => void }) {
  const [typed, setTyped] = useState(eventId)
  const isWrong = typed !== '' && !isUuid(typed)
  return (
    <TextInput
      label="Event id"
      placeholder="Any"
      value={typed}
      error={isWrong && 'This is not an id, such as 7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d'}
      onChange={event => {
        const text = event.currentTarget.value.trim()
        setTyped(text)
        if (text === '' || isUuid(text)) onChange(text || undefined)
      }}
    />
  )
}
