import { Button, Checkbox, Group, NativeSelect } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import type { Operation } from './operations.ts'
import { Empty } from './states.tsx'
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

type Kind = Schemas['Document']['kind']

/** The methods of each kind of document. */
const METHODS: readonly { group: string; kinds: readonly Kind[]; items: string[] }[] = [
  {
    group: 'OpenAPI, Postman',
    kinds: ['openapi', 'postman'],
    items: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'],
  },
  { group: 'AsyncAPI', kinds: ['asyncapi'], items: ['SEND', 'RECEIVE'] },
  { group: 'GraphQL', kinds: ['graphql'], items: ['QUERY', 'MUTATION', 'SUBSCRIPTION'] },
  { group: 'Protobuf, WSDL', kinds: ['protobuf', 'wsdl'], items: ['RPC'] },
]

/** The methods that documents of some kinds can have; those of several kinds in groups. */
function methodsOf(kinds: readonly Kind[] | undefined) {
  const possible = METHODS.filter(methods => !kinds || methods.kinds.some(kind => kinds.includes(kind)))
  const [only, ...others] = possible
  return only && others.length === 0 ? only.items : possible.map(({ group, items }) => ({ group, items }))
}

interface OperationFiltersProps {
  search: OperationFilter
  /** The operations that are shown: their tags are proposed. */
  shown: readonly Operation[] | undefined
  /** The kinds of the documents that have the operations. Default: all */
  kinds?: readonly Kind[]
  onChange: (change: OperationFilter) => void
}

/** The filters of a list of operations. A change shows the first page. */
export function OperationFilters({ search, shown, kinds, onChange }: OperationFiltersProps) {
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
        w={150}
        data={[{ value: '', label: 'Any method' }, ...methodsOf(kinds)]}
        value={method ?? ''}
        onChange={event => filter({ method: event.currentTarget.value || undefined })}
      />
      <TextFilter
        label="Tag"
        proposals={[...new Set(shown?.flatMap(operation => operation.tags))]}
        value={tag}
        onChange={tag => filter({ tag })}
        flex="1 1 9rem"
        maw={200}
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

/** Says that no operation matches, and clears the filters. */
export const NoOperation = ({ onChange }: Pick<OperationFiltersProps, 'onChange'>) => (
  <Empty title="No operation matches">
    <Button
      variant="default"
      onClick={() =>
        onChange({ q: undefined, method: undefined, tag: undefined, deprecated: undefined, page: undefined })
      }
    >
      Clear the filters
    </Button>
  </Empty>
)

/** The filters for the service. */
export const queryOf = ({ q, method, tag, deprecated, page = 1 }: OperationFilter) => ({
  ...(q && { q }),
  ...(method && { method }),
  ...(tag && { tag: [tag] }),
  ...(deprecated && { deprecated }),
  page,
})
