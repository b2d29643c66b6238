import { Checkbox, Group, NativeSelect } from '@mantine/core'
import type { Operation } from './operations.ts'
import { TextFilter } from './text-filter.tsx'
import { TextSearch } from './text-search.tsx'

/** The filters and the page of a list of operations in the URL. */
export interface OperationFilter {
  q?: string | undefined
  method?: string | undefined
  tag?: string | undefined
  deprecated?: true | undefined
  page?: number | undefined
}

const METHODS = [
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'SEND', 'RECEIVE'],
  ...['QUERY', 'MUTATION', 'SUBSCRIPTION', 'RPC'],
]

interface OperationFiltersProps {
  search: OperationFilter
  /** The operations that are shown: their tags are proposed. */
  shown: readonly Operation[] | undefined
  onChange: (change: OperationFilter) => void
}

/** The filters of a list of operations. A change shows the first page. */
export function OperationFilters({ search, shown, onChange }: OperationFiltersProps) {
  const { q, method, tag, deprecated } = search
  const filter = (change: OperationFilter) => onChange({ page: undefined, ...change })
  return (
    <Group align="end" gap="sm" component="search">
      <TextSearch
        flex="1 1 16rem"
        label="Search"
        placeholder="Path, operation id or summary"
        value={q}
        onChange={text => filter({ q: text })}
      />
      <NativeSelect
        label="Method"
        data={[{ value: '', label: 'Any method' }, ...METHODS]}
        value={method ?? ''}
        onChange={event => filter({ method: event.currentTarget.value || undefined })}
      />
      <TextFilter
        label="Tag"
        proposals={[...new Set(shown?.flatMap(operation => operation.tags))]}
        value={tag}
        onChange={tag => filter({ tag })}
        w={200}
      />
      <Checkbox
        label="Deprecated only"
        checked={deprecated ?? false}
        onChange={event => filter({ deprecated: event.currentTarget.checked || undefined })}
        mb={8}
      />
    </Group>
  )
}

/** The filters for the service. */
export const queryOf = ({ q, method, tag, deprecated, page = 1 }: OperationFilter) => ({
  ...(q && { q }),
  ...(method && { method }),
  ...(tag && { tag: [tag] }),
  ...(deprecated && { deprecated }),
  page,
})
