import { Button, Group, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAllowed } from '../http/session.ts'
import { referenceOf, referencesNamed, wholeText } from '../parts/reference-picker.tsx'
import { isUuid } from '../parts/uuid.ts'

/** Resource types of audit records. */
const RESOURCE_TYPES = [
  'ACCESS_TOKEN',
  'API',
  'API_IMAGE',
  'API_VERSION',
  'API_VERSION_DOCUMENT',
  'AUDIT_KEY',
  'AUDIT_LOG',
  'DELIVERY',
  'ENVIRONMENT',
  'JOB',
  'LOGIN',
  'READ_MODEL',
  'RECOVERY',
  'RULE_SET',
  'SIGNING_KEY',
  'USER',
  'WEBHOOK',
]
const KINDS = { api: 'APIs', webhook: 'Webhooks', user: 'Users', environment: 'Environments' } as const
type Kind = keyof typeof KINDS
const ALL = Object.keys(KINDS) as Kind[]

const TYPING_MS = 200
/** Records of a kind that are proposed at once. */
const PROPOSED = 7

/** Resources with a part of a name. The audit log finds a resource only by the names that it had at its changes. */
function useResourcesNamed(text: string) {
  const allowed: Record<Kind, boolean> = {
    api: useAllowed('API_READ'),
    webhook: useAllowed('WEBHOOKS_READ'),
    user: useAllowed('USER_READ'),
    environment: useAllowed('ENVIRONMENT_READ'),
  }
  const kinds = ALL.filter(kind => allowed[kind])
  return useQuery({
    queryKey: ['audit', 'named', text, kinds],
    enabled: text !== '' && !isUuid(text),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client }) => {
      const found = await Promise.all(kinds.map(kind => referencesNamed(kind, text, signal, client)))
      return kinds
        .map((kind, index) => ({ group: KINDS[kind], items: (found[index] ?? []).slice(0, PROPOSED) }))
        .filter(({ items }) => items.length > 0)
    },
  })
}

interface ResourceFilterProps {
  /** A type or an id. */
  value: string | undefined
  onChange(resource: string | undefined): void
}

/** Chooses a resource type, or a resource by a part of its name or by its id. */
export function ResourceFilter({ value, onChange }: ResourceFilterProps) {
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed.trim(), TYPING_MS)
  const named = useResourcesNamed(text)
  const chosen = useQuery({
    queryKey: ['audit', 'resource', value],
    enabled: isUuid(value),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal, client }) => {
      for (const kind of ALL) {
        const found = await referenceOf(kind, value ?? '', signal, client).catch(() => undefined)
        if (found) return found
      }
      return null
    },
  })
  const current = value === undefined ? undefined : (chosen.data ?? { value, label: value })
  const groups = [
    { group: 'Types', items: RESOURCE_TYPES.filter(type => type.includes(text.toUpperCase())) },
    ...(text === '' ? [] : (named.data ?? [])),
    { group: 'Id', items: text === '' || RESOURCE_TYPES.includes(text) ? [] : [text] },
  ]
  return (
    <Select
      {...wholeText(current?.label)}
      label="Resource"
      placeholder="Name, type or id"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear Resource' }}
      value={value ?? null}
      data={withCurrent(groups, current)}
      // The lists are filtered by the typed text already.
      filter={({ options }) => options}
      onSearchChange={search => {
        setTyped(search === current?.label ? '' : search)
        if (isUuid(search.trim()) && search.trim() !== value) onChange(search.trim())
      }}
      onChange={resource => onChange(resource ?? undefined)}
    />
  )
}

type Item = string | { value: string; label: string }
const idOf = (item: Item) => (typeof item === 'string' ? item : item.value)

/** The groups with the chosen resource in the first place, each resource once, without empty groups. */
function withCurrent(groups: readonly { group: string; items: Item[] }[], current: Item | undefined) {
  const all = [{ group: 'Chosen', items: current === undefined ? [] : [current] }, ...groups]
  const seen = new Set<string>()
  return all
    .map(({ group, items }) => ({
      group,
      items: items.filter(item => !seen.has(idOf(item)) && seen.add(idOf(item))),
    }))
    .filter(({ items }) => items.length > 0)
}

interface NamedResourcesProps {
  /** What the person searches for. */
  text: string
  onChoose(resource: string): void
}

/** The resources with a searched text in their names, each with its changes. */
export function NamedResources({ text, onChoose }: NamedResourcesProps) {
  const { data = [] } = useResourcesNamed(text)
  const found = data.flatMap(({ items }) => items).slice(0, PROPOSED)
  if (found.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label="Resources with this name">
      <Text size="sm">Show the changes of</Text>
      {found.map(({ value, label }) => (
        <Button key={value} size="compact-sm" variant="default" maw="100%" onClick={() => onChoose(value)}>
          {label}
        </Button>
      ))}
    </Group>
  )
}
