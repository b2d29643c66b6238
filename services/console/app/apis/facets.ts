import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { type ApiFilters, type ApiSearch, type FilterKey, filtersOf } from './search.ts'

type FacetKey = Exclude<FilterKey, 'name'>

/** A filter whose values are offered with their counts. */
export interface Facet {
  key: FacetKey
  label: string
}

export const FACETS: readonly Facet[] = [
  { key: 'tags', label: 'Tags' },
  { key: 'status', label: 'Status' },
  { key: 'deployed', label: 'Deployment' },
  { key: 'environment', label: 'Environment' },
  { key: 'platformType', label: 'Platform' },
  { key: 'product', label: 'Product' },
  { key: 'owner', label: 'Owner' },
]

/** A value of a facet. */
export interface FacetValue {
  value: string
  label: string
  count: number
}

/** Labels of values that the service defines. Other values are user input, e.g. a tag named "true". */
const WORDS: { readonly [Key in FilterKey]?: Readonly<Record<string, string>> } = {
  status: { ACTIVE: 'Active', INACTIVE: 'Inactive' },
  deployed: { true: 'Deployed', false: 'Not deployed' },
}

/** What a value of a filter is called, without a request. */
export const valueLabel = (key: FilterKey, value: string): string => WORDS[key]?.[value] ?? value

/**
 * The values of a facet with their counts. `tags` are counted among the APIs that have all chosen tags; the values of
 * another facet replace each other, so that its own choice does not count.
 */
export function useFacet(search: ApiSearch, { key }: Facet) {
  const { [key]: _, ...others } = search
  const filters = filtersOf(key === 'tags' ? search : others)
  return useQuery({ ...facetsQuery(filters), placeholderData: keepPreviousData, select: valuesOf(key) })
}

const facetsQuery = (filters: ApiFilters) => ({
  queryKey: ['apis', 'facets', filters],
  queryFn: ({ signal }: { signal: AbortSignal }) => answer(client.getApiFacets(filters, { signal })),
})

const valuesOf =
  (key: FacetKey) =>
  (facets: Schemas['ApiFacets']): FacetValue[] => {
    if (key === 'owner')
      return facets.owner.map(({ value, displayName, count }) => ({
        value,
        label: displayName ?? 'Deleted user',
        count,
      }))
    return facets[key].map(shown(key))
  }

const shown =
  (key: FacetKey) =>
  ({ value, count }: { value: string | boolean; count: number }): FacetValue => ({
    value: String(value),
    label: valueLabel(key, String(value)),
    count,
  })
