import { Badge, Checkbox, Code, Group, NativeSelect, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../http/schemas.ts'
import { EmptyPage, isBeyondEnd } from '../../parts/empty-page.tsx'
import { Pages } from '../../parts/pagination.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { TextFilter } from '../../parts/text-filter.tsx'
import { TextSearch } from '../../parts/text-search.tsx'
import classes from './documents.module.css'
import { operationsQuery, type VersionPath } from './reads.ts'
import type { DocumentsSearch } from './search.ts'

type Operation = Schemas['Operation']

const SIZE = 50
const METHODS = [
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'SEND', 'RECEIVE'],
  ...['QUERY', 'MUTATION', 'SUBSCRIPTION', 'RPC'],
]

/** The colours of methods, as the documentation has them, with enough contrast for text in both themes. */
const COLORS: Readonly<Record<string, string>> = {
  GET: 'light-dark(#0b5fa5, #74c0fc)',
  POST: 'light-dark(#2b6a30, #8ce99a)',
  PUT: 'light-dark(#a33b00, #ffa94d)',
  PATCH: 'light-dark(#7a5200, #ffd43b)',
  DELETE: 'light-dark(#b02525, #ff8787)',
}

interface OperationsViewProps {
  path: VersionPath
  search: DocumentsSearch
  onChange: (change: Partial<Record<keyof DocumentsSearch, unknown>>) => void
}

/** The operations in the documents of a version, with filters. A click opens the operation in its document. */
export function OperationsView({ path, search, onChange }: OperationsViewProps) {
  const { q, method, tag, deprecated, page } = search
  const operations = useQuery(
    operationsQuery(path, {
      ...(q && { q }),
      ...(method && { method }),
      ...(tag && { tag: [tag] }),
      ...(deprecated && { deprecated }),
      page: page ?? 1,
      size: SIZE,
    }),
  )
  const filter = (change: Partial<Record<keyof DocumentsSearch, unknown>>) =>
    onChange({ page: undefined, ...change })
  const { data } = operations
  const tags = [...new Set(data?.content.flatMap(operation => operation.tags))]
  return (
    <Stack gap="sm">
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
        <TextFilter label="Tag" proposals={tags} value={tag} onChange={tag => filter({ tag })} w={200} />
        <Checkbox
          label="Deprecated only"
          checked={deprecated ?? false}
          onChange={event => filter({ deprecated: event.currentTarget.checked || undefined })}
          mb={8}
        />
      </Group>
      {operations.isPending && <Loading what="the operations" />}
      {operations.isError && (
        <ProblemPanel
          what="The operations cannot be listed"
          error={operations.error}
          onRetry={() => void operations.refetch()}
        />
      )}
      {data?.totalElements === 0 && <Empty title="No operation matches" />}
      {data && isBeyondEnd(data) && <EmptyPage onFirst={() => filter({})} />}
      {data && data.content.length > 0 && (
        <>
          <div>
            {data.content.map((operation, index) => (
              <OperationRow
                // biome-ignore lint/suspicious/noArrayIndexKey: a document may have an operation twice
                key={index}
                operation={operation}
                showsDocument={haveSeveralDocuments(data.content)}
                onOpen={() =>
                  onChange({
                    view: undefined,
                    document: operation.document,
                    operation: `${operation.method} ${operation.path}`,
                  })
                }
              />
            ))}
          </div>
          <Pages
            what="operations"
            one="operation"
            page={data}
            onPage={page => onChange({ page: page > 1 ? page : undefined })}
          />
        </>
      )}
    </Stack>
  )
}

const haveSeveralDocuments = (operations: readonly Operation[]) =>
  new Set(operations.map(({ document }) => document)).size > 1

interface OperationRowProps {
  operation: Operation
  showsDocument: boolean
  onOpen: () => void
}

function OperationRow({ operation, showsDocument, onOpen }: OperationRowProps) {
  const { method, path, summary, tags, deprecated, document } = operation
  return (
    <UnstyledButton className={classes.operation} onClick={onOpen}>
      <Badge fullWidth style={{ color: COLORS[method] }}>
        {method}
      </Badge>
      <div>
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere', ...(deprecated && { textDecoration: 'line-through' }) }}>
            {path}
          </Code>
          {deprecated && <Badge size="sm">Deprecated</Badge>}
          {tags.slice(0, 3).map(tag => (
            <Text key={tag} size="xs" c="dimmed">
              {tag}
            </Text>
          ))}
          {showsDocument && (
            <Text size="xs" c="dimmed" ml="auto">
              {document}
            </Text>
          )}
        </Group>
        {summary && (
          <Text size="sm" lineClamp={2}>
            {summary}
          </Text>
        )}
      </div>
    </UnstyledButton>
  )
}
