import { Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useEnvironmentNames } from '../parts/environments.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import styles from './facet-values.module.css'
import { type Facet, type FacetValue, useFacet } from './facets.ts'
import type { ApiSearch } from './search.ts'

/** From this number of values on they can be searched. */
const MANY = 10

interface FacetValuesProps {
  facet: Facet
  search: ApiSearch
  onToggle: (value: string) => void
}

/** The values of a facet, the most frequent first. Chosen ones stay in the list when no API has them. */
export function FacetValues({ facet, search, onToggle }: FacetValuesProps) {
  const values = useFacet(search, facet)
  const names = useEnvironmentNames(facet.key === 'environment')
  const [term, setTerm] = useState('')
  if (values.isError)
    return (
      <ProblemPanel what="The values cannot be read" error={values.error} onRetry={() => values.refetch()} />
    )
  if (!values.data) return <Loading what={facet.label.toLowerCase()} />
  const chosen = [search[facet.key] ?? []].flat().map(String)
  const known = new Set(values.data.map(({ value }) => value))
  const missing = chosen.filter(value => !known.has(value)).map(value => ({ value, label: value, count: 0 }))
  const all = [...missing, ...values.data].map(value => ({
    ...value,
    label: names.get(value.value) ?? value.label,
  }))
  const found = all.filter(({ label }) => label.toLowerCase().includes(term.trim().toLowerCase()))
  return (
    <Stack gap="xs">
      {(all.length >= MANY || term !== '') && (
        <TextInput
          size="xs"
          data-autofocus
          aria-label={`Search ${facet.label.toLowerCase()}`}
          placeholder="Search"
          value={term}
          onChange={event => setTerm(event.currentTarget.value)}
        />
      )}
      {found.length === 0 && (
        <Text size="sm" role="status">
          {all.length === 0 ? 'No API has a value.' : 'No value matches.'}
        </Text>
      )}
      <Stack gap={6} className={styles.values} role="group" aria-label={facet.label}>
        {found.map(value => (
          <Value
            key={value.value}
            value={value}
            checked={chosen.includes(value.value)}
            onToggle={() => onToggle(value.value)}
          />
        ))}
      </Stack>
    </Stack>
  )
}

interface ValueProps {
  value: FacetValue
  checked: boolean
  onToggle: () => void
}

function Value({ value: { label, count }, checked, onToggle }: ValueProps) {
  return (
    <Checkbox
      size="xs"
      checked={checked}
      onChange={onToggle}
      classNames={{ body: styles.body, labelWrapper: styles.label }}
      label={
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <span className={styles.text}>{label}</span>
          <span>{count.toLocaleString('en')}</span>
        </Group>
      }
    />
  )
}
