import { Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { useAllowed } from '../../http/session.ts'

interface OwnerFieldProps {
  label: string
  /** User id; empty for none. */
  value: string
  error: string | undefined
  onChange: (id: string) => void
  /** Name of the user, for those who may not list users. */
  name?: string | null | undefined
}

const DELAY_MS = 250

/** The owner of an API: a search among the users, or their id for those who may not list users. */
export function OwnerField(props: OwnerFieldProps) {
  if (useAllowed('USER_READ')) return <UserSelect {...props} />
  const { name, onChange, ...input } = props
  return (
    <TextInput
      {...input}
      description={name ? `User id, at present ${name}` : 'User id'}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

function UserSelect({ label, value, error, onChange }: OwnerFieldProps) {
  const [search, setSearch] = useState('')
  const [text] = useDebouncedValue(search, DELAY_MS)
  const found = useQuery({
    queryKey: ['users', 'named', text],
    queryFn: ({ signal }) =>
      answer(client.GET('/users', { params: { query: { ...(text && { text }), size: 20 } }, signal })),
    placeholderData: keepPreviousData,
  })
  const owner = useQuery({
    queryKey: ['user', value],
    queryFn: ({ signal }) =>
      answer(client.GET('/users/{user_id}', { params: { path: { user_id: value } }, signal })),
    enabled: value !== '',
  })
  const users = new Map(
    [...(owner.data ? [owner.data] : []), ...(found.data?.content ?? [])].map(user => [user.id, user]),
  )
  const options = [...users.values()].map(({ id, displayName, username }) => ({
    value: id,
    label: displayName === username ? username : `${displayName} (${username})`,
  }))
  // A user that cannot be read, e.g. a deleted one, stays selected by its id.
  if (value !== '' && !users.has(value)) options.unshift({ value, label: value })
  const chosen = options.find(option => option.value === value)?.label
  return (
    <Select
      label={label}
      error={error}
      data={options}
      value={value || null}
      onChange={id => onChange(id ?? '')}
      searchable
      // The label of the chosen user is no search: the service finds no user by it.
      onSearchChange={typed => setSearch(typed === chosen ? '' : typed)}
      // The service has searched already, in more fields than the label.
      filter={({ options: all }) => all}
      nothingFoundMessage={found.isFetching ? 'Searching' : 'No such user'}
      placeholder="You"
      description="Type to search among the users"
      allowDeselect={false}
    />
  )
}
