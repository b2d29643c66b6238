import '../more-styles.ts'
import { Badge, Code, Group, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ApiName, versionNameQuery } from '../parts/api-name.tsx'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { AnchorLink } from '../parts/links.tsx'
import { Marked } from '../parts/marked.tsx'
import { MethodBadge } from '../parts/method-badge.tsx'
import { NoOperation, type OperationFilter, OperationFilters } from '../parts/operation-filters.tsx'
import { aboutOf, documentationOf, type Operation, rangesOf } from '../parts/operations.ts'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { Empty, Loading } from '../parts/states.tsx'
import classes from './operations.module.css'
import { readOperations } from './reads.ts'
import { readOperationsSearch } from './search.ts'

const route = getRouteApi('/inside/operations')

/** The operations in the documents of all APIs. */
export function OperationsPage() {
  const search = readOperationsSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const operations = useQuery({
    queryKey: ['operations', search],
    queryFn: ({ signal }) => readOperations(search, signal),
    placeholderData: keepPreviousData,
  })
  const { data } = operations
  const change = (changed: OperationFilter) =>
    navigate({ search: readOperationsSearch({ ...search, ...changed }), replace: true })
  return (
    <Stack gap="sm" maw={1200}>
      <Title order={1} size="h2">
        Operations
      </Title>
      <OperationFilters search={search} shown={data?.content} onChange={change} />
      {operations.isPending && <Loading what="the operations" />}
      {operations.isError && (
        <ProblemPanel
          what="The operations cannot be listed"
          error={operations.error}
          onRetry={() => void operations.refetch()}
        />
      )}
      {data?.totalElements === 0 &&
        (Object.keys(search).length > 0 ? (
          <NoOperation onChange={change} />
        ) : (
          <Empty title="No operations yet">
            Operations come from the documents of versions, e.g. OpenAPI.
          </Empty>
        ))}
      {data && isBeyondEnd(data) && <EmptyPage onFirst={() => change({ page: undefined })} />}
      {data && data.content.length > 0 && (
        <>
          <Text size="sm" role="status">
            {data.totalElements.toLocaleString('en')} {data.totalElements === 1 ? 'operation' : 'operations'}
            {search.q && ' with all words'}, {data.ranked ? 'best match first' : 'sorted by path'}
            {search.q && !data.ranked && ': too many to show the best first'}
          </Text>
          <ul className={classes.list} aria-label="Operations">
            {data.content.map((operation, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a document may have an operation twice
              <Row key={index} operation={operation} words={search.q ?? ''} />
            ))}
          </ul>
          <Pages what="operations" page={data} onPage={page => change({ page })} />
        </>
      )}
    </Stack>
  )
}

function Row({ operation, words }: { operation: Operation; words: string }) {
  const { api, version, method, path, deprecated } = operation
  const text = aboutOf(operation)
  return (
    <li className={classes.row} {...OPENS_ITS_LINK}>
      <MethodBadge method={method} />
      <div>
        <Group gap="xs">
          <AnchorLink
            to="/apis/$apiId"
            params={{ apiId: api }}
            search={documentationOf(operation)}
            className={classes.path}
          >
            <Code style={deprecated ? { textDecoration: 'line-through' } : {}}>
              <Marked text={path} ranges={rangesOf(path, words)} />
            </Code>
          </AnchorLink>
          {deprecated && <Badge size="sm">Deprecated</Badge>}
        </Group>
        {text && (
          <Text size="sm" lineClamp={2}>
            <Marked text={text} ranges={rangesOf(text, words)} />
          </Text>
        )}
      </div>
      <Text size="sm" className={classes.api} component="div">
        <AnchorLink to="/apis/$apiId" params={{ apiId: api }} inherit>
          <ApiName id={api} />
        </AnchorLink>{' '}
        <VersionName api={api} version={version} />
      </Text>
    </li>
  )
}

function VersionName({ api, version }: Pick<Operation, 'api' | 'version'>) {
  const { data } = useQuery(versionNameQuery(api, version))
  return data?.name
}
