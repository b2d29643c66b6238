import { Badge, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { EmptyPage, isBeyondEnd } from '../../parts/empty-page.tsx'
import { MethodBadge } from '../../parts/method-badge.tsx'
import { OperationFilters, queryOf } from '../../parts/operation-filters.tsx'
import type { Operation } from '../../parts/operations.ts'
import { Pages } from '../../parts/pagination.tsx'
import { plainText } from '../../parts/plain-text.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import classes from './documents.module.css'
import { operationsQuery, type VersionPath } from './reads.ts'
import type { DocumentsSearch } from './search.ts'

const SIZE = 50

interface OperationsViewProps {
  path: VersionPath
  search: DocumentsSearch
  onChange: (change: Partial<Record<keyof DocumentsSearch, unknown>>) => void
}

/** The operations in the documents of a version, with filters. A click opens the operation in its document. */
export function OperationsView({ path, search, onChange }: OperationsViewProps) {
  const operations = useQuery(operationsQuery(path, { ...queryOf(search), size: SIZE }))
  const { data } = operations
  return (
    <Stack gap="sm">
      <OperationFilters search={search} shown={data?.content} onChange={onChange} />
      {operations.isPending && <Loading what="the operations" />}
      {operations.isError && (
        <ProblemPanel
          what="The operations cannot be listed"
          error={operations.error}
          onRetry={() => void operations.refetch()}
        />
      )}
      {data?.totalElements === 0 && <Empty title="No operation matches" />}
      {data && isBeyondEnd(data) && <EmptyPage onFirst={() => onChange({ page: undefined })} />}
      {data && data.content.length > 0 && (
        <>
          {haveSeveralDocuments(data.content) && (
            <Text size="sm">The operations in all documents of the version</Text>
          )}
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
