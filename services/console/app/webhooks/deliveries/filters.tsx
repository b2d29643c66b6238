import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { useAllowed } from '../../http/session.ts'
import { TimeField } from '../../parts/time-field.tsx'
import { isUuid } from '../../parts/uuid.ts'
import { eventTypeNamesQuery } from './delivery-queries.ts'
import { type DeliverySearch, FILTERS, STATUSES } from './search.ts'
import { STATUS } from './status-badge.tsx'

interface FiltersProps {
  search: DeliverySearch
  onChange: (changes: { [Name in keyof DeliverySearch]: DeliverySearch[Name] | undefined }) => void
}

const STATUS_OPTIONS = STATUSES.map(value => ({ value, label: STATUS[value].label }))

/** The filters of a list of deliveries. */
export function Filters({ search, onChange }: FiltersProps) {
  const types = useQuery(eventTypeNamesQuery)
  const mayReadApis = useAllowed('API_READ')
  const [opened, { toggle }] = useDisclosure()
  const isFiltered = FILTERS.some(name => search[name] !== undefined)
  return (
    <search aria-label="Filters of deliveries">
      <Button hiddenFrom="sm" variant="default" aria-expanded={opened} onClick={toggle} mb="sm">
        {opened ? 'Hide the filters' : 'Show the filters'}
      </Button>
      <SimpleGrid
        cols={{ base: 1, sm: 3 }}
        spacing="sm"
        verticalSpacing="xs"
        {...(!opened && { visibleFrom: 'sm' })}
      >
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
          onChange={value => onChange({ eventType: value ?? undefined })}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Remove the filter for the event type' }}
          nothingFoundMessage="No such event type"
        />
        {mayReadApis && <ApiSelect api={search.api} onChange={api => onChange({ api })} />}
        <EventIdField
          key={search.eventId}
          eventId={search.eventId}
          onChange={eventId => onChange({ eventId })}
        />
        <TimeField label="Created from" value={search.from} onChange={from => onChange({ from })} />
        <TimeField label="Created before" value={search.to} onChange={to => onChange({ to })} />
      </SimpleGrid>
      {isFiltered && (
        <Group mt="sm">
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange(Object.fromEntries(FILTERS.map(name => [name, undefined])))}
          >
            Remove all filters
          </Button>
        </Group>
      )}
    </search>
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

const PAUSE_MS = 200
const SHOWN = 20

/** Chooses an API by its name. */
function ApiSelect({ api, onChange }: { api: string | undefined; onChange: (api?: string) => void }) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const found = useQuery({
    queryKey: ['apis', 'named', search],
    queryFn: ({ signal }) =>
      answer(client.GET('/apis', { params: { query: { text: search, size: SHOWN } }, signal })),
    placeholderData: keepPreviousData,
  })
  const chosen = useQuery({
    queryKey: ['apis', 'name-of', api],
    enabled: api !== undefined,
    queryFn: ({ signal }) =>
      answer(client.GET('/apis/{api_id}', { params: { path: { api_id: api ?? '' } }, signal })),
  })
  const options = new Map((found.data?.content ?? []).map(({ id, displayName }) => [id, displayName]))
  if (api !== undefined) options.set(api, chosen.data?.displayName ?? options.get(api) ?? api)
  return (
    <Select
      label="API"
      placeholder="Any"
      data={[...options].map(([value, label]) => ({ value, label }))}
      value={api ?? null}
      onChange={value => onChange(value ?? undefined)}
      searchable
      onSearchChange={setTyped}
      // The service has searched already, also in other fields than the name.
      filter={({ options }) => options}
      clearable
      clearButtonProps={{ 'aria-label': 'Remove the filter for the API' }}
      nothingFoundMessage="No API matches"
    />
  )
}
