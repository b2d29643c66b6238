import { Button, CloseButton, Group, Loader, Popover } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useEnvironmentNames } from '../parts/environments.ts'
import styles from './facet-bar.module.css'
import { FACETS, type Facet, valueLabel } from './facets.ts'
import { type ApiSearch, type FilterKey, toggled, withoutFilters } from './search.ts'

const loadValues = () => import('./facet-values.tsx')
const FacetValues = lazy(async () => ({ default: (await loadValues()).FacetValues }))

interface FacetBarProps {
  search: ApiSearch
  onChange: (search: ApiSearch) => void
}

/** A button for each filter, which opens its values. */
export function FacetBar({ search, onChange }: FacetBarProps) {
  return (
    <Group gap="xs" className={styles.facets} role="group" aria-label="Filters">
      {FACETS.map(facet => (
        <FacetButton key={facet.key} facet={facet} search={search} onChange={onChange} />
      ))}
    </Group>
  )
}

function FacetButton({ facet, search, onChange }: FacetBarProps & { facet: Facet }) {
  const [opened, setOpened] = useState(false)
  const chosen = [search[facet.key] ?? []].flat().length
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={288} trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant={chosen > 0 ? 'light' : 'default'}
          onClick={() => setOpened(!opened)}
          onMouseEnter={loadValues}
          onFocus={loadValues}
        >
          {facet.label}
          {chosen > 0 && ` (${chosen})`}
          <span aria-hidden>&nbsp;▾</span>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={facet.label} p="xs">
        <Suspense fallback={<Loader size="xs" aria-label={`Reading ${facet.label}`} />}>
          <FacetValues
            facet={facet}
            search={search}
            onToggle={value => onChange(toggled(search, facet.key, value))}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}

const LABELS = new Map<FilterKey, string>([
  ['name', 'Technical name'],
  ...FACETS.map(({ key, label }) => [key, label] as const),
])

interface ChosenFiltersProps extends FacetBarProps {
  /** Name of the owner that is filtered by, if it is known. */
  ownerName: string | undefined
}

/** The chosen values, which can be removed. */
export function ChosenFilters({ search, ownerName, onChange }: ChosenFiltersProps) {
  const { search: _text, sort: _sort, ...filters } = search
  const chosen = (Object.keys(filters) as FilterKey[]).flatMap(key =>
    [filters[key] ?? []].flat().map(value => ({ key, value: String(value) })),
  )
  const environments = useEnvironmentNames(search.environment !== undefined)
  if (chosen.length === 0) return null
  return (
    <Group component="ul" gap="xs" className={styles.chosen} aria-label="Chosen filters">
      {chosen.map(({ key, value }) => {
        const name = key === 'owner' ? ownerName : key === 'environment' ? environments.get(value) : undefined
        const label = `${LABELS.get(key)}: ${name ?? valueLabel(key, value)}`
        return (
          <li key={`${key} ${value}`} className={styles.chip}>
            {label}
            <CloseButton
              size="xs"
              aria-label={`Remove the filter ${label}`}
              onClick={() => onChange(toggled(search, key, value))}
            />
          </li>
        )
      })}
      <li>
        <Button size="compact-xs" variant="subtle" onClick={() => onChange(withoutFilters(search))}>
          Clear all
        </Button>
      </li>
    </Group>
  )
}
