import { Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useState } from 'react'
import { useAllowed } from '../http/session.ts'
import { ButtonLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { keepSearch } from '../parts/recent-searches.ts'
import { Empty, Loading } from '../parts/states.tsx'
import { ChosenFilters, FacetBar } from './facet-bar.tsx'
import styles from './list-page.module.css'
import { useFirstPage } from './list-pages.ts'
import { ListTable } from './list-table.tsx'
import {
  type ApiSearch,
  isFiltered,
  listOf,
  readApiSearch,
  sortOf,
  sortsOf,
  withoutFilters,
  withoutSort,
} from './search.ts'
import { SearchBox } from './search-box.tsx'
import { countOf, useSelection } from './selection.ts'

const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }))
const MissingWords = lazy(async () => ({ default: (await import('./missing-words.tsx')).MissingWords }))
const EmptyCatalogue = lazy(async () => ({
  default: (await import('./empty-catalogue.tsx')).EmptyCatalogue,
}))
const route = getRouteApi('/inside/apis')

/** The catalogue of APIs. Its whole state is in the URL. */
export function ApisPage() {
  // The router also passes on what the route has left out.
  const search = readApiSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const first = useFirstPage(listOf(search))
  const results = useRef<HTMLDivElement>(null)
  const change = (next: ApiSearch, replace = false) =>
    navigate({ search: readApiSearch({ ...next }), replace })
  return (
    <Stack gap="sm" className={styles.page} ref={results}>
      <Group align="baseline">
        <Title order={1} size="h2">
          APIs
        </Title>
        <Text size="sm" role="status" mr="auto">
          {first.data && countText(first.data.total, isFiltered(search))}
        </Text>
        <CreateButtons />
      </Group>
      <Group gap="xs">
        <SearchBox
          value={search.search}
          searching={first.isFetching}
          // A new search begins with the best match.
          onChange={text => change({ ...(search.search ? search : withoutSort(search)), search: text }, true)}
          onResults={() => results.current?.querySelector<HTMLElement>('[role=grid]')?.focus()}
        />
        <NativeSelect
          flex="0 1 18rem"
          aria-label="Order"
          data={sortsOf(search)}
          value={sortOf(search)}
          onChange={event => change({ ...search, sort: event.currentTarget.value })}
        />
      </Group>
      <FacetBar search={search} onChange={change} />
      <ChosenFilters
        search={search}
        ownerName={
          first.data?.content.find(({ owner }) => owner === search.owner)?.ownerDisplayName ?? undefined
        }
        onChange={change}
      />
      <Results first={first} search={search} onChange={change} />
    </Stack>
  )
}

function CreateButtons() {
  const mayWrite = useAllowed('API_WRITE')
  return (
    mayWrite && (
      <Group gap="xs">
        <ButtonLink variant="default" to="/apis/import">
          Import
        </ButtonLink>
        <ButtonLink to="/apis/new">Create API</ButtonLink>
      </Group>
    )
  )
}

const countText = (total: number, filtered: boolean) =>
  `${total.toLocaleString('en')} ${total === 1 ? 'API' : 'APIs'}${filtered ? (total === 1 ? ' matches' : ' match') : ''}`

interface ResultsProps {
  first: ReturnType<typeof useFirstPage>
  search: ApiSearch
  onChange: (search: ApiSearch) => void
}

function Results({ first, search, onChange }: ResultsProps) {
  const { data } = first
  const list = data?.list ?? listOf(search)
  const mayWrite = useAllowed('API_WRITE')
  // The changes are jobs.
  const mayChange = useAllowed('JOBS_READ') && mayWrite
  const navigate = route.useNavigate()
  const selecting = useSelection(list)
  // It stays for its dialog, which may end the selection.
  const [hasBar, setHasBar] = useState(false)
  if (!hasBar && mayChange && countOf(selecting.selection) > 0) setHasBar(true)
  if (first.isError && !data)
    return (
      <ProblemPanel what="The APIs cannot be listed" error={first.error} onRetry={() => first.refetch()} />
    )
  if (!data) return <Loading what="the APIs" />
  if (data.total === 0) return <NothingFound search={search} onChange={onChange} />
  return (
    <div className={styles.results}>
      {list.q?.trim().includes(' ') && (
        <Suspense>
          <MissingWords list={list} shown={data.content} />
        </Suspense>
      )}
      <ListTable
        list={list}
        total={data.total}
        selecting={mayChange ? selecting : undefined}
        onSort={sort => onChange({ ...search, sort })}
        onOpen={({ id }) => {
          keepSearch(search.search)
          navigate({ to: '/apis/$apiId', params: { apiId: id } })
        }}
      />
      {hasBar && (
        <Suspense>
          <BulkBar list={list} total={data.total} selecting={selecting} />
        </Suspense>
      )}
    </div>
  )
}

function NothingFound({ search, onChange }: Pick<ResultsProps, 'search' | 'onChange'>) {
  const mayWrite = useAllowed('API_WRITE')
  if (!isFiltered(search))
    return (
      <Suspense>
        <EmptyCatalogue mayWrite={mayWrite}>
          <CreateButtons />
        </EmptyCatalogue>
      </Suspense>
    )
  return (
    <Empty title="No API matches">
      <Stack align="center" gap="xs">
        <Text>Try fewer or other words, or remove a filter.</Text>
        <Button variant="default" onClick={() => onChange(withoutFilters(search))}>
          Clear search and filters
        </Button>
      </Stack>
    </Empty>
  )
}
