import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import type { Query, Scope } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { deletedWebhookQuery, webhooksQuery } from './all-webhooks.ts'
import { apisNamed } from './apis-named.ts'
import { IN_ORDER } from './environments.ts'
import { isUuid } from './uuid.ts'

const TYPING_MS = 200
const SIZE = 20
/** How long the webhooks that were read are searched, while a name is typed. */
const FRESH_MS = 60_000

interface Choice {
  value: string
  label: string
}

/** How the records of a kind are found by a part of their name, and one by its id. */
interface Kind {
  scope: Scope
  find(text: string, signal: AbortSignal, cache: QueryClient): Promise<Choice[]>
  one(id: string, signal: AbortSignal, cache: QueryClient): Promise<Choice>
}

const choice = ({ id, displayName, name }: { id: string; displayName?: string | null; name: string }) => ({
  value: id,
  label: displayName && displayName !== name ? `${displayName} (${name})` : name,
})

const KINDS = {
  api: {
    scope: 'API_READ',
    find: async (text, signal) => (await apisNamed(text, signal)).slice(0, SIZE).map(choice),
    one: async (api_id, signal) => choice(await answer(client.getApi({ api_id }, { signal }))),
  },
  webhook: {
    scope: 'WEBHOOKS_READ',
    async find(text, _signal, cache) {
      const { webhooks } = await cache.fetchQuery({ ...webhooksQuery, staleTime: FRESH_MS })
      const wanted = text.toLowerCase()
      return webhooks.map(choice).filter(({ label }) => label.toLowerCase().includes(wanted))
    },
    async one(webhook_id, signal, cache) {
      // A request of a deleted webhook would fail.
      const { webhooks, total } = await cache.fetchQuery({ ...webhooksQuery, staleTime: FRESH_MS })
      const listed = webhooks.find(({ id }) => id === webhook_id)
      if (listed) return choice(listed)
      const deleted = await cache.fetchQuery(deletedWebhookQuery(webhook_id))
      if (deleted) return { value: webhook_id, label: `${deleted.displayName} (deleted)` }
      if (webhooks.length === total) throw new Error(`there is no webhook ${webhook_id}`)
      return choice(await answer(client.getWebhook({ webhook_id }, { signal })))
    },
  },
  user: {
    scope: 'USER_READ',
    async find(text, signal) {
      const query: Query<'listUsers'> = { text: text || undefined, size: SIZE }
      const { content } = await answer(client.listUsers(query, { signal }))
      return content.map(user => choice({ ...user, name: user.username ?? user.id }))
    },
    async one(user_id, signal) {
      const user = await answer(client.getUser({ user_id }, { signal }))
      return choice({ ...user, name: user.username ?? user.id })
    },
  },
  environment: {
    scope: 'ENVIRONMENT_READ',
    async find(text, signal) {
      const wanted = text.toLowerCase()
      const { content } = await answer(client.listEnvironments({ size: 100, sort: IN_ORDER }, { signal }))
      return content
        .map(({ name, ...environment }) => choice({ ...environment, name: name ?? environment.id }))
        .filter(({ label }) => label.toLowerCase().includes(wanted))
    },
    async one(environment_id, signal) {
      const { name, ...environment } = await answer(client.getEnvironment({ environment_id }, { signal }))
      return choice({ ...environment, name: name ?? environment_id })
    },
  },
} as const satisfies Record<string, Kind>

/** Records of a kind by a part of their name, for lists of several kinds. */
export const referencesNamed = (
  kind: keyof typeof KINDS,
  text: string,
  signal: AbortSignal,
  cache: QueryClient,
): Promise<Choice[]> => KINDS[kind].find(text, signal, cache)

/** A record of a kind by its id. */
export const referenceOf = (
  kind: keyof typeof KINDS,
  id: string,
  signal: AbortSignal,
  cache: QueryClient,
): Promise<Choice> => KINDS[kind].one(id, signal, cache)

/** Characters of a chosen name that the narrowest field shows. The whole name of a longer one is below the field. */
const SHOWN = 18
const BELOW = ['label', 'input', 'description', 'error'] as const

/** Properties of a field whose chosen value is this text. */
export const wholeText = (text: string | undefined, shown = SHOWN) =>
  text && text.length > shown ? { description: text, inputWrapperOrder: [...BELOW] } : {}

const messageOf = ({ isFetching, isError }: { isFetching: boolean; isError: boolean }) => {
  if (isFetching) return 'Searching'
  return isError ? 'The search has failed' : 'Nothing found'
}

interface ReferencePickerProps {
  kind: keyof typeof KINDS
  label: string
  value: string | undefined
  onChange(id: string | undefined): void
  /** Characters of a chosen name that the field shows. */
  shown?: number
  description?: string
  error?: string | undefined
}

/**
 * Chooses a record by a part of its name or by its id. The id also works for a record that was deleted, and without the scope
 * that lists the records.
 */
export function ReferencePicker({ kind, label, value, onChange, shown, ...input }: ReferencePickerProps) {
  const { scope, find, one }: Kind = KINDS[kind]
  const allowed = useAllowed(scope)
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed.trim(), TYPING_MS)
  const [opened, setOpened] = useState(false)
  const isId = isUuid(text)
  const found = useQuery({
    queryKey: ['references', kind, text],
    queryFn: ({ signal, client }) => find(text, signal, client),
    enabled: allowed && opened && !isId,
    placeholderData: keepPreviousData,
  })
  const chosen = useQuery({
    queryKey: ['reference', kind, value],
    queryFn: ({ signal, client }) => one(value ?? '', signal, client),
    enabled: allowed && value !== undefined,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const current = value === undefined ? [] : [chosen.data ?? { value, label: value }]
  const listed = isId ? [{ value: text, label: text }] : (found.data ?? [])
  const choices = [...current, ...listed].filter(
    (each, index, all) => all.findIndex(other => other.value === each.value) === index,
  )
  return (
    <Select
      {...wholeText(current[0]?.label, shown)}
      {...input}
      label={label}
      placeholder={allowed ? 'Name or id' : 'Id'}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      value={value ?? null}
      data={choices}
      // The service filters by the typed text. The chosen record is listed so that its name is shown.
      filter={({ options }) => options}
      onSearchChange={search => setTyped(current.some(each => each.label === search) ? '' : search)}
      onDropdownOpen={() => setOpened(true)}
      nothingFoundMessage={messageOf(found)}
      onChange={id => onChange(id ?? undefined)}
    />
  )
}
