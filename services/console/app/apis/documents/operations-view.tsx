import { Badge, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { EmptyPage, isBeyondEnd } from '../../parts/empty-page.tsx'
import { MethodBadge } from '../../parts/method-badge.tsx'
import { NoOperation, OperationFilters, queryOf } from '../../parts/operation-filters.tsx'
import type { Operation } from '../../parts/operations.ts'
import { Pages } from '../../parts/pagination.tsx'
import { plainText } from '../../parts/plain-text.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import classes from './documents.module.css'
import { type DocumentRecord, operationsQuery, type VersionPath } from './reads.ts'
import type { DocumentsSearch } from './search.ts'

const SIZE = 50

interface OperationsViewProps {
  path: VersionPath
  /** The documents of the version. */
  documents: readonly DocumentRecord[]
  search: DocumentsSearch
  onChange: (change: Partial<Record<keyof DocumentsSearch, unknown>>) => void
}

/** The operations in the documents of a version, with filters. A click opens the operation in its document. */
export function OperationsView({ path, documents, search, onChange }: OperationsViewProps) {
  const operations = useQuery(operationsQuery(path, { ...queryOf(search), size: SIZE }))
  const { data } = operations
  const described = documents.filter(({ counts }) => counts.operations > 0)
  const haveSeveral = described.length > 1
  return (
    <Stack gap="sm">
      <OperationFilters
        search={search}
        shown={data?.content}
        kinds={described.map(({ kind }) => kind)}
        onChange={onChange}
      />
      {operations.isPending && <Loading what="the operations" />}
      {operations.isError && (
        <ProblemPanel
          what="The operations cannot be listed"
          error={operations.error}
          onRetry={() => void operations.refetch()}
        />
      )}
      {data?.totalElements === 0 && <NoOperation onChange={onChange} />}
      {data && isBeyondEnd(data) && <EmptyPage onFirst={() => onChange({ page: undefined })} />}
      {data && data.content.length > 0 && (
        <>
          <Text size="sm" role="status">
            {data.totalElements.toLocaleString('en')} {data.totalElements === 1 ? 'operation' : 'operations'}
            {haveSeveral && ` in the ${described.length} documents of the version`}, sorted by path
          </Text>
          <div>
            {data.content.map((operation, index) => (
              <OperationRow
                // biome-ignore lint/suspicious/noArrayIndexKey: a document may have an operation twice
                key={index}
                operation={operation}
                showsDocument={haveSeveral}
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
            page={data}
            onPage={page => onChange({ page: page > 1 ? page : undefined })}
          />
        </>
      )}
    </Stack>
  )
}

interface OperationRowProps {
  operation: Operation
  showsDocument: boolean
  onOpen: () => void
}

function OperationRow({ operation, showsDocument, onOpen }: OperationRowProps) {
  const { method, path, summary, tags, deprecated, document } = operation
  return (
    <UnstyledButton className={classes.operation} onClick={onOpen}>
      <MethodBadge method={method} />
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
            {plainText(summary).text}
          </Text>
        )}
      </div>
    </UnstyledButton>
  )
}
